"""Ports of check trees. They are no rows of the store, as the trees are not; a small file of this clone
keeps them, and both sides look at what the other one has.
"""

from __future__ import annotations

import os

from lineclear.core.log.tables import WORKTREE
from lineclear.core.worktrees.rules import choose_ports, ports_meet
from lineclear.host import ports
from lineclear.host.records import change_record_file, read_record_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.wiring.repo import Repo

    Ranges = dict[str, tuple[int, int]]

_RECORD = "checks/ports"


def free_for_agents(repo: Repo) -> Callable[[int], bool]:
    """Is a port free, and no check tree's?"""
    taken = [range(first, first + count) for first, count in _read(repo).values()]
    return lambda port: not any(port in kept for kept in taken) and ports.is_free(port)


def take(repo: Repo, tree: str) -> range:
    """The ports of a check tree, which the caller holds: those it had when they are still free, else
    others that nobody has."""
    settings = repo.settings
    count, low, high = settings.worktrees_ports, settings.worktrees_ports_from, settings.worktrees_ports_to
    if not count:
        return range(0)
    while True:
        first, had = _read(repo).get(tree, (0, 0))
        is_asked_for = had == count and first >= low and first + count - 1 <= high
        if is_asked_for and not ports_meet(first, count, _of_agents(repo)):
            kept = range(first, first + count)
            if all(ports.is_free(port) for port in kept):
                return kept
        # Looked at once more afterwards: an agent may have got them between our look and our note.
        _choose(repo, tree, count, low, high)


def drop(repo: Repo, tree: str) -> None:
    """The tree is gone, and its ports are free again."""
    if tree in _read(repo):
        change_record_file(_path(repo), lambda text: _write(_parse(text) | {tree: (0, 0)}))


def _choose(repo: Repo, tree: str, count: int, low: int, high: int) -> None:
    def change(text: str) -> str:
        ranges = _parse(text)
        ranges.pop(tree, None)
        taken = [*_of_agents(repo), *ranges.values()]
        first = choose_ports(taken, count=count, low=low, high=high, is_free=ports.is_free)
        return _write(ranges | {tree: (first, count)})

    change_record_file(_path(repo), change)


def _of_agents(repo: Repo) -> list[tuple[int, int]]:
    rows = repo.store.read(lambda view: view.scan(WORKTREE, "key"))
    return [(row.port_first, row.port_count) for row in rows]


def _path(repo: Repo) -> str:
    return os.path.join(repo.state_directory, _RECORD)


def _read(repo: Repo) -> Ranges:
    return _parse(read_record_file(_path(repo)))


def _parse(text: str) -> Ranges:
    """Lines of `tree first count`; a damaged one keeps nothing."""
    found = {}
    for line in text.split("\n"):
        words = line.split(" ")
        if len(words) == 3 and words[1].isdigit() and words[2].isdigit():
            found[words[0]] = (int(words[1]), int(words[2]))
    return found


def _write(ranges: Ranges) -> str:
    return "".join(f"{tree} {first} {count}\n" for tree, (first, count) in ranges.items() if count)
