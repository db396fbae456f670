"""A verb in one round trip, for a surface that stays: with a far store, who asks and what it wants are one
question. What the verb says is kept until all of it is committed, and then said with true numbers.
"""

from __future__ import annotations

from copy import copy

from lineclear.cli.render import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from lineclear.cli.command import Command, Context
    from lineclear.wiring.repo import Repo
    from lineclear.wiring.together import Settled

# They do nothing outside of the store, so that they may be tried again.
VERBS = frozenset(
    (
        "claim", "release", "who", "status", "say", "inbox", "task next", "task note", "task add",
        "task list", "task show", "value get", "value put",
    )
)  # fmt: skip
# Whoever waits, or looks on, asks many times.
_STAYS = ("wait", "watch", "follow")


class _NotAtOnce(Exception):
    """It says something before its end."""


def perform_at_once(verb: str, command: Command, context: Context, args: Namespace) -> int | None:
    """The exit code, with everything said; None, and nothing done, when it has to be asked step by step."""
    if verb not in VERBS or any(getattr(args, name, False) for name in _STAYS):
        return None
    if not context.opened.settings.store_url:
        return None
    from lineclear.wiring.together import at_once

    def work(inner: Repo) -> tuple[int, _Kept]:
        kept = _Kept(context)
        return command.run(context.beside(inner, kept), args) or 0, kept  # type: ignore[arg-type]

    try:
        found = at_once(context.repo, work)
    except _NotAtOnce:
        return None
    if found is None:
        return None
    (code, kept), settled = found
    kept.say(context, settled)
    return code


class _Kept:
    """Stands in for the output: what is said is kept."""

    __slots__ = ("_said", "is_json", "is_rich", "warnings")

    def __init__(self, context: Context) -> None:
        self.is_json, self.is_rich, self.warnings = context.out.is_json, False, list(context.out.warnings)
        self._said: list[tuple[str, tuple[Any, ...]]] = []

    def data(self, data: Any, *lines: Any) -> None:
        self._said.append(("data", (data, *lines)))

    def content(self, data: Any, text: str) -> None:
        self._said.append(("content", (data, text)))

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        self._said.append(("warn", (text,)))

    def hint(self, text: str) -> None:
        self._said.append(("hint", (text,)))

    def __getattr__(self, name: str) -> Any:
        raise _NotAtOnce(name)

    def say(self, context: Context, settled: Settled) -> None:
        for name, words in self._said:
            getattr(context.out, name)(*(_true(word, settled) for word in words))


def _true(word: Any, settled: Settled) -> Any:
    if not isinstance(word, Table):
        return settled.of(word)
    table = copy(word)
    table.rows = settled.of(list(word.rows))
    return table
