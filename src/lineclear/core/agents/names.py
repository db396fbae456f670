"""The names people and agents type: agents, topics, operations, labels, tasks. Each is checked here, once.

On the hook's path: imports nothing but our own words. Checks how a name is written, never whether it exists.
"""

from __future__ import annotations

from lineclear.core.words.refusals import refuse

MAX_NAME_CHARS, MAX_LEVELS = 64, 4
MAX_LABEL_CHARS, MAX_OPERATION_CHARS = 40, 200
# Fifteen digits stay exact wherever a number is a 64-bit float, as in many readers of JSON.
MAX_TASK_DIGITS = 15
# Operation ids that nobody gave: a command made one for itself, to be safe when its connection is lost.
OWN_OPERATION = "own:"

# As the first level these would read as an address ("to all") or as a person ("me").
RESERVED = frozenset(("all", "me", "nobody"))

_DIGITS = frozenset("0123456789")
_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz") | _DIGITS
_PLAIN = _SMALL | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NAME = _PLAIN | frozenset("._-")
_LABEL = _SMALL | frozenset("._/-")


def agent_name(text: str) -> str:
    """A name, or up to four of them joined by "/" (a sub-agent below its parent)."""
    return _levels("agent name", text)


def topic_name(text: str) -> str:
    """Written as an agent's name is; the two never meet, since an address says which it is."""
    return _levels("topic", text)


def _levels(kind: str, text: str) -> str:
    levels = text.split("/", MAX_LEVELS)
    if len(levels) > MAX_LEVELS:
        raise refuse(
            "input.bad", name=kind, given=text, why=f'it has more than {MAX_LEVELS} levels joined by "/"'
        )
    if not all(is_plain_name(level) for level in levels):
        why = f'each level is 1 to {MAX_NAME_CHARS} of A-Z a-z 0-9 "." "_" "-", a letter or digit first'
        raise refuse("input.bad", name=kind, given=text, why=why)
    if levels[0].lower() in RESERVED:
        raise refuse("input.bad", name=kind, given=text, why="the word is reserved")
    return text


def is_plain_name(text: str) -> bool:
    """One level of a name. The first character rules out "." and ".." and anything like an option."""
    return 0 < len(text) <= MAX_NAME_CHARS and text[0] in _PLAIN and _NAME.issuperset(text)


def is_family(a: str, b: str) -> bool:
    """The same agent, or one is above the other by its levels. Siblings are not family."""
    return a == b or a.startswith(b + "/") or b.startswith(a + "/")


def operation_id(text: str) -> str:
    if not (0 < len(text) <= MAX_OPERATION_CHARS and text.isascii() and text.isprintable()):
        why = f"it must be 1 to {MAX_OPERATION_CHARS} printable ASCII characters"
        raise refuse("input.bad", name="operation id", given=text, why=why)
    return text


def label_name(text: str) -> str:
    if not (0 < len(text) <= MAX_LABEL_CHARS and text[0] in _SMALL and _LABEL.issuperset(text)):
        why = f'it must be 1 to {MAX_LABEL_CHARS} of a-z 0-9 "." "_" "/" "-", a letter or digit first'
        raise refuse("input.bad", name="label", given=text, why=why)
    return text


def task_id(text: str) -> str:
    """The one way we write it, "T-12", from "T-12", "t-12", "#12" or "12"."""
    number = text[2:] if text[:2] in ("T-", "t-") else text.removeprefix("#")
    if not is_count(number):
        raise refuse("input.bad", name="task", given=text, why="a task is written like T-12")
    return "T-" + number


def is_count(text: str) -> bool:
    """A whole number from 1, in ASCII digits, written in the one shortest way."""
    return 0 < len(text) <= MAX_TASK_DIGITS and text[0] != "0" and _DIGITS.issuperset(text)
