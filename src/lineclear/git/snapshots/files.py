"""What we keep between two snapshots of a worktree: its last content, and the signatures of its files."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.worktrees.secrets import LOOKED_AT_BYTES
from lineclear.git import parse
from lineclear.host.files import write_atomically

if TYPE_CHECKING:
    from typing import Any

    from lineclear.git.objects import Entry

_VERSION = 1
_MOST_AGENTS = 100
# A second write within one tick of the file system's clock leaves no trace. Some clocks tick every 2 seconds.
_TICK_NS, _COARSE_TICK_NS = 50_000_000, 2_500_000_000


def signature_of(found: os.stat_result) -> list[int]:
    """Numbers that change when a file's content or kind changes."""
    return [found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev]


def beginning_of(path: bytes) -> bytes:
    """What is looked at for secrets; nothing of a link. OSError if the file cannot be read."""
    if os.path.islink(path):
        return b""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=0) as file:
        return file.read(LOOKED_AT_BYTES) or b""


def is_settled(path: bytes, before: os.stat_result, looked_ns: int) -> bool:
    """Was the file unchanged while it was read, and is its last change old enough to be sure?"""
    try:
        after = os.lstat(path)
    except OSError:
        return False
    return signature_of(after) == signature_of(before) and is_old(after, looked_ns)


def is_old(found: os.stat_result, looked_ns: int) -> bool:
    """Would any change after `looked_ns` have given the file another time?"""
    changed_ns = max(found.st_mtime_ns, found.st_ctime_ns)
    tick_ns = _COARSE_TICK_NS if found.st_mtime_ns % 1_000_000_000 == 0 else _TICK_NS
    return changed_ns + tick_ns < looked_ns


def create_loose_ref(common_dir: str, ref: str, commit: str, *, is_lasting: bool) -> bool:
    """Create the ref as git does, with a lock file. False if git has to do it (a reftable) or to say why not.

    Starting git would cost more than the rest of a small snapshot.
    """
    path = f"{common_dir}/{ref}"
    if os.path.isdir(common_dir + "/reftable"):
        return False
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        fd = os.open(path + ".lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError:
        return False
    try:
        with open(fd, "wb") as file:
            if os.path.lexists(path) or _is_packed(common_dir, ref):
                raise FileExistsError
            file.write(commit.encode() + b"\n")
            file.flush()
            if is_lasting:  # git does not flush refs; for a ref that stays for weeks it is worth the wait
                os.fsync(fd)
        os.rename(path + ".lock", path)
    except OSError:
        os.unlink(path + ".lock")
        return False
    return True


def _is_packed(common_dir: str, ref: str) -> bool:
    try:
        with open(common_dir + "/packed-refs", encoding="utf-8", errors="surrogateescape") as file:
            return parse.packed_ref_exists(file.read(), ref)
    except FileNotFoundError:
        return False


@dataclass(frozen=True, slots=True)
class Last:
    """An agent's last snapshot of a worktree; `serial` identifies its content."""

    ref: str
    commit: str
    why: str
    serial: int


class State:
    """The content of a worktree's last snapshot (`ref`, `commit`), for whichever agent it was taken.

    `index` is the signature of the index we copied. `serial` grows with each new content: an agent whose last
    snapshot has the same number has this content.
    """

    def __init__(self) -> None:
        self.head, self.ref, self.commit, self.serial = "", "", "", 0
        self.changes: dict[bytes, Entry | None] = {}
        self.signatures: dict[bytes, list[int]] = {}
        self.lasts: dict[str, Last] = {}
        self.index: list[int] = []
        self._stored_index: list[int] = []

    def last_with(self, agent: str, head: str, changes: dict[bytes, Entry | None]) -> Last | None:
        """The agent's last snapshot, if it has exactly this content."""
        last = self.lasts.get(agent)
        if last is None or last.serial != self.serial or self.head != head or self.changes != changes:
            return None
        return last

    def settle(self, path: str, signatures: dict[bytes, list[int]]) -> None:
        """Save new signatures or a newly copied index, though the content is the same."""
        if signatures != self.signatures or self.index != self._stored_index:
            self.signatures = signatures
            self.save(path)

    def keep(
        self,
        path: str,
        agent: str,
        last: tuple[str, str, str],
        head: str,
        changes: dict[bytes, Entry | None],
        signatures: dict[bytes, list[int]],
    ) -> None:
        """Save that a snapshot (`last`: its ref, commit and reason) was taken of this content."""
        if (self.head, self.changes) != (head, changes):
            self.serial += 1
        self.head, self.changes, self.signatures = head, changes, signatures
        self.ref, self.commit, _ = last
        self.lasts.pop(agent, None)
        self.lasts[agent] = Last(*last, self.serial)
        while len(self.lasts) > _MOST_AGENTS:
            del self.lasts[next(iter(self.lasts))]
        self.save(path)

    @classmethod
    def load(cls, path: str) -> State:
        """The saved state; an empty one if there is none or it cannot be read."""
        state = cls()
        try:
            with open(path, encoding="ascii") as file:
                state._read(json.load(file))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
            return cls()
        return state

    def _read(self, data: dict[str, Any]) -> None:
        if data["version"] != _VERSION:
            return
        self.head, self.ref, self.commit = (str(data[name]) for name in ("head", "ref", "commit"))
        self.serial, self.index = int(data["serial"]), list(data["index"])
        self._stored_index = self.index
        self.changes = {
            os.fsencode(name): (entry[0], entry[1]) if entry else None
            for name, entry in data["changes"].items()
        }
        self.signatures = {os.fsencode(name): numbers for name, numbers in data["signatures"].items()}
        self.lasts = {agent: Last(*last) for agent, last in data["lasts"].items()}

    def save(self, path: str) -> None:
        """Replace the file atomically. Errors are ignored: they only cost the next snapshot some work."""
        names = ("head", "ref", "commit", "serial", "index")
        data: dict[str, Any] = {name: getattr(self, name) for name in names} | {"version": _VERSION}
        data["changes"] = {os.fsdecode(name): entry for name, entry in self.changes.items()}
        data["signatures"] = {os.fsdecode(name): numbers for name, numbers in self.signatures.items()}
        data["lasts"] = {
            agent: [last.ref, last.commit, last.why, last.serial] for agent, last in self.lasts.items()
        }
        text = json.dumps(data).encode("ascii")
        try:
            write_atomically(path, text, is_durable=False, temporary=f"{path}.new")
        except OSError:
            pass
