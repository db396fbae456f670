"""Stand-ins for log positions that are not given yet.

A speculative transaction numbers its events before the server does. Its numbers are stand-ins: a
random window of ten thousand huge integers, made anew for each run, whose middle stands for the
log's head. Where a stand-in ends up in a row, a JSON body or a sentence, its nineteen digits are
replaced by the true number: by the server before it writes, by us in the answer.

Why that is exact. A rule can do three things with a position. It can keep it, as a number or in a
text: the replacement finds it, and finds nothing else, since the window's fifteen leading digits
were drawn after every other number of the transaction was there, and no instant reaches them before
the year 2128. It can add or subtract: the sum is a stand-in again, or, outside the window, the
decision is left to the lock. It can compare: the true number is at least what the head was when we
last heard of it; what follows from that is answered, anything else is left to the lock.
"""

from __future__ import annotations

from random import SystemRandom

from lineclear.core.events import Event
from lineclear.core.tables import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_random = SystemRandom()
_SIZE, _DIGITS = 10_000, 19
_REACH = _SIZE // 2 - 1
_LEAST_LEAD, _MOST_LEAD = 500_000_000_000_000, 920_000_000_000_000


class NeedsLock(BaseException):
    """Only the true numbers can tell: decide again, holding the lock. No rule may catch this."""


class Window:
    """The stand-ins of one run. `floor` is a position the head has certainly reached."""

    __slots__ = ("_lead", "_low", "base", "floor", "is_used")

    def __init__(self, floor: int) -> None:
        lead = _random.randrange(_LEAST_LEAD, _MOST_LEAD)
        self.floor = floor
        self._low = lead * _SIZE
        self.base = self._low + _SIZE // 2
        self._lead = str(lead)
        self.is_used = False

    def at(self, offset: int) -> Pending:
        """What stands for the position so far beyond the head."""
        if not -_REACH <= offset <= _REACH:
            raise NeedsLock
        self.is_used = True
        return Pending(self, self.base + offset)

    def covers(self, value: object) -> bool:
        return isinstance(value, int) and self._low <= int(value) < self._low + _SIZE

    def is_in(self, text: str) -> bool:
        return self._lead in text

    def offsets_in(self, text: str) -> list[int]:
        """Which stand-ins a text holds, by what they lie beyond the head."""
        found = set()
        place = text.find(self._lead)
        while place >= 0:
            found.add(int(text[place : place + _DIGITS]) - self.base)
            place = text.find(self._lead, place + 1)
        return sorted(found)

    def settled(self, value: Any, head: int) -> Any:
        """The same value with the true positions, now that the head is known."""
        kind = type(value)
        if kind is int or kind is Pending:
            return head + int(value) - self.base if self.covers(value) else value
        if kind is str and self._lead in value:
            for offset in self.offsets_in(value):
                value = value.replace(str(self.base + offset), str(head + offset))
            return value
        if kind is dict:
            return {self.settled(name, head): self.settled(item, head) for name, item in value.items()}
        if kind is list or kind is tuple or kind is set:
            return kind(self.settled(item, head) for item in value)
        if isinstance(value, Row):
            return value.changed(
                **{name: self.settled(column, head) for name, column in value.as_dict().items()}
            )
        if kind is Event:
            return Event(*(self.settled(getattr(value, name), head) for name in _EVENT_FIELDS))
        return value


_EVENT_FIELDS = ("position", "at_ns", "actor", "kind", "subject", "seen", "op", "body")


class Pending(int):
    """One stand-in. Behaves like the number it will be, or asks for the lock."""

    window: Window

    def __new__(cls, window: Window, value: int) -> Pending:
        made = super().__new__(cls, value)
        made.window = window
        return made

    def _least(self) -> int:
        return self.window.floor + int(self) - self.window.base

    def _is_peer(self, other: object) -> bool:
        """Of the same window, or nothing that a position could be compared with by size."""
        return type(other) is not int or self.window.covers(other)

    def __ge__(self, other: int) -> bool:
        if self._is_peer(other):
            return super().__ge__(other)
        return other <= self._least() or _ask()

    def __gt__(self, other: int) -> bool:
        if self._is_peer(other):
            return super().__gt__(other)
        return other < self._least() or _ask()

    def __lt__(self, other: int) -> bool:
        return super().__lt__(other) if self._is_peer(other) else not self.__ge__(other)

    def __le__(self, other: int) -> bool:
        return super().__le__(other) if self._is_peer(other) else not self.__gt__(other)

    def __eq__(self, other: object) -> bool:
        if self._is_peer(other) or not isinstance(other, int):
            return super().__eq__(other)
        return not self.__gt__(other)

    def __ne__(self, other: object) -> bool:
        return super().__ne__(other) if self._is_peer(other) else not self == other

    __hash__ = int.__hash__

    def __add__(self, other: int) -> int:
        if self.window.covers(other):
            raise NeedsLock
        return self.window.at(int(self) - self.window.base + other)

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        if self.window.covers(other):
            return int(self) - int(other)
        return self.window.at(int(self) - self.window.base - other)

    def __format__(self, form: str) -> str:
        return super().__format__(form) if form in ("", "d") else _ask()


def _ask(*_numbers: object) -> NoReturn:
    raise NeedsLock


_NOT_LINEAR = (
    "abs and divmod float floordiv invert lshift mod mul neg or pow rand rdivmod rfloordiv rlshift rmod rmul"
    " ror round rpow rrshift rshift rsub rtruediv rxor truediv xor"
)
for _name in _NOT_LINEAR.split():
    setattr(Pending, f"__{_name}__", _ask)
