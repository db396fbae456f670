"""Objects of one clone by their ids, read through one git that stays, and written without git.

A process for each question costs more than all the answers. What was read is kept, since the levels of a
stack share nearly all of it; an object never changes under its id.
"""

from __future__ import annotations

import os
from weakref import finalize

from lineclear.git.layout import has_reftable, read_text
from lineclear.git.objects import Objects, read_loose
from lineclear.git.run import GitFailed, Live, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Found = tuple[str, bytes]  # kind, content

_ASK = ("cat-file", "--batch")
# So many ids fit into a pipe of any system, and small files are most of what is read twice.
_MOST_ASKED, _MOST_KEPT_BYTES, _LARGEST_KEPT_BYTES = 100, 64 << 20, 1 << 20


def _are_some_replaced(common_dir: str) -> bool:
    """Whether git shows anything else in place of an object (`git replace`), or only git could tell."""
    if has_reftable(common_dir) or "refs/replace/" in read_text(common_dir + "/packed-refs", limit=-1):
        return True
    try:
        return bool(os.listdir(common_dir + "/refs/replace"))
    except OSError:
        return False


class ObjectStore:
    """`cwd` is any place inside the clone. A git may run for it until it is closed, or forgotten."""

    def __init__(self, cwd: str, directory: str = "") -> None:
        """`directory`: where objects are; git is asked when it is not given."""
        self.cwd = cwd
        self._directory = directory
        self._reads_files = bool(directory) and not _are_some_replaced(os.path.dirname(directory))
        self._live: Live | None = None
        self._kept: dict[str, Found] = {}
        self._kept_bytes = 0

    def __enter__(self) -> ObjectStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Twice is once; a question after it starts git again."""
        live, self._live = self._live, None
        if live is not None:
            live.close()

    def find(self, oids: Iterable[str]) -> dict[str, Found]:
        """(kind, content) of those that are there."""
        wanted = list(dict.fromkeys(oids))
        found = {oid: self._kept[oid] for oid in wanted if oid in self._kept}
        missing = []
        for oid in wanted:
            if oid not in found:
                # New work lies in files of its own, which cost less to read than a question does.
                alone = read_loose(self._directory, oid) if self._reads_files else None
                if alone is None:
                    missing.append(oid)
                else:
                    found[oid] = alone
                    self._keep(oid, alone)
        for at in range(0, len(missing), _MOST_ASKED):
            found |= self._ask(missing[at : at + _MOST_ASKED])
        return found

    def read(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The content of each; GitFailed when one is not there."""
        wanted = set(oids)
        found = self.find(sorted(wanted))
        for oid in wanted - found.keys():
            raise GitFailed(_ASK, 128, f"{oid} missing")
        return {oid: content for oid, (_, content) in found.items()}

    def write(self, objects: Objects) -> None:
        if not self._directory:
            words = ["rev-parse", "--path-format=absolute", "--git-path", "objects"]
            self._directory = git(words, self.cwd).decode("utf-8", "surrogateescape").removesuffix("\n")
        objects.write(self._directory)
        for oid, found in objects.items():
            self._keep(oid, found)

    def write_one(self, kind: str, data: bytes, like: str) -> str:
        """Its id, made as that of `like` is."""
        objects = Objects.like(like)
        oid = objects.add(kind, data)
        self.write(objects)
        return oid

    def _ask(self, oids: list[str]) -> dict[str, Found]:
        if self._live is None:
            self._live = Live(_ASK, self.cwd)
            finalize(self, self._live.close)
        try:
            self._live.ask("".join(f"{oid}\n" for oid in oids).encode())
            return dict(answer for oid in oids if (answer := self._take(self._live, oid)) is not None)
        except BaseException:
            self.close()  # the rest of the answer is not that to the next question
            raise

    def _take(self, live: Live, oid: str) -> tuple[str, Found] | None:
        line = live.take_until(b"\n").decode("utf-8", "replace")
        words = line.split(" ")
        if len(words) != 3 or not words[2].isdigit():
            return None
        found = (words[1], live.take(int(words[2]) + 1)[:-1])
        self._keep(oid, found)
        return oid, found

    def _keep(self, oid: str, found: Found) -> None:
        size_bytes = len(found[1])
        if size_bytes > _LARGEST_KEPT_BYTES or oid in self._kept:
            return
        if self._kept_bytes + size_bytes > _MOST_KEPT_BYTES:
            self._kept, self._kept_bytes = {}, 0
        self._kept[oid] = found
        self._kept_bytes += size_bytes
