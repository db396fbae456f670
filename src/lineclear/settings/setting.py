"""One setting: its kind, default, bounds, help, and who may set it from where. On the hook's path."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PREFIX = "LINECLEAR_"

TEXT, WORD, DURATION, COUNT, SWITCH, FOLD = "text", "word", "duration", "count", "switch", "fold"
SCHEMES, LIST, SIZE, MONEY, CHOICE = "schemes", "list", "size", "money", "choice"
# A shell command, several shell commands, the words of one command.
COMMAND, COMMANDS, WORDS = "command", "commands", "words"

# When a value of the team's file needs `lineclear trust`: when it is used (a command that would run it is
# refused until then), or before it counts at all (the default counts until then).
ON_USE, TO_COUNT = "on use", "to count"

# What a variable can do for a caller who is, or may be, an agent: all that it does for a person; pick a later
# choice (they go from the loosest to the strictest); set what no file sets; or nothing.
FREELY, STRICTER, IF_UNSET, NEVER = "freely", "stricter", "if unset", "never"

# Which version of the team's file counts: the file in the main worktree, committed or not; the file that the
# landing branch has committed; or the first for agents' worktrees and the second for check trees.
IN_WORKTREE, ON_MAIN, BOTH = "worktree", "main", "both"

_UNITS = {DURATION: "_ms", SIZE: "_bytes", MONEY: "_micros"}


class Setting:
    """One key. `least` and `most` bound a number; `most` also bounds the length of a text.

    Who may set it: a person may in the team's file, in this clone's own file, by a variable and by a flag.
    `read_from` says which version of the team's file counts, `trust` whether it needs `lineclear trust` (""
    if not), and `is_harmless(value, root)` which values need none. `agents` says what an agent's variable can
    do: unless stated, nothing where the setting needs trust or decides what lands. The loader enforces all of
    it.
    `inherits` names the setting that a worker's key defaults to.
    A MONEY of zero means "no limit" and is written as the empty text.
    """

    __slots__ = (
        "agents", "attribute", "choices", "default", "help", "inherits", "is_harmless", "is_secret", "kind",
        "least", "most", "name", "read_from", "trust", "variable",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        default: object,
        help: str,
        *,
        least: int = 0,
        most: int = 0,
        choices: tuple[str, ...] = (),
        is_secret: bool = False,
        trust: str = "",
        is_harmless: Callable[[Any, str], bool] | None = None,
        read_from: str = IN_WORKTREE,
        agents: str = "",
        inherits: str = "",
    ) -> None:
        self.kind, self.default, self.help = kind, default, help
        self.least, self.most, self.choices, self.is_secret = least, most, choices, is_secret
        self.trust = trust or (ON_USE if kind in (COMMAND, COMMANDS) else "")
        self.is_harmless = is_harmless
        self.read_from, self.inherits = read_from, inherits
        self.agents = agents or (NEVER if self.trust or read_from == ON_MAIN else FREELY)
        self.attribute = self.name = self.variable = ""

    def needs_trust(self, value: object, root: str) -> bool:
        """Must a person have trusted this value of the team's file? `root`: of the main worktree."""
        if not self.trust or value == self.default:
            return False
        return self.is_harmless is None or not self.is_harmless(value, root)

    def agent_may_set(self, before: object, after: object) -> bool:
        """May an agent's variable change the value that the files give it?"""
        if self.agents == FREELY or before == after:
            return True
        if self.agents == STRICTER:
            return self.choices.index(str(after)) > self.choices.index(str(before))
        return self.agents == IF_UNSET and not before

    @property
    def about(self) -> str:
        """The first sentence of the help, for a line of a table."""
        return self.help.partition(". ")[0].removesuffix(".")


# Declares one row of a table of settings, as a class attribute that has the type of the setting's value.
setting: Callable[..., Any] = Setting


def rows_of(table: type, *, has_sections: bool) -> tuple[Setting, ...]:
    """The rows of a table in their order, each with the names that follow from its attribute.

    `claims_ttl_ms` is the key `ttl` in the section `claims`, and LINECLEAR_CLAIMS_TTL.
    """
    rows = []
    for attribute, row in vars(table).items():
        if isinstance(row, Setting):
            plain = attribute.removesuffix(_UNITS.get(row.kind, ""))
            row.attribute, row.variable = attribute, PREFIX + plain.upper()
            row.name = plain.replace("_", ".", 1) if has_sections else plain
            rows.append(row)
    return tuple(rows)
