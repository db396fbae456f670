"""What a shell command has changed, judged like edits: announced where that is right, reported where not."""

from __future__ import annotations

from lineclear.app.hooks_claims import change_intents
from lineclear.app.hooks_judging import JUDGEMENTS, judge
from lineclear.core import hooks
from lineclear.core.refusals import Refusal, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.hooks_ports import Change, Desk, Spot

MOST_REPORTED = 5


def judge_changes(desk: Desk, changes: list[Change]) -> list[str]:
    """The words for the model, if there are any. Nothing is undone here: the model is told how."""
    forbidden: list[tuple[str, str]] = []
    allowed: list[Spot] = []
    for change in changes[: hooks.MOST_PATHS]:
        spot = desk.locate(f"{desk.root}/{change.path}")
        if spot is None:
            continue
        why = _refusal(desk, spot)
        if why:
            forbidden.append(_report(why, change))
            continue
        allowed.append(spot)
        if spot.is_shared and change.is_sure:
            digest = desk.digest(spot)
            desk.memory.set("version", spot.path, digest)
            desk.note_write(spot, digest)
    change_intents(desk, [spot for spot in allowed if not spot.is_shared], lambda _spot: "")
    if not forbidden:
        return []
    more = len(forbidden) - MOST_REPORTED
    shown = forbidden[:MOST_REPORTED]
    if more > 0:
        shown.append((f"{more} more: `git status` shows them.", ""))
    return [hooks.shell_report(shown)]


def _refusal(desk: Desk, spot: Spot) -> str:
    try:
        desk.store.read(lambda view: judge(view, desk, spot))
    except Refusal as refusal:
        if not refusal.code.startswith(JUDGEMENTS):
            raise
        return " ".join(part for part in (refusal.what, refusal.who) if part)
    return ""


def _report(why: str, change: Change) -> tuple[str, str]:
    if change.is_sure:
        return why, change.undo
    return f"{why} (Somebody else may have changed {shorten(change.path, 80)} meanwhile.)", ""
