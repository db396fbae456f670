"""The result of a merge: one text, the conflicts left in it, and which rule settled every other place.

Values only; no rules.
"""

from __future__ import annotations

from dataclasses import dataclass

from lineclear.code.parse import MAX_SIZE


@dataclass(frozen=True, slots=True)
class Labels:
    """The names next to the conflict markers."""

    left: str = "ours"
    base: str = "base"
    right: str = "theirs"


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of one merge. Work is counted in steps, not in seconds, so that every machine gives one
    result."""

    max_bytes: int = MAX_SIZE
    steps_per_byte: int = 3


class Conflict:
    """One place that a person must decide; the lines are 1-based and include the markers."""

    def __init__(
        self,
        first_line: int,
        last_line: int,
        kind: str = "content",
        symbols: list[str] | None = None,
        doubt: str = "",
        rule: str = "",
    ) -> None:
        self.first_line = first_line
        self.last_line = last_line
        self.kind = kind
        self.symbols = symbols or []
        self.doubt = doubt
        self.rule = rule


class MergeResult:
    """`text` has markers exactly where `conflicts` says. `rules`: (place, rule) of each settled place."""

    def __init__(
        self,
        text: str,
        conflicts: list[Conflict] | None = None,
        rules: list[tuple[str, str]] | None = None,
        verdict: str = "",
    ) -> None:
        self.text = text
        self.conflicts = conflicts or []
        self.rules = rules or []
        self.verdict = verdict

    @property
    def is_clean(self) -> bool:
        return not self.conflicts
