"""What a shell command has changed, judged like edits: announced where that is right, reported where not."""

from __future__ import annotations

from lineclear.app.hooks.claims import ANNOUNCED, announce
from lineclear.app.hooks.judging import JUDGEMENTS, judge
from lineclear.app.hooks.ports import ShellChange
from lineclear.core.agents import hooks
from lineclear.core.agents.names import is_family
from lineclear.core.words.refusals import Refusal, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.hooks.ports import FileInTree, HookFiles, ShellLook, WriteLog
    from lineclear.app.hooks.session import HookSession

MOST_REPORTED = 5
_LONGEST_CALL_NS = 10 * 60 * 1_000_000_000


def own_changes(
    look: ShellLook, files: HookFiles, root: str, others: WriteLog | None, tree: str, agent: str
) -> list[ShellChange]:
    """What commands changed, without what others are known to have written; what they might have written is
    unsure. `others`: who wrote what in this tree, where several work in it."""
    theirs, is_alone = _others_since(others, look.start_ns, tree, agent) if others is not None else ({}, True)
    changes = []
    for path in look.changed:
        digest = theirs.get(path)
        if digest is None or (files.digest(f"{root}/{path}") or "gone") != digest:
            changes.append(ShellChange(path, look.undo(path), is_alone and digest is None))
    return changes


def _others_since(writes: WriteLog, start_ns: int, tree: str, agent: str) -> tuple[dict[str, str], bool]:
    """What others wrote since then, and whether no command of another's ran meanwhile."""
    running: dict[str, bool] = {}
    theirs: dict[str, str] = {}
    is_alone = True
    for at_ns, writer, path, digest in writes.since(start_ns - _LONGEST_CALL_NS, tree):
        if is_family(writer, agent):
            continue
        if digest in ("+", "-"):
            running[writer] = digest == "+"
            is_alone = is_alone and at_ns < start_ns
        elif at_ns >= start_ns:
            theirs[path] = digest
    return theirs, is_alone and not any(running.values())


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
