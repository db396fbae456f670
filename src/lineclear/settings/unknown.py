"""Warnings about unknown keys, sections and variables, each with the most similar known name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.words.refusals import shorten

if TYPE_CHECKING:
    from lineclear.settings.table import Settings

MAX_WARNINGS = 20


def warn_of_unknown(settings: Settings, origin: str, kind: str, name: str, known: tuple[str, ...]) -> None:
    warn(
        settings,
        f'{origin}: the {kind} "{shorten(name, 60)}" is unknown and ignored' + suggestion(name, known),
    )


def warn(settings: Settings, text: str) -> None:
    if len(settings.warnings) < MAX_WARNINGS:
        settings.warnings.append(text)
    elif len(settings.warnings) == MAX_WARNINGS:
        settings.warnings.append("There are more warnings, not shown.")


def suggestion(name: str, known: tuple[str, ...]) -> str:
    """The most similar key: from the same section if there is one, else from any."""
    from difflib import get_close_matches

    section, _, key = name.rpartition(".")
    for group in ([other for other in known if other.startswith(section + ".")], known):
        by_key = {other.rpartition(".")[2]: other for other in group}
        for near in get_close_matches(key[:100], by_key, 1):
            return f'; did you mean "{shorten(by_key[near], 70)}"?'
    return "."
