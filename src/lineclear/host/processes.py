"""A census of this host's processes: their descent, what they use, and marks in their environment.

Reads /proc where there is one, else asks `ps`. Ends no process.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.host.spawning import output_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PS = ("/bin/ps", "-axo", "pid=,ppid=,pgid=,rss=,time=")
_PROC = "/proc"
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Without /proc we cannot read the environment of other processes.
HAS_MARKS = os.path.isdir(_PROC + "/self")
_NS_PER_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """One process. `busy_ns` includes its ended children, so it only grows."""

    pid: int
    parent: int
    group: int
    session: int
    busy_ns: int
    memory_bytes: int


class Family:
    """What a process and everything it started use together."""

    def __init__(self, members: Iterable[Process]) -> None:
        self.pids, self.busy_ns, self.memory_bytes = [], 0, 0
        for process in members:
            self.pids.append(process.pid)
            self.busy_ns += process.busy_ns
            self.memory_bytes += process.memory_bytes


def take_census() -> dict[int, Process]:
    return _from_proc() if HAS_MARKS else parse_ps(os.fsdecode(output_of(_PS)))


def families(
    census: dict[int, Process], leaders: Iterable[int], adopted: Mapping[int, int] | None = None
) -> dict[int, Family]:
    """Per leader: all processes in its session and all their descendants, whatever their session.

    Clients start shells in their own sessions, which we find by descent; a shell whose parent has died is a
    child of init, and we find it by session. If both happened, it is in `adopted`.
    """
    adopted = adopted or {}
    below: dict[int, list[Process]] = {}
    for process in census.values():
        below.setdefault(process.parent, []).append(process)
    found = {}
    for leader in leaders:
        members = {
            pid: p for pid, p in census.items() if leader in (p.session, p.group, pid, adopted.get(pid))
        }
        queue = list(members.values())
        while queue:
            for child in below.get(queue.pop().pid, ()):
                if child.pid not in members:
                    members[child.pid] = child
                    queue.append(child)
        found[leader] = Family(members.values())
    return found


def oom_kills() -> int:
    """How many processes the kernel has killed for lack of memory; 0 if it does not say."""
    for line in _read(f"{_PROC}/vmstat").split(b"\n"):
        name, _, count = line.partition(b" ")
        if name == b"oom_kill" and count.isdigit():
            return int(count)
    return 0


def adopted(census: dict[int, Process], name: str, leaders: Iterable[int]) -> dict[int, int]:
    """pid -> leader of processes that left the leader's session and descent, recognised by the same value of
    the variable `name`. Only session leaders are examined: `families` adds their descendants."""
    marks = {mark: leader for leader in leaders if (mark := mark_of(leader, name))}
    found = {}
    for pid, process in census.items() if marks else ():
        parent = census.get(process.parent)
        if parent is None or parent.session != process.session:
            leader = marks.get(mark_of(pid, name), pid)
            if leader != pid:
                found[pid] = leader
    return found


def mark_of(pid: int, name: str) -> bytes:
    """The value of a variable in the process's environment; b"" if it is not set or we may not read it."""
    _, _, rest = (b"\0" + _read(f"{_PROC}/{pid}/environ")).partition(f"\0{name}=".encode())
    return rest.partition(b"\0")[0]


def words_of(pid: int) -> list[str]:
    """The words of the command that the process was started with; empty if we may not read them."""
    if HAS_MARKS:
        return os.fsdecode(_read(f"{_PROC}/{pid}/cmdline")).split("\0")[:-1]
    return os.fsdecode(output_of(("/bin/ps", "-o", "args=", "-p", str(pid)))).split()


def marked(mark: str) -> list[int]:
    """The processes, except our own, whose environment contains `mark` (NAME=VALUE). None without /proc:
    there the process group has to be enough."""
    return [pid for pid in _pids() if pid != os.getpid() and is_marked(pid, mark)]


def is_marked(pid: int, mark: str) -> bool:
    """Is this process alive, with `mark` in its environment?"""
    return b"\0" + mark.encode() + b"\0" in b"\0" + _read(f"{_PROC}/{pid}/environ")


def _from_proc() -> dict[int, Process]:
    census = {}
    for pid in _pids():
        process = parse_stat(_read(f"{_PROC}/{pid}/stat"), _read(f"{_PROC}/{pid}/schedstat"))
        if process is not None:
            census[pid] = process
    return census


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir(_PROC) if name.isdigit()]
    except OSError:
        return []


def _read(path: str) -> bytes:
    """The file's content; b"" if the process is gone or not ours."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        chunks = []
        while chunk := os.read(fd, 65_536):
            chunks.append(chunk)
        return b"".join(chunks)
    except OSError:
        return b""
    finally:
        os.close(fd)


def parse_stat(stat: bytes, schedstat: bytes = b"") -> Process | None:
    """Parse /proc/PID/stat. The name in brackets may contain anything, so count from the last bracket.

    Ticks are coarse (usually 10 ms); the scheduler's own count, where the kernel keeps it, is exact.
    """
    head, bracket, rest = stat.rpartition(b")")
    fields = rest.split()
    if not bracket or len(fields) < 22 or fields[0] in (b"Z", b"X"):
        return None
    own_ticks, children_ticks = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
    counted = schedstat.split()
    own_ns = int(counted[0]) if counted and counted[0].isdigit() else own_ticks * _NS_PER_TICK
    return Process(
        int(head.partition(b" ")[0]),
        int(fields[1]),
        int(fields[2]),
        int(fields[3]),
        own_ns + children_ticks * _NS_PER_TICK,
        int(fields[21]) * _PAGE_BYTES,
    )


def parse_ps(text: str) -> dict[int, Process]:
    """Parse lines of `pid ppid pgid rss time`; macOS cannot show the session, so the group stands in."""
    census = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 5 and all(field.isdigit() for field in fields[:4]):
            pid, parent, group, rss_kib = (int(field) for field in fields[:4])
            census[pid] = Process(pid, parent, group, group, _time_ns(fields[4]), rss_kib * 1024)
    return census


def _time_ns(text: str) -> int:
    """`[[DD-]HH:]MM:SS[.hh]` as nanoseconds."""
    days, _, clock = text.rpartition("-")
    whole, _, fraction = clock.partition(".")
    seconds = 0
    for part in whole.split(":"):
        seconds = seconds * 60 + int(part)
    seconds += int(days or 0) * 86_400
    return seconds * 1_000_000_000 + int((fraction or "0").ljust(9, "0")[:9])
