"""Checks the names that people and agents type: agents, topics, operations, labels, tasks.

On the hook's path: imports nothing but refusals. Checks how a name is written, never whether it exists.
"""

from __future__ import annotations

from lineclear.core.words.refusals import refuse

MAX_NAME_CHARS, MAX_LEVELS = 64, 4
MAX_LABEL_CHARS, MAX_OPERATION_CHARS = 40, 200
# Many JSON readers use 64-bit floats, which hold fifteen digits exactly.
MAX_TASK_DIGITS = 15
# The prefix of operation ids that a command made for itself, so that it can retry after a lost connection.
OWN_OPERATION = "own:"

# As an agent's name these would be ambiguous ("to all", "me") or sound like us.
RESERVED = frozenset(("all", "me", "nobody", "lineclear", "system"))

_DIGITS = frozenset("0123456789")
_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz") | _DIGITS
_PLAIN = _SMALL | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NAME = _PLAIN | frozenset("._-")
_LABEL = _SMALL | frozenset("._/-")


def is_main_tree(tree: str) -> bool:
    """Is this the name of a clone's main worktree? In a shared store the clone's name comes first."""
    return tree.rpartition("/")[2] == "main"


def agent_name(text: str) -> str:
    """A name, or up to four of them joined by "/" (a sub-agent below its parent)."""
    return _levels("agent name", text)


def topic_name(text: str) -> str:
    """Written like an agent's name. The two cannot be confused: an address says which one it is."""
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
    """Is this one valid level of a name? The first character rules out ".", ".." and options."""
    return 0 < len(text) <= MAX_NAME_CHARS and text[0] in _PLAIN and _NAME.issuperset(text)


def is_family(a: str, b: str) -> bool:
    """Are these the same agent, or is one a sub-agent of the other, at any depth? Siblings are not family."""
    return a == b or a.startswith(b + "/") or b.startswith(a + "/")


def is_kin(a: str, b: str) -> bool:
    """Do both descend from one agent, siblings included? Whoever speaks for one can speak for the other."""
    return a.partition("/")[0] == b.partition("/")[0]


def clone_suffixes(clone: str) -> tuple[str, ...]:
    """What a worker's name may end with, best first, so that it differs from those of other clones."""
    number = clone.rpartition("-")[2]
    return "", f"-{number[:4]}", f"-{number}"


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
    """The canonical "T-12", from "T-12", "t-12", "#12" or "12"."""
    number = text[2:] if text[:2] in ("T-", "t-") else text.removeprefix("#")
    if not is_count(number):
        raise refuse("input.bad", name="task", given=text, why="a task is written like T-12")
    return "T-" + number


def is_count(text: str) -> bool:
    """Is this a whole number from 1, in ASCII digits without leading zeros?"""
    return 0 < len(text) <= MAX_TASK_DIGITS and text[0] != "0" and _DIGITS.issuperset(text)
