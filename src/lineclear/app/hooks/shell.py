"""What a shell command has changed, judged like edits: announced where that is right, reported where not."""

from __future__ import annotations

from lineclear.app.hooks.claims import ANNOUNCED, announce
from lineclear.app.hooks.judging import JUDGEMENTS, judge
from lineclear.core.agents import hooks
from lineclear.core.words.refusals import Refusal, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.hooks.ports import FileInTree, HookSession, ShellChange

MOST_REPORTED = 5


def judge_changes(session: HookSession, changes: list[ShellChange]) -> list[str]:
    """The words for the model, if there are any. Nothing is undone here: the text tells the model how."""
    forbidden: list[tuple[str, str]] = []
    own: list[FileInTree] = []
    for change in changes[: hooks.MOST_PATHS]:
        file = session.locate(f"{session.root}/{change.path}")
        if file is None:
            continue
        why = _refusal(session, file)
        if why:
            forbidden.append(_report(why, change))
        elif not file.is_shared:
            own.append(file)
            session.memory.set(ANNOUNCED, f"{session.root}/{change.path}", "1")
        elif change.is_sure:
            session.after_commit(_noting(session, file))
    announce(session, own, lambda _file: "")
    if not forbidden:
        return []
    more = len(forbidden) - MOST_REPORTED
    shown = forbidden[:MOST_REPORTED]
    if more > 0:
        shown.append((f"{more} more: `git status` shows them.", ""))
    return [hooks.shell_report(shown)]


def _noting(session: HookSession, file: FileInTree) -> Callable[[], None]:
    """Reading the files takes time in which nobody else should have to wait for the store."""

    def note() -> None:
        digest = session.digest(file)
        session.memory.set("version", file.path, digest)
        session.note_write(file, digest)

    return note


def _refusal(session: HookSession, file: FileInTree) -> str:
    try:
        judge(session.tx, session, file)
    except Refusal as refusal:
        if not refusal.code.startswith(JUDGEMENTS):
            raise
        return " ".join(part for part in (refusal.what, refusal.who) if part)
    return ""


def _report(why: str, change: ShellChange) -> tuple[str, str]:
    if change.is_sure:
        return why, change.undo
    return f"{why} (Another agent may have changed {shorten(change.path, 80)} in the meantime.)", ""
