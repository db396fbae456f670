"""What a shell command has changed: find the agent's own changes among all, and judge them like edits.

Allowed changes are announced, forbidden ones reported.
"""

from __future__ import annotations

from lineclear.app.hooks.claims import ANNOUNCED, announce
from lineclear.app.hooks.judging import JUDGEMENTS, judge
from lineclear.app.hooks.ports import ShellChange
from lineclear.core.agents import hooks
from lineclear.core.agents.names import is_family
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import CLAIM
from lineclear.core.words.refusals import Refusal, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.hooks.call_context import HookSession
    from lineclear.app.hooks.ports import FileInTree, HookFiles, ShellLook, WriteLog

MOST_REPORTED = 5
# In a session's memory: how to undo the agent's first forbidden change of a path.
UNDO = "undo"
_LONGEST_CALL_NS = 10 * 60 * 1_000_000_000


def own_changes(
    look: ShellLook, files: HookFiles, root: str, others: WriteLog | None, tree: str, agent: str
) -> list[ShellChange]:
    """What the commands changed, without known writes of others; a change that others may have made is not
    sure. `others`: the write log of a shared tree."""
    theirs, is_alone = _others_since(others, look.start_ns, tree, agent) if others is not None else ({}, True)
    changes = []
    for path in look.changed:
        digest = theirs.get(path)
        if digest is None or (files.digest(f"{root}/{path}") or "gone") != digest:
            changes.append(ShellChange(path, look.undo(path), is_alone and digest is None))
    return changes


def _others_since(writes: WriteLog, start_ns: int, tree: str, agent: str) -> tuple[dict[str, str], bool]:
    """(path -> digest of what others wrote since then, True if no command of theirs ran meanwhile)."""
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


def judge_changes(session: HookSession, changes: list[ShellChange], command: str = "") -> list[str]:
    """A report for the model, if there is one. Nothing is undone here: the report says how to do it.

    `command`: the command, if it is known which one made the changes.
    """
    forbidden: list[tuple[str, str]] = []
    own: list[FileInTree] = []
    for change in changes[: hooks.MOST_PATHS]:
        file = session.locate(f"{session.root}/{change.path}")
        if file is None:
            continue
        refusal = _refusal(session, file)
        if refusal is None:
            session.memory.set(UNDO, file.path, "")
        if refusal is not None:
            undo = _first_undo(session, file, change)
            if undo and command.strip() == undo:
                session.memory.set(UNDO, file.path, "")
                continue
            why = " ".join(part for part in (refusal.what, refusal.who) if part)
            _tell_holder(session, file, refusal, is_sure=change.is_sure)
            if not change.is_sure:
                why += f" (Another agent may have changed {shorten(change.path, 80)} in the meantime.)"
            forbidden.append((why, undo))
        elif not file.is_shared:
            own.append(file)
            session.memory.set(ANNOUNCED, f"{session.root}/{change.path}", "1")
            if session.has_relatives(file.tree):
                session.after_commit(_noting_unclaimed(session, file))
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


def _first_undo(session: HookSession, file: FileInTree, change: ShellChange) -> str:
    """The command that restores the content from before the first forbidden change: a later change began with
    what the agent itself had left. If others have written the file since, their content counts."""
    if not change.is_sure:
        return ""
    writes = str(session.writes_of_others(file))
    known, _, undo = session.memory.get(UNDO, file.path).partition(" ")
    if undo and known == writes:
        return undo
    session.memory.set(UNDO, file.path, f"{writes} {change.undo}" if change.undo else "")
    return change.undo


def _noting(session: HookSession, file: FileInTree) -> Callable[[], None]:
    """A function that notes the write after the commit: nobody should wait for the store while we read
    files."""

    def note() -> None:
        digest = session.digest(file)
        session.memory.set("version", file.path, digest)
        session.note_write(file, digest)

    return note


def _noting_unclaimed(session: HookSession, file: FileInTree) -> Callable[[], None]:
    """The same among relatives, unless one of them wrote this content with an edit while the command ran."""

    def note() -> None:
        digest = session.digest(file)
        if not session.last_writer(file, digest):
            session.note_write(file, digest)

    return note


def _tell_holder(session: HookSession, file: FileInTree, refusal: Refusal, *, is_sure: bool) -> None:
    """A holder that works in the same tree relies on its claim: it must hear that its file was changed. What
    it may have changed itself is not urgent."""
    if refusal.code != "claim.held":
        return
    holder = str(refusal.facts["holder"])
    claim = session.tx.get(CLAIM, (holder, str(refusal.facts["held"])))
    if claim is not None and claim.tree == file.tree:
        audience = f"agent:{holder}"
        words = hooks.intrusion(session.caller.name, file.resource.text, is_sure=is_sure)
        session.tx.append(Draft("MessageSent", audience, audience=audience, urgent=int(is_sure), text=words))


def _refusal(session: HookSession, file: FileInTree) -> Refusal | None:
    """Why the agent may not change the file; None if it may."""
    try:
        judge(session.tx, session, file)
    except Refusal as refusal:
        if not refusal.code.startswith(JUDGEMENTS):
            raise
        return refusal
    return None
