"""argparse that raises our refusals instead of exiting, and the types of our arguments."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lineclear.core.agents.names import task_id
from lineclear.core.durations import parse_duration
from lineclear.core.words.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    def __init__(self, *, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, allow_abbrev=False)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Name the option or argument in the refusal of its value."""
        try:
            return super()._get_value(action, arg_string)  # argparse has no public hook for this
        except Refusal as refusal:
            if refusal.code == "input.bad":
                name = action.option_strings[0] if action.option_strings else action.metavar or action.dest
                refusal.what = f"{name}: {refusal.what}"
                refusal.next = f"{self.prog} --help"
            raise

    def error(self, message: str) -> NoReturn:
        raise refuse("usage", command=self.prog, message=message)


def duration(least_ms: int, most_ms: int) -> Callable[[str], int]:
    """An argparse type; our refusals pass through argparse untouched."""

    def parse(text: str) -> int:
        return parse_duration(text, least_ms=least_ms, most_ms=most_ms)

    return parse


def task_number(text: str) -> int:
    return int(task_id(text)[2:])


def whole_number(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 18) or not least <= int(text) <= most:
            raise refuse(
                "input.bad",
                name="number",
                given=text,
                why=f"it must be a whole number from {least} to {most}",
            )
        return int(text)

    return parse


def candidate_number(text: str) -> int:
    """A candidate of the queue, written `7` or `Q-7`."""
    word = text[2:] if text[:2] in ("Q-", "q-") else text
    if not (word.isascii() and word.isdigit() and len(word) <= 15) or int(word) < 1:
        raise refuse("input.bad", name="candidate", given=text, why="it must be a number such as 7 or Q-7")
    return int(word)
