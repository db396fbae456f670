"""Reads objects and refs of one clone through one long-running `git cat-file`, and writes new objects.

A process per question would cost more than all the answers. Objects are cached, since the levels of a stack
share nearly all of them and an object never changes under its id. Refs do change and are read each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import finalize

from lineclear.git.objects import Objects
from lineclear.git.run import GitFailed, LiveGit, git

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Found = tuple[str, bytes]  # kind, content

_ASK = ("cat-file", "--batch-command")
# This many questions fit into a pipe on any system. Only small objects are cached: most repeated reads are.
_MOST_ASKED, _MOST_KEPT_BYTES, _LARGEST_KEPT_BYTES = 50, 64 << 20, 1 << 20


class ObjectStore:
    """`cwd` is any directory of the clone. Close it: a git process may be waiting for the next question."""

    def __init__(self, cwd: str, directory: str = "", env: Mapping[str, str] | None = None) -> None:
        """`directory`: the object directory to write to; by default we ask git for it. `env` is added to
        git's environment."""
        self.cwd, self.env = cwd, env
        self._directory = directory
        self._live: LiveGit | None = None
        self._kept: dict[str, Found] = {}
        self._kept_bytes = 0

    def __enter__(self) -> ObjectStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closing it again has no effect; a later question starts git again."""
        live, self._live = self._live, None
        if live is not None:
            live.close()

    def find(self, oids: Iterable[str]) -> dict[str, Found]:
        """(kind, content) of those objects that exist."""
        wanted = list(dict.fromkeys(oids))
        found = {oid: self._kept[oid] for oid in wanted if oid in self._kept}
        missing = [oid for oid in wanted if oid not in found]
        for at in range(0, len(missing), _MOST_ASKED):
            found |= self._contents(missing[at : at + _MOST_ASKED])
        return found

    def read(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The content of each object; GitFailed if one does not exist."""
        wanted = set(oids)
        found = self.find(sorted(wanted))
        for oid in wanted - found.keys():
            raise GitFailed(_ASK, 128, f"{oid} missing")
        return {oid: content for oid, (_, content) in found.items()}

    def commits_of(self, names: Iterable[str]) -> list[str]:
        """The commit that each ref or id names now, "" if none."""
        asked = [name if "\n" not in name else "" for name in names]
        answers = self._ask("info", [f"{name}^{{commit}}" for name in asked])
        return [answer[0] if answer is not None else "" for answer in answers]

    def commit_of(self, name: str) -> str:
        """The commit that a ref or id names now, "" if none."""
        return self.commits_of([name])[0]

    def size_of(self, oid: str) -> int:
        """The object's size in bytes; -1 if it does not exist."""
        return self.sizes_of([oid]).get(oid, -1)

    def sizes_of(self, oids: Iterable[str]) -> dict[str, int]:
        """The sizes in bytes of those objects that exist."""
        wanted = list(dict.fromkeys(oids))
        found = {}
        for at in range(0, len(wanted), _MOST_ASKED):
            some = wanted[at : at + _MOST_ASKED]
            for oid, answer in zip(some, self._ask("info", some), strict=True):
                if answer is not None:
                    found[oid] = answer[2]
        return found

    def write(self, objects: Objects) -> None:
        if not self._directory:
            words = ["rev-parse", "--path-format=absolute", "--git-path", "objects"]
            output = git(words, self.cwd, env=self.env)
            self._directory = output.decode("utf-8", "surrogateescape").removesuffix("\n")
        objects.write(self._directory)
        for oid, found in objects.items():
            self._keep(oid, found)

    def write_one(self, kind: str, data: bytes, like: str) -> str:
        """Write one object and return its id, made with the same hash as the id `like`."""
        objects = Objects.like(like)
        oid = objects.add(kind, data)
        self.write(objects)
        return oid

    def _contents(self, oids: list[str]) -> dict[str, Found]:
        found = {}
        for oid, answer in zip(oids, self._ask("contents", oids), strict=True):
            if answer is not None:
                found[oid] = (answer[1], answer[3])
                self._keep(oid, found[oid])
        return found

    def _ask(self, command: str, names: list[str]) -> list[tuple[str, str, int, bytes] | None]:
        """(id, kind, size, content) for each name; None for one that does not exist."""
        if self._live is None:
            self._live = LiveGit(_ASK, self.cwd, env=self.env)
            finalize(self, self._live.close)
        try:
            question = "".join(f"{command} {name}\n" for name in names)
            self._live.ask(question.encode("utf-8", "surrogateescape"))
            return [_take(self._live, has_content=command == "contents") for _ in names]
        except BaseException:
            self.close()  # else the rest of this answer would be read as the next one
            raise

    def _keep(self, oid: str, found: Found) -> None:
        size_bytes = len(found[1])
        if size_bytes > _LARGEST_KEPT_BYTES or oid in self._kept:
            return
        if self._kept_bytes + size_bytes > _MOST_KEPT_BYTES:
            self._kept, self._kept_bytes = {}, 0
        self._kept[oid] = found
        self._kept_bytes += size_bytes


def _take(live: LiveGit, *, has_content: bool) -> tuple[str, str, int, bytes] | None:
    words = live.take_until(b"\n").decode("utf-8", "replace").split(" ")
    if len(words) != 3 or not words[2].isdigit():  # "NAME missing", "NAME ambiguous"
        return None
    size_bytes = int(words[2])
    return words[0], words[1], size_bytes, live.take(size_bytes + 1)[:-1] if has_content else b""
