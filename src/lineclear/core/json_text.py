"""How we read, write and compare JSON: bounded, unambiguous, the same on every engine.

Refuses input that other JSON readers would read differently or not at all: NaN, duplicate keys, half of a
surrogate pair, very long numbers, very deep nesting. Must not be imported on the hook's path.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import Refusal, refuse, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMIT_BYTES = 1_048_576
MAX_DEPTH = 64
MAX_DIGITS = 1_000

_TOO_DEEP = f"it is nested deeper than {MAX_DEPTH} levels"
_TOO_LONG_NUMBER = f"it contains a whole number of more than {MAX_DIGITS} digits"
_NOT_FINITE = "it contains a number that is not finite"
_HALF_PAIR = "it contains half of a surrogate pair, which is not text"
_TOO_BIG = 10**MAX_DIGITS

# A string, closed or not, or a bracket. An unclosed string matches too, so no text makes it backtrack.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


class _UnusableError(Exception):
    """Raised where only a piece of the text is known; the caller turns it into a refusal."""

    def __init__(self, piece: str, why: str) -> None:
        super().__init__(why)
        self.piece = piece
        self.why = why


def parse_json(text: str, *, limit_bytes: int = LIMIT_BYTES) -> object:
    try:
        _check_size(text, limit_bytes)
        _check_depth(text)
        value: object = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_decimal,
        )
        _check(value, 0)
    except json.JSONDecodeError as error:
        why = f"it is not valid JSON at line {error.lineno}, column {error.colno}"
        raise _refused(text, why) from None
    except _UnusableError as error:
        raise _refused(text, error.why) from None
    return value


def canonical(value: object) -> str:
    """The JSON text that we store and show: without blanks, keys in their own order."""
    return _written(value, sort_keys=False)


def digest(value: object) -> str:
    """A hash that does not depend on the order of keys; 1, 1.0 and true have different ones."""
    return hashlib.sha256(_written(value, sort_keys=True).encode()).hexdigest()


def _written(value: object, *, sort_keys: bool) -> str:
    try:
        _check(value, 0)
    except _UnusableError as error:
        raise _refused(error.piece, error.why) from None
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)


def _refused(text: str, why: str) -> Refusal:
    # A refusal quotes at most 200 characters; passing no more keeps it cheap for a large text.
    return refuse("input.bad", name="JSON", given=text[:201], why=why)


# -- the text, before it is parsed --------------------------------------------------------------


def _check_size(text: str, limit_bytes: int) -> None:
    # A character is at least one byte, so a text that is far too large is refused without encoding it.
    if len(text) > limit_bytes or len(_encoded(text)) > limit_bytes:
        raise _UnusableError(text, f"it is larger than {limit_bytes} bytes")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _UnusableError(text, _HALF_PAIR) from None


def _check_depth(text: str) -> None:
    """Runs before the parser, which recurses: how deep it can go depends on the caller's stack."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        first = text[match.start()]
        if first in "[{":
            depth += 1
        elif first in "]}":
            depth -= 1
        if depth > MAX_DEPTH:
            raise _UnusableError(text, _TOO_DEEP)


# -- the pieces, while it is parsed -------------------------------------------------------------


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise _UnusableError(key, f'the key "{shorten(key, 40)}" is given twice')
        found[key] = value
    return found


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise _UnusableError(text, _TOO_LONG_NUMBER)
    try:
        return int(text)
    except ValueError:  # the interpreter can be configured to accept even fewer digits
        raise _UnusableError(text, _TOO_LONG_NUMBER) from None


def _decimal(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _UnusableError(text, "it contains a number too large to keep")
    return number


# -- the value, wherever it came from -----------------------------------------------------------


def _check(value: object, depth: int) -> None:
    """Checks any value, also one that another reader built. A type that JSON lacks is our bug: TypeError."""
    if type(value) is str:
        _encoded(value)
    elif type(value) is int:
        if not -_TOO_BIG < value < _TOO_BIG:
            raise _UnusableError("a whole number", _TOO_LONG_NUMBER)
    elif type(value) is float:
        if not math.isfinite(value):
            raise _UnusableError(str(value), _NOT_FINITE)
    elif type(value) is list:
        _check_all(value, depth + 1)
    elif type(value) is dict:
        _check_keys(value)
        _check_all(value.values(), depth + 1)
    elif value is not None and type(value) is not bool:
        raise TypeError(f"not a JSON value: {type(value).__name__}")


def _check_all(values: Iterable[object], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _UnusableError("a value", _TOO_DEEP)
    for value in values:
        _check(value, depth)


def _check_keys(keys: Iterable[object]) -> None:
    for key in keys:
        if type(key) is not str:
            raise TypeError(f"not a JSON key: {type(key).__name__}")
        _encoded(key)
