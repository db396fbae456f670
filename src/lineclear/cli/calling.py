"""Asking a server that runs beside us, over its socket, with as little as possible imported.

Whatever goes wrong on the way is told as "nobody answered": the caller does the work alone.
"""

from __future__ import annotations

import os

from lineclear import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from lineclear.process.door import Door

ANSWER_WITHIN_S = 10.0
_AT_ONCE = 1 << 16
# An endless piece of something is no answer.
_MOST_BYTES = 1 << 28
_OUT, _ERR = 1, 2
_INTERRUPTED, _FAILED = 130, 1


class NotSent(OSError):
    """Nobody was there to hear the question."""


def ask(door: Door, method: str, path: str, body: bytes = b"") -> Any:
    """The answer's JSON; None when nobody answered, or not with that."""
    from lineclear.core.quick_json import read_json

    try:
        answer = b"".join(_exchange(door, method, path, body, ANSWER_WITHIN_S))
        return read_json(answer.decode()) if answer else None
    except (OSError, ValueError):
        return None


def _exchange(door: Door, method: str, path: str, body: bytes, patience_s: float) -> Iterator[bytes]:
    """The pieces of an answer's body as they come; an OSError when there is none, or none comes for long."""
    import _socket

    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        line.settimeout(patience_s)
        try:
            line.connect(door.socket)
        except OSError as error:
            raise NotSent from error
        # HTTP/1.0: the answer ends with the connection, and needs no taking apart.
        head = f"{method} {path} HTTP/1.0\r\nHost: lineclear\r\nContent-Length: {len(body)}\r\n\r\n"
        line.sendall(head.encode() + body)
        begun = b""
        while b"\r\n\r\n" not in begun:
            piece = line.recv(_AT_ONCE)
            if not piece:
                raise OSError("the answer was cut off")
            begun += piece
        top, _, piece = begun.partition(b"\r\n\r\n")
        if b" 200 " not in top.split(b"\r\n", 1)[0] + b" ":
            raise OSError("another answer")
        if piece:  # the head may come alone
            yield piece
        while piece := line.recv(_AT_ONCE):
            yield piece
    finally:
        line.close()


# -- commands ------------------------------------------------------------------------------------


def is_worth_asking(environ: Mapping[str, str]) -> bool:
    """Is the output one that a server can write as we would? A terminal gets more than text."""
    import sys

    out, err = sys.stdout, sys.stderr
    if environ.get("LINECLEAR_SERVE") == "0" or environ.get("LINECLEAR_DEBUG") or out is None or err is None:
        return False
    return out.encoding == err.encoding == "utf-8" and not os.isatty(_OUT)


def command(argv: list[str], environ: Mapping[str, str]) -> tuple[int | None, Mapping[str, str]]:
    """(exit code, environment): the code of a command that a server has done, its output written.

    None for the code: do it here, in this environment. It holds the operation id under which the server may
    have done it before we lost it, so that it is not done twice.
    """
    door = _find(argv, environ)
    if door is None:
        return None, environ
    from lineclear.core.names import OWN_OPERATION

    keyed = environ
    if not environ.get("LINECLEAR_KEY"):
        keyed = {**environ, "LINECLEAR_KEY": OWN_OPERATION + os.urandom(12).hex()}
    try:
        return _through(door, argv, keyed), keyed
    except NotSent:
        return None, environ
    except (OSError, ValueError):
        return None, keyed
    except KeyboardInterrupt:
        # The connection is closed: the server stops what it did for us.
        if "--json" not in argv:
            os.write(_ERR, b"Interrupted.\n")
        return _INTERRUPTED, keyed


def _find(argv: list[str], environ: Mapping[str, str]) -> Door | None:
    from lineclear.wiring.door import find_door

    try:
        cwd = os.getcwd()
    except OSError:
        return None
    for place, word in enumerate(argv):
        if word.startswith("-C"):
            if word != "-C" or place + 1 == len(argv):
                return None
            cwd = os.path.join(cwd, argv[place + 1])
    door = find_door(cwd, environ)
    return door if door is not None and door.version == __version__ else None


def _through(door: Door, argv: list[str], environ: Mapping[str, str]) -> int:
    from lineclear.core.identity import is_about_caller
    from lineclear.core.quick_json import write_json
    from lineclear.process.frames import GIVE_UP_S, listens_until

    told = {name: value for name, value in environ.items() if is_about_caller(name)}
    question = {"words": argv, "cwd": os.getcwd(), "environ": told, "until": listens_until()}
    body = write_json(question).encode("utf-8", "surrogateescape")
    output = _Output()
    for kind, data in _frames(_exchange(door, "POST", "/command", body, GIVE_UP_S)):
        code = output.take(kind, data)
        if code is not None:
            return output.end(code, is_json="--json" in argv)
    raise OSError("no exit code")


def _frames(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
    from lineclear.process.frames import Frames

    frames, size = Frames(), 0
    for piece in pieces:
        size += len(piece)
        if size > _MOST_BYTES:
            raise ValueError("too much")
        yield from frames.feed(piece)


class _Output:
    """Keeps what is to be printed until the exit code is there: an answer that is cut off is not half shown.
    What a call that takes long has said on stderr (whom it waits for) is shown with every sign of life."""

    __slots__ = ("_error", "_kept")

    def __init__(self) -> None:
        self._kept: list[tuple[int, bytes]] = []
        self._error: OSError | None = None

    def take(self, kind: bytes, data: bytes) -> int | None:
        """The exit code, if this frame is it."""
        from lineclear.process.frames import BEAT, CODE

        if kind == CODE:
            return int(data)
        if kind != BEAT:
            self._kept.append((int(kind), data))
            return None
        said = [text for stream, text in self._kept if stream == _ERR]
        self._kept = [piece for piece in self._kept if piece[0] != _ERR]
        for text in said:
            self._write(_ERR, text)
        return None

    def end(self, code: int, *, is_json: bool) -> int:
        for stream, data in self._kept:
            self._write(stream, data)
        if self._error is None or isinstance(self._error, BrokenPipeError):
            return code
        from lineclear.cli.render import Unwritable

        if not is_json:
            self._write(_ERR, f"{Unwritable(self._error)}\n".encode())
        return code or _FAILED

    def _write(self, stream: int, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(stream, data) :]
        except OSError as error:
            self._error = self._error or error
