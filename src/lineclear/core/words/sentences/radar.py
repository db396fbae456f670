"""Refusals about the radar: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import NOT_FOUND, USAGE, Row

ROWS = {
    "radar.kind": Row(
        USAGE,
        'The radar has no kind of finding "{kind}".',
        who="There are: {known:160}.",
        next="lineclear radar --help",
    ),
    "radar.side": Row(
        NOT_FOUND,
        'There is no agent or branch "{name}" whose work could be compared.',
        who=("At work: {known:100}.", "Nobody is at work."),
        next="lineclear radar",
    ),
}
