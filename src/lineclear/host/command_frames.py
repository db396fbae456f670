"""The format of a server's answer to a command: pieces of the command's output and, last, its exit code.

A frame is a kind, a length, a newline, and that many bytes. An answer without an exit code was cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    class Readable(Protocol):
        def readline(self, limit: int, /) -> bytes: ...
        def read(self, size: int, /) -> bytes: ...


OUT, ERR, CODE = b"1", b"2", b"c"
_LONGEST_HEAD = 24


def frame(kind: bytes, data: bytes) -> bytes:
    return b"%s %d\n%s" % (kind, len(data), data)


def read_frames(stream: Readable) -> Iterator[tuple[bytes, bytes]]:
    """Raises ValueError if the stream contains anything else, or ends inside a frame."""
    while head := stream.readline(_LONGEST_HEAD):
        kind, _, length = head.partition(b" ")
        data = stream.read(int(length)) if head.endswith(b"\n") else b""
        if len(data) != int(length):
            raise ValueError("half a frame")
        yield kind, data
