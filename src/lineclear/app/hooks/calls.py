"""Answer one hook call: ask git first, then the store once. Effects outside the store wait for its commit."""

from __future__ import annotations

from lineclear.app.agents.whoami import signs_of
from lineclear.app.hooks import events
from lineclear.app.hooks.call_context import HookSession
from lineclear.app.one_transaction import in_one_step
from lineclear.app.ports import Caller
from lineclear.core.agents.hooks import (
    AFTER_EDIT,
    AFTER_SHELL,
    BEFORE_EDIT,
    BEFORE_SHELL,
    PROMPT,
    SESSION_END,
    SESSION_START,
    STOP,
    HookAnswer,
)
from lineclear.core.log.tables import AGENT, CLAIM, TASK, WAIT, WORKTREE
from lineclear.core.tasks.states import TAKEN
from lineclear.core.words.refusals import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.app.hooks.ports import HookPlace, Memory
    from lineclear.app.ports import Tx, View
    from lineclear.core.agents.hooks import HookCall
    from lineclear.core.log.queries import Question

# The environment variable with a call's id. The stub repeats a call if the process that answers it is killed.
CALL = "LINECLEAR_CALL"
# Events at which a snapshot may be due.
_SAVED = (BEFORE_EDIT, AFTER_EDIT, BEFORE_SHELL, AFTER_SHELL, PROMPT, STOP, SESSION_END)


def home_of(memory: Memory, root: str, name: str, *, is_main: bool) -> str:
    """The root of the session's own worktree, given the root and name of the one that the call comes from.

    A session stays where it began: an agent that changes into another agent's directory does not move there.
    In the main worktree, or one that the session knows as its own, it has moved.
    """
    home = memory.get("home")
    return home if home and not is_main and memory.get("owner", name) != "mine" else root


def answer_call(place: HookPlace, call: HookCall, memory: Memory, *, saves: bool) -> HookAnswer:
    """Answer one call from the store. `saves`: a snapshot may be started in another process."""
    look = None
    commands, is_over = events.commands_to_look_at(memory, call)
    if commands:
        look = place.shell.look(memory, commands, is_over=is_over)
    changed = [f"{place.root}/{path}" for path in look.changed] if look is not None else []
    caller = Caller("", tree=place.tree, keep_ms=place.rules.keep_ms)
    signs = signs_of(place.environ, person=place.person, client=call.client, session=call.session)

    def work(tx: Tx) -> tuple[HookSession, HookAnswer] | None:
        if call.event == SESSION_END and _is_unknown_session(tx, call, place.environ):
            return None  # it would have to begin only to end
        head = tx.head
        session = HookSession(place, call, tx, memory.copy(), caller, signs, look)
        reply = events.answer(session, call)
        session.is_changed = session.is_changed or tx.head != head
        return session, reply

    is_write_likely = events.is_write_likely(
        memory, place.presence, call, is_main=place.is_main, changed=changed
    )
    near = _near(place, call, memory, changed) if place.rules.is_team else ()
    done = in_one_step(place.store, caller, work, is_write_likely=is_write_likely, near=near)
    if done is None:
        return HookAnswer()
    session, reply = done
    session.finish(reply, place.environ.get(CALL, ""))
    if saves and call.event in _SAVED and call.session:
        _save_beside(place, call, session.caller.name)
    return reply


def _is_unknown_session(view: View, call: HookCall, environ: Mapping[str, str]) -> bool:
    if not call.session or environ.get("LINECLEAR_AGENT") or environ.get("LINECLEAR_TOKEN"):
        return False
    return not view.pick(AGENT, "session", (call.session,))


def _near(place: HookPlace, call: HookCall, memory: Memory, changed: list[str]) -> list[Question]:
    """The questions that the answer will probably ask, to send them to a remote store at once."""
    from lineclear.app.claims import near_claims
    from lineclear.app.messages import near_reader
    from lineclear.core.log.queries import any_of, by_index, by_key

    name = memory.get("agent")
    asked = [any_of(AGENT, "tree", place.tree), by_key(WORKTREE, place.tree)]
    if call.session:
        asked.append(any_of(AGENT, "session", call.session))
    if name:
        asked += [by_key(AGENT, name), any_of(CLAIM, "key", name), *near_reader(name)]
    if call.event in (BEFORE_EDIT, AFTER_SHELL, SESSION_START, PROMPT):
        asked += [by_index(WAIT, "key"), by_index(TASK, "ready", TAKEN)]
    for path in [*changed, *(call.paths if call.event == BEFORE_EDIT else ())]:
        try:
            resource = place.files.find(path)[2]
        except Refusal:
            continue  # outside the repository
        asked += near_claims([resource])
        if name:
            asked.append(by_key(CLAIM, name, resource.text))
    return asked


def _save_beside(place: HookPlace, call: HookCall, agent: str) -> None:
    """Start a snapshot in another process, if the session has changed files since the last one, enough
    time has passed, and nobody else saves them."""
    is_edit, now_ns = call.event == AFTER_EDIT, place.clock.now().wall_ns
    changed_ns = now_ns if is_edit else place.session_files.edited_ns()
    saved_ns = place.worktree.saved_ns()
    if changed_ns <= saved_ns or place.is_check:
        return
    try:
        if now_ns - saved_ns < place.rules.every_ms * 1_000_000:
            if is_edit:
                place.session_files.note_edit()  # a later call takes the snapshot if nobody else does
                place.worktree.note_edit()
        elif not _is_kept_safe(place):
            place.worktree.save_beside(agent.partition("/")[0])
        elif is_edit:
            place.worktree.note_edit()
    except OSError:
        pass  # the answer is more important


def _is_kept_safe(place: HookPlace) -> bool:
    """Does a server, or the supervisor whose agent works here, save this worktree?"""
    if place.worktree.is_served():
        return True
    if not place.worktree.is_supervised():
        return False
    from lineclear.app.runs.records import live_runs

    return place.tree in [run.tree for run in place.store.read(live_runs)]
