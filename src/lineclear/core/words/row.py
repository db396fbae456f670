"""The exit codes, and the templates of one refusal: a row. refusals.py turns rows into text."""

from __future__ import annotations

# Exit codes of the command line (design, section 13).
FAILED, USAGE, HELD, NOT_ALLOWED, NOT_FOUND, FINDINGS, STALE, TIMED_OUT, BUDGET = 1, 2, 3, 4, 5, 6, 7, 8, 9


class Row:
    """The wording of one refusal. A sentence is one template, or a tuple of alternatives.

    `words` names the facts that only the sentences need: they are not part of the data.
    """

    __slots__ = ("exit_code", "next", "next_is", "what", "who", "words")

    def __init__(
        self,
        exit_code: int,
        what: str | tuple[str, ...],
        *,
        who: str | tuple[str, ...] = "",
        next: str | tuple[str, ...] = "",
        next_is: str = "run",
        words: tuple[str, ...] = (),
    ) -> None:
        self.exit_code, self.next_is, self.words = exit_code, next_is, words
        self.what = (what,) if isinstance(what, str) else what
        self.who = (who,) if isinstance(who, str) else who
        self.next = (next,) if isinstance(next, str) else next
