"""Checks, reads and writes the value of a setting.

Loaded only if there is a value to read or to show. A check returns the value to use, or None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.durations import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, parse_duration
from lineclear.core.runs.money import micros_of_float, parse_money, write_money
from lineclear.core.sizes import parse_size, write_size
from lineclear.core.words.refusals import Refusal, refuse, shorten
from lineclear.settings.setting import (
    CHOICE,
    COMMAND,
    COMMANDS,
    COUNT,
    DURATION,
    FOLD,
    LIST,
    MONEY,
    SCHEMES,
    SIZE,
    SWITCH,
    TEXT,
    WORD,
    WORDS,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.settings.setting import Setting

MAX_SCHEMES, MAX_ITEMS = 100, 100

_LARGEST_INT = 10**15
_MAX_SCHEME_CHARS = 32
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_WORDS: dict[str, object] = {"auto": "auto"}
_WORDS |= dict.fromkeys(("true", "yes", "on", "1"), True)
_WORDS |= dict.fromkeys(("false", "no", "off", "0"), False)


def read_value(setting: Setting, given: object, origin: str, name: str = "") -> object:
    """The value as the program uses it; `name` is for keys of tables whose keys a file chooses."""
    value = _CHECKS[setting.kind](setting, given)
    if value is None:
        shown = "not shown, it may be secret" if setting.is_secret else describe(given)
        raise bad_value(origin, name or setting.name, shown, expected(setting))
    return value


def bad_value(origin: str, name: str, given: str, expected: str) -> Refusal:
    return refuse("settings.value", origin=origin, name=name, given=given, expected=expected)


# -- checks -----------------------------------------------------------------------------------


def is_text(given: object, most: int) -> bool:
    return isinstance(given, str) and len(given) <= most and given.isprintable()


def _check_text(setting: Setting, given: object) -> str | None:
    return str(given) if is_text(given, setting.most) else None


def _check_word(setting: Setting, given: object) -> str | None:
    """It becomes one argument of a command line: it must not look like an option, and must stay one word."""
    word = _check_text(setting, given)
    return None if word is None or word.startswith("-") or " " in word else word


def _check_duration(setting: Setting, given: object) -> int | None:
    if isinstance(given, int) and 0 <= given < _LARGEST_INT:
        given = str(given)
    if not isinstance(given, str):
        return None
    try:
        return parse_duration(given, least_ms=setting.least, most_ms=setting.most)
    except Refusal:
        return None


def _check_count(setting: Setting, given: object) -> int | None:
    if not isinstance(given, int) or isinstance(given, bool):
        return None
    return given if setting.least <= given <= setting.most else None


def _check_switch(_: Setting, given: object) -> bool | None:
    return given if isinstance(given, bool) else None


def _check_fold(_: Setting, given: object) -> str | None:
    if isinstance(given, bool):
        return "true" if given else "false"
    return "auto" if given == "auto" else None


def _check_schemes(_: Setting, given: object) -> tuple[str, ...] | None:
    if not isinstance(given, list) or len(given) > MAX_SCHEMES:
        return None
    names = tuple(name for name in given if isinstance(name, str) and _is_scheme(name))
    return names if len(names) == len(given) else None


def _is_scheme(text: str) -> bool:
    return 0 < len(text) <= _MAX_SCHEME_CHARS and text[0].islower() and _SCHEME.issuperset(text)


def _check_list(setting: Setting, given: object) -> tuple[str, ...] | None:
    if not isinstance(given, list) or len(given) > MAX_ITEMS:
        return None
    return tuple(given) if all(item and is_text(item, setting.most) for item in given) else None


def _check_words(setting: Setting, given: object) -> tuple[str, ...] | None:
    """The words of one command: arguments may be empty, the program may not."""
    if not isinstance(given, list) or len(given) > MAX_ITEMS or (given and not given[0]):
        return None
    return tuple(given) if all(is_text(item, setting.most) for item in given) else None


def _check_choice(setting: Setting, given: object) -> str | None:
    return given if isinstance(given, str) and given in setting.choices else None


def _check_size(setting: Setting, given: object) -> int | None:
    if given == "" and setting.least == 0:
        return 0
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < 1 << 63:
        given = str(given)
    if not isinstance(given, str):
        return None
    try:
        return parse_size(given, least_bytes=setting.least, most_bytes=setting.most)
    except Refusal:
        return None


def _check_money(setting: Setting, given: object) -> int | None:
    """Zero is refused: the user means "spend nothing" and would get "no limit"."""
    if given == "":
        return 0
    micros = micros_of(given)
    return micros if micros is not None and 0 < micros <= setting.most else None


def micros_of(given: object) -> int | None:
    """Dollars as text or as a number, in micros."""
    if isinstance(given, float):
        return micros_of_float(given)
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < _LARGEST_INT:
        given = str(given)
    if not isinstance(given, str):
        return None
    try:
        return parse_money(given)
    except Refusal:
        return None


_CHECKS: dict[str, Callable[[Setting, object], object]] = {
    TEXT: _check_text,
    COMMAND: _check_text,
    WORD: _check_word,
    DURATION: _check_duration,
    COUNT: _check_count,
    SWITCH: _check_switch,
    FOLD: _check_fold,
    SCHEMES: _check_schemes,
    LIST: _check_list,
    COMMANDS: _check_list,
    WORDS: _check_words,
    CHOICE: _check_choice,
    SIZE: _check_size,
    MONEY: _check_money,
}


# -- from text --------------------------------------------------------------------------------


def from_text(kind: str, text: str) -> object:
    """The text of a variable or flag as the value that a file would have; unchanged if it is unusable."""
    word = text.strip()
    if kind in (SWITCH, FOLD):
        return _WORDS.get(word.lower(), text)
    if kind == COUNT:
        return int(word) if word.isascii() and word.isdecimal() and len(word) <= 15 else text
    if kind in (SCHEMES, LIST):
        return [name.strip() for name in text.split(",") if name.strip()]
    if kind == COMMANDS:  # a comma is common in a command, a line break is not
        return [line.strip() for line in text.split("\n") if line.strip()]
    return text


# -- words ------------------------------------------------------------------------------------


def expected(setting: Setting) -> str:
    """A description of the allowed values, for a refusal and for the reference."""
    return _EXPECTED[setting.kind](setting)


_EXPECTED: dict[str, Callable[[Setting], str]] = {
    TEXT: lambda s: f"a text of at most {s.most} printable characters",
    COMMAND: lambda s: f"a command of at most {s.most} printable characters, on one line",
    WORD: lambda s: f'a word of at most {s.most} characters without spaces, not beginning with "-"',
    DURATION: lambda s: (
        f'a duration from {write_duration(s.least)} to {write_duration(s.most)}, like "90s" or "1h30m"'
    ),
    COUNT: lambda s: f"a whole number from {s.least} to {s.most}",
    SWITCH: lambda _: "true or false",
    FOLD: lambda _: '"auto", true or false',
    SCHEMES: lambda _: f'a list of at most {MAX_SCHEMES} names of a-z, 0-9 and "-", a letter first',
    LIST: lambda s: f"a list of at most {MAX_ITEMS} texts of at most {s.most} printable characters",
    COMMANDS: lambda s: f"a list of at most {MAX_ITEMS} commands of at most {s.most} printable characters",
    WORDS: lambda _: f'a list of at most {MAX_ITEMS} words, the program first, like ["npm", "test"]',
    CHOICE: lambda s: "one of " + ", ".join(f'"{choice}"' for choice in s.choices),
    SIZE: lambda s: f'a size from {write_size(s.least)} to {write_size(s.most)}, like "10MiB" or "500MB"',
    MONEY: lambda s: f'US dollars up to {s.most // 1_000_000}, like "2.50", or "" for no limit',
}


def describe(given: object) -> str:
    """A short description: a value from a file can have any size and depth."""
    if isinstance(given, str):
        return f'"{shorten(given, 50)}"'
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int):
        return str(given) if abs(given) < _LARGEST_INT else "a very large number"
    kinds = {float: "a number with a fraction", list: "a list", dict: "a table"}
    return kinds.get(type(given), "a date or time")


def write_value(setting: Setting, value: object) -> object:
    """The value as it is written in a settings file; reading it gives the same value."""
    if setting.kind == DURATION and isinstance(value, int):
        return write_duration(value)
    if setting.kind == SIZE and isinstance(value, int):
        return write_size(value)
    if setting.kind == MONEY and isinstance(value, int):
        return write_money(value) if value else ""
    return list(value) if isinstance(value, tuple) else value


def write_duration(duration_ms: int) -> str:
    """As it is written in a settings file: exact. Days are used from two days on: 24h is not written "1d"."""
    written, left_ms = "", duration_ms
    for unit, unit_ms in (("d", DAY_MS), ("h", HOUR_MS), ("m", MINUTE_MS), ("s", SECOND_MS), ("ms", 1)):
        if left_ms >= unit_ms and not (unit == "d" and left_ms < 2 * DAY_MS):
            count, left_ms = divmod(left_ms, unit_ms)
            written += f"{count}{unit}"
    return written or "0s"
