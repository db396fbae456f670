"""Read texts from stdin (written as `-`) and files; refuse what is too large or not UTF-8."""

from __future__ import annotations

import os
import sys

from lineclear.core.words.refusals import not_found, refuse

MOST_BYTES = 2 * 1024 * 1024


def given_text(text: str) -> str:
    """The argument itself; for `-`, stdin without its last newline."""
    return _stdin().removesuffix("\n") if text == "-" else text


def read_input(name: str, cwd: str, verb: str = "task import") -> str:
    """A whole file, or stdin for `-`; a refusal points to the help of `verb`."""
    return _stdin() if name == "-" else _file(os.path.join(cwd, name), name, verb)


def _stdin() -> str:
    if sys.stdin is None:
        raise refuse("input.bad", name="input", given="-", why="stdin is closed")
    try:
        return _decoded(sys.stdin.buffer.read(MOST_BYTES + 1), "-")
    except OSError as error:
        raise refuse("input.bad", name="input", given="-", why=_why(error)) from None


def _file(path: str, shown: str, verb: str) -> str:
    try:
        with open(path, "rb") as file:
            return _decoded(file.read(MOST_BYTES + 1), shown)
    except FileNotFoundError:
        raise not_found("file", shown, f"lineclear {verb} --help") from None
    except OSError as error:
        raise refuse("input.bad", name="file", given=shown, why=_why(error)) from None


def _why(error: OSError) -> str:
    return f"it cannot be read ({os.strerror(error.errno or 0)})"


def _decoded(data: bytes, shown: str) -> str:
    if len(data) > MOST_BYTES:
        raise refuse("input.bad", name="input", given=shown, why=f"it is larger than {MOST_BYTES} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise refuse(
            "input.bad", name="input", given=shown, why=f"byte {error.start} is not UTF-8 text"
        ) from None
