"""Check free texts of people and agents (notes, titles, reasons): their length, and that every engine can
store them."""

from __future__ import annotations

from lineclear.core.words.refusals import refuse


def check_words(kind: str, text: str, most_chars: int, *, least_chars: int = 0) -> None:
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise refuse("input.bad", name=kind, given=text, why="it contains bytes that are not UTF-8")
    if "\0" in text:
        raise refuse("input.bad", name=kind, given=text, why="it contains a NUL character")
    if not least_chars <= len(text) <= most_chars:
        raise refuse(
            "input.bad", name=kind, given=text, why=f"it must have {least_chars} to {most_chars} characters"
        )
