"""What a merge answers: one text, the conflicts left in it, and which rule settled every other place.

Values only; no rule of merging lives here.
"""

from __future__ import annotations


class Labels:
    """The names written beside the markers."""

    __slots__ = ("left", "base", "right")

    def __init__(self, left: str = "ours", base: str = "base", right: str = "theirs") -> None:
        self.left = left
        self.base = base
        self.right = right


class Settings:
    """Bounds of one merge. Work is counted in steps, not in seconds: every machine answers alike."""

    __slots__ = ("max_bytes", "steps_per_byte")

    def __init__(self, max_bytes: int = 4_000_000, steps_per_byte: int = 3) -> None:
        self.max_bytes = max_bytes
        self.steps_per_byte = steps_per_byte


class Conflict:
    """One place that a person must decide; the lines are 1-based and include the markers."""

    __slots__ = ("first_line", "last_line", "kind", "symbols", "doubt", "rule")

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
    """`text` is always a string; it holds markers exactly where `conflicts` says."""

    __slots__ = ("text", "conflicts", "rules", "verdict")

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
