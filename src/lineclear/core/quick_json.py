"""JSON on the hook's path: read and written with the interpreter's own C functions, without importing `json`.

Importing `json` costs as much as starting the interpreter. If the C functions are missing or differ, the
package does the work. The caller checks sizes; a text that is not JSON is a ValueError.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SPACE = " \t\r\n"


class _Context:
    """The attributes that the scanner of `_json` reads from a decoder."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int

    @staticmethod
    def parse_constant(text: str) -> float:
        return float(text.replace("Infinity", "inf"))


def _make_reader() -> Callable[[str], Any]:
    try:
        from _json import make_scanner  # type: ignore[import-not-found,unused-ignore]

        scan = make_scanner(_Context())  # type: ignore[arg-type]
        if scan('{"a": [1, "b"]}', 0) != ({"a": [1, "b"]}, 15):
            raise TypeError("another scanner")
    except (ImportError, TypeError, AttributeError):
        from json import loads

        return lambda text: loads(text, strict=False)

    def read(text: str) -> Any:
        start = len(text) - len(text.lstrip(_SPACE))
        try:
            value, end = scan(text, start)
        except (StopIteration, RecursionError, SystemError):
            # SystemError: the scanner looks for its error class in the package that we did not load.
            raise ValueError("this is not JSON") from None
        if text[end:].strip(_SPACE):
            raise ValueError("more than one JSON value")
        return value

    return read


def _make_writer() -> Callable[[object], str]:
    try:
        from _json import encode_basestring, make_encoder  # type: ignore[import-not-found,unused-ignore]

        encode = make_encoder(None, _refuse, encode_basestring, None, ":", ",", False, False, True)
        if "".join(encode({"a": [1, "\u00e9"]}, 0)) != '{"a":[1,"\u00e9"]}':
            raise TypeError("another encoder")
    except (ImportError, TypeError, AttributeError):
        from json import JSONEncoder

        return JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
    return lambda value: encode_basestring(value) if type(value) is str else "".join(encode(value, 0))


def _refuse(value: object) -> object:
    raise TypeError(f"not a JSON value: {type(value).__name__}")


_reader: Callable[[str], Any] | None = None


def read_json(text: str) -> Any:
    global _reader  # noqa: PLW0603  made when first needed: most processes only write
    if _reader is None:
        _reader = _make_reader()
    return _reader(text)


write_json = _make_writer()
