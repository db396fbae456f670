"""The ports of check trees, which have no rows in the store: a small file of this clone keeps them. Agents
and check trees each avoid the ports of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.worktrees.rules import choose_ports, ports_meet
from lineclear.host import ports
from lineclear.host.private_record import RecordFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Ranges = dict[str, tuple[int, int]]


class CheckPorts:
    """`record`: the path of the file. Each tree gets `count` ports from `low` to `high`. `of_agents()`
    returns the ranges (first, count) that agents have now."""

    def __init__(
        self,
        record: str,
        *,
        count: int,
        low: int,
        high: int,
        of_agents: Callable[[], Sequence[tuple[int, int]]],
    ) -> None:
        self._record, self._of_agents = RecordFile(record), of_agents
        self._count, self._low, self._high = count, low, high

    def free_for_agents(self) -> Callable[[int], bool]:
        """Return a test: is a port free, and not reserved for a check tree?"""
        taken = [range(first, first + count) for first, count in self._read().values()]
        return lambda port: not any(port in kept for kept in taken) and ports.is_free(port)

    def take(self, tree: str) -> range:
        """The ports for a check tree that the caller holds: its earlier ones if they are still free, else
        others that nobody has."""
        count = self._count
        if not count:
            return range(0)
        while True:
            first, had = self._read().get(tree, (0, 0))
            fits_settings = had == count and first >= self._low and first + count - 1 <= self._high
            if fits_settings and not ports_meet(first, count, self._of_agents()):
                kept = range(first, first + count)
                if all(ports.is_free(port) for port in kept):
                    return kept
            # Then check again: an agent may have taken them before we recorded our choice.
            self._choose(tree)

    def drop(self, tree: str) -> None:
        """Free the ports of a removed tree."""
        if tree in self._read():
            self._record.change(lambda text: _write(_parse(text) | {tree: (0, 0)}))

    def _choose(self, tree: str) -> None:
        def change(text: str) -> str:
            ranges = _parse(text)
            ranges.pop(tree, None)
            taken = [*self._of_agents(), *ranges.values()]
            first = choose_ports(
                taken, count=self._count, low=self._low, high=self._high, is_free=ports.is_free
            )
            return _write(ranges | {tree: (first, self._count)})

        self._record.change(change)

    def _read(self) -> Ranges:
        return _parse(self._record.read())


def _parse(text: str) -> Ranges:
    """Parse lines of `tree first count`, without damaged ones."""
    found = {}
    for line in text.split("\n"):
        words = line.split(" ")
        if len(words) == 3 and words[1].isdigit() and words[2].isdigit():
            found[words[0]] = (int(words[1]), int(words[2]))
    return found


def _write(ranges: Ranges) -> str:
    return "".join(f"{tree} {first} {count}\n" for tree, (first, count) in ranges.items() if count)
