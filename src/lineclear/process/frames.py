"""How a server answers a command: pieces of what it prints, signs of life, and at the end its exit code.

A frame is a kind, a length, a line end, and that many bytes. An answer without an exit code is no answer: who
asked does the work itself, under the same operation id.
"""

from __future__ import annotations

from time import monotonic

OUT, ERR, BEAT, CODE = b"1", b"2", b"b", b"c"
# Silence for so long means that nobody is there; a server that is at work shows it far more often.
GIVE_UP_S, BEAT_S = 2.0, 0.4
# What a server does for somebody has begun so long before that one gives up, or it never begins.
MARGIN_S = 0.5
_LONGEST_HEAD = 24


def frame(kind: bytes, data: bytes = b"") -> bytes:
    return b"%s %d\n%s" % (kind, len(data), data)


def listens_until() -> float:
    """Until when whoever sends something now is sure to listen, on the clock of this host."""
    return monotonic() + GIVE_UP_S - MARGIN_S


class Frames:
    """Takes bytes as they come, gives whole frames. What is no frame is a ValueError."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        rest = self._rest + data
        found = []
        while True:
            head, line_end, behind = rest.partition(b"\n")
            if not line_end:
                if len(rest) > _LONGEST_HEAD:
                    raise ValueError("no frame")
                break
            kind, _, length = head.partition(b" ")
            size = int(length)
            if len(behind) < size:
                break
            found.append((kind, behind[:size]))
            rest = behind[size:]
        self._rest = rest
        return found
