"""What to do at each event of a coding agent's hook: judge, claim, remember, tell.

Everything from outside comes through the session, which holds the call's only transaction. Refusals become
denials here and nowhere else; errors are not caught. This module knows nothing about particular clients.
"""

from __future__ import annotations

from lineclear.app.agents.heartbeat import is_renewal_due
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.hooks.call_context import HERE_NS, HookSession
from lineclear.app.hooks.claims import ANNOUNCED, UNANNOUNCED, announce, begin_short, end_shorts, writer_of
from lineclear.app.hooks.judging import JUDGEMENTS, judge
from lineclear.app.messages import inbox, mark_read_in
from lineclear.app.radar.telling import findings_for, mark_told_in
from lineclear.code.outline import symbol_at
from lineclear.core.agents import hooks
from lineclear.core.agents.hooks import HookAnswer
from lineclear.core.agents.names import is_family, is_main_tree
from lineclear.core.claims.granting import EXCLUSIVE
from lineclear.core.claims.leases import is_over
from lineclear.core.claims.strategies import LOCKED, OPTIMISTIC, READ_ONLY, SINGLE_WRITER, strategy_for
from lineclear.core.log.tables import AGENT, CLAIM, TASK
from lineclear.core.radar.telling import interrupts
from lineclear.core.tasks.states import TAKEN
from lineclear.core.words.refusals import Refusal, named, refuse, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.hooks.ports import FileInTree, Memory, ShellChange
    from lineclear.app.ports import Presence
    from lineclear.core.agents.hooks import HookCall
    from lineclear.core.log.tables import Claim, Task


# What the session's memory keeps until the next call can write it to the store.
_PENDING = ("told", "found", "short", UNANNOUNCED)


def is_write_likely(
    memory: Memory, presence: Presence, call: HookCall, *, is_main: bool, changed: list[str]
) -> bool:
    """Guess from the session's memory whether the answer will write to the store. `changed`: the paths that
    shell commands have changed."""
    name = memory.get("agent")
    if not name or is_renewal_due(presence, name) or any(map(memory.keys, _PENDING)):
        return True
    if call.event in (hooks.SESSION_START, hooks.SUBAGENT_START):
        return True
    if call.event == hooks.PROMPT and not memory.get("welcomed"):
        return True
    if is_main:
        return call.event == hooks.BEFORE_EDIT and bool(call.paths)
    paths = [*changed, *(call.paths if call.event == hooks.BEFORE_EDIT else ())]
    return not all(memory.get(ANNOUNCED, path) for path in paths)


def answer(session: HookSession, call: HookCall) -> HookAnswer:
    """The answer to one event. This call shows that the model has read the messages of the last answer."""
    _mark_read(session)
    reply = HookAnswer()
    _announce_late(session, call, reply)
    if call.is_end_unsure and call.event in _LOOKING_BACK:
        _judge_earlier_commands(session, call, reply)
    handler = _HANDLERS.get(call.event)
    if handler is not None:
        try:
            handler(session, call, reply)
        except Refusal as refusal:
            if not refusal.code.startswith(JUDGEMENTS):
                raise  # a failure of the store or the repository, not the agent's fault
            reply.is_denied, reply.reason = True, str(refusal)
    _tell(session, call, reply)
    return reply


# -- editing ----------------------------------------------------------------------------------


def _before_edit(session: HookSession, call: HookCall, reply: HookAnswer) -> None:
    files = _files(session, call.paths)
    if not files:
        return
    notes: list[str] = []
    others = [judge(session.tx, session, file, _touches(session, file, call)) for file in files]
    names = tuple(name for file in files for name in session.other_names(file))
    for file in _files(session, names):
        judge(session.tx, session, file, _touches(session, file, call))
    for file in files:
        note = _check_version(session, file, call)
        if note:
            notes.append(note)
    shared = [file for file in files if file.is_shared]
    if shared:
        begin_short(session, shared)
    own = [file for file in files if not file.is_shared]
    announce(session, own, lambda file: symbol_at(session.text_of(file), call.old_text))
    if own:
        for path in call.paths:
            session.memory.set(ANNOUNCED, path, "1")
    for file, found in zip(files, others, strict=True):
        note = _who_else(session, file, found)
        if note:
            notes.append(note)
    _put(session, call, reply, notes)


def _announce_late(session: HookSession, call: HookCall, reply: HookAnswer) -> None:
    """Announce what was edited while the store was out of reach, and say who else is at work on it by now."""
    late, notes = session.memory.keys(UNANNOUNCED), []
    for file in _files(session, tuple(late)):
        if not file.is_shared:
            try:
                others = judge(session.tx, session, file, lambda _: True)
                announce(session, [file], lambda _: "")
                notes.append(_who_else(session, file, others))
            except Refusal as refusal:
                if not refusal.code.startswith(JUDGEMENTS):
                    raise
                notes.append(str(refusal))
    for path in late:
        session.memory.set(UNANNOUNCED, path, "")
    _put(session, call, reply, notes)


def _touches(session: HookSession, file: FileInTree, call: HookCall) -> Callable[[str], bool]:
    """A function that tells whether the edit changes a symbol of the file; called only if somebody holds
    one."""

    def touches(symbol: str) -> bool:
        if call.is_whole_write or not call.replaced:
            return True
        from lineclear.code.symbol_places import edit_touches

        return edit_touches(session.text_of(file), call.replaced, symbol)

    return touches


def _check_version(session: HookSession, file: FileInTree, call: HookCall) -> str:
    """Refuse to overwrite a whole file whose current version was not read; returns a note for a smaller
    edit. Among relatives in a worktree of their own only what one of them wrote counts."""
    has_others = file.is_shared or strategy_for(file.resource, session.rules).strategy == OPTIMISTIC
    if not has_others and not session.has_relatives(file.tree):
        return ""
    current = session.digest(file)
    known = session.memory.get("version", file.path)
    if not current or known == current:
        return ""
    writer = writer_of(session, file) if has_others else session.last_writer(file, current)
    if not has_others and writer in ("", session.caller.name):
        return ""
    if call.is_whole_write:
        session.memory.set("unread", file.path, "1")
        raise refuse("hook.unread", path=file.path, holder=writer)
    if not known:
        return ""
    return hooks.stale_note(file.path, writer)


def _who_else(session: HookSession, file: FileInTree, claims: Sequence[Claim]) -> str:
    """A note on the other agents at work on the file, only when they have changed since the last note."""
    names = " ".join(sorted({f"{claim.agent}:{claim.resource}" for claim in claims}))
    if session.memory.get("others", file.path) == names:
        return ""
    session.memory.set("others", file.path, names)
    if not claims:
        return ""
    others = [(claim.agent, claim.resource, claim.task, claim.note) for claim in claims]
    shares_copy = any(claim.tree == file.tree for claim in claims)
    return hooks.others_here(file.resource.text, others, shares_copy=shares_copy)


def _after_edit(session: HookSession, call: HookCall, _reply: HookAnswer) -> None:
    files = _files(session, call.paths)
    for file in files:
        is_seen_by_others = file.is_shared or session.has_relatives(file.tree)
        if is_seen_by_others or session.memory.get("version", file.path):
            _remember_version(session, file)
            session.note_write(file, session.memory.get("version", file.path))
    if any(file.is_shared for file in files):
        end_shorts(session, [file.resource.text for file in files])
    session.memory.set("picture", "", "")


def _after_read(session: HookSession, call: HookCall, _reply: HookAnswer) -> None:
    for file in _files(session, call.paths):
        is_optimistic = strategy_for(file.resource, session.rules).strategy == OPTIMISTIC
        if file.is_shared or is_optimistic or session.has_relatives(file.tree):
            _remember_version(session, file)


def _remember_version(session: HookSession, file: FileInTree) -> None:
    session.memory.set("version", file.path, session.digest(file))
    session.memory.set("unread", file.path, "")


def _files(session: HookSession, paths: tuple[str, ...]) -> list[FileInTree]:
    """The files at these paths; leaves out those outside the repository."""
    found = {}
    for path in paths:
        file = session.locate(path)
        if file is not None:
            found[file.tree, file.resource.text] = file
    return list(found.values())


# -- shell ------------------------------------------------------------------------------------


# The events at which we look for changes by earlier commands of a client that does not report every end.
_LOOKING_BACK = (hooks.BEFORE_EDIT, hooks.BEFORE_SHELL, hooks.STOP)


def _before_shell(session: HookSession, call: HookCall, _reply: HookAnswer) -> None:
    _check_main_tree(session, call)
    session.begin_shell(call.call_id)
    if call.is_end_unsure:
        session.memory.set("running", call.call_id, "1")


def _check_main_tree(session: HookSession, call: HookCall) -> None:
    """An agent in a worktree of its own moves no branch in the main tree: its work lands."""
    if "git" not in call.command or is_main_tree(session.caller.tree):
        return
    from lineclear.core.agents.git_commands import moves_elsewhere

    for directory, verb in moves_elsewhere(call.command, call.cwd or session.root):
        file = session.locate(f"{directory}/any")
        if file is not None and is_main_tree(file.tree):
            raise refuse("hook.main_tree", verb=verb, own=session.root)


def commands_to_look_at(memory: Memory, call: HookCall) -> tuple[list[str], bool]:
    """(ids of the commands whose changes this call looks for, have they ended?)

    If a client does not report every end, earlier commands may have failed or may still run. We look at each
    of those once; at a stop all have ended.
    """
    if call.event == hooks.AFTER_SHELL:
        return [call.call_id], True
    if not call.is_end_unsure or call.event not in _LOOKING_BACK:
        return [], False
    is_over = call.event == hooks.STOP
    running = memory.keys("running")
    return [one for one in running if is_over or memory.get("running", one) == "1"], is_over


def _judge_earlier_commands(session: HookSession, call: HookCall, reply: HookAnswer) -> None:
    left, is_over = commands_to_look_at(session.memory, call)
    if left:
        _judge_changes(session, call, reply, session.shell_changes())
    for call_id in left:
        session.memory.set("running", call_id, "" if is_over else "looked at")


def _after_shell(session: HookSession, call: HookCall, reply: HookAnswer) -> None:
    changes = session.shell_changes()
    session.memory.set("running", call.call_id, "")
    for path in session.memory.keys("unread"):
        # An agent without a tool for reading reads the file with a command that names it.
        if path.rpartition("/")[2] in call.command:
            file = session.locate(path)
            if file is not None:
                _remember_version(session, file)
    _judge_changes(session, call, reply, changes)


def _judge_changes(
    session: HookSession, call: HookCall, reply: HookAnswer, changes: list[ShellChange]
) -> None:
    if changes:
        from lineclear.app.hooks import shell

        notes = shell.judge_changes(session, changes, call.command if call.event == hooks.AFTER_SHELL else "")
        _put(session, call, reply, notes)
        if notes and not call.can_tell:
            session.memory.set("grave", "", "1")


def _before_other(session: HookSession, call: HookCall, _reply: HookAnswer) -> None:
    if call.subagent and call.call_id and "lineclear__" in call.tool:
        session.note_tool_call(call.call_id)


# -- sessions ---------------------------------------------------------------------------------


def _session_start(session: HookSession, call: HookCall, reply: HookAnswer) -> None:
    session.enter()
    _put(session, call, reply, [_welcome(session, call)])
    session.memory.set("welcomed", "", "1")


def _prompt(session: HookSession, call: HookCall, reply: HookAnswer) -> None:
    _end_leftovers(session)
    session.memory.set("stopped", "", "")
    if not session.memory.get("welcomed"):
        _session_start(session, call, reply)


def _welcome(session: HookSession, call: HookCall) -> str:
    name = session.caller.name
    return hooks.welcome(
        name=name,
        task=_task_words(_task_of(session)),
        others=_others(session),
        off_limits=[
            f"{shorten(rule.resource.text, 60)} ({f'phase {rule.phase}' if rule.phase else rule.strategy})"
            for rule in session.rules
            if (rule.phase or rule.strategy in (LOCKED, SINGLE_WRITER, READ_ONLY))
            and not (rule.owner and is_family(rule.owner, name))
        ],
        is_shared=session.is_shared,
        is_nameless=call.is_nameless,
    )


def _task_of(session: HookSession) -> Task | None:
    taken = session.tx.scan(TASK, "ready", (TAKEN,))
    return next((task for task in taken if is_family(task.agent, session.caller.name)), None)


def _task_words(task: Task | None) -> str:
    if task is None:
        return ""
    return f'Your task is T-{task.id}: "{shorten(task.title, 100)}" (`lineclear task show T-{task.id}`).'


def _others(session: HookSession) -> list[str]:
    """The other agents with a recent sign of life, each with its task."""
    tasks = {task.agent: task for task in session.tx.scan(TASK, "ready", (TAKEN,))}
    shown = []
    for agent in session.tx.scan(AGENT, "key"):
        if agent.kind != "agent" or agent.state != "here" or is_family(agent.name, session.caller.name):
            continue
        idle_ns = session.presence.idle_ns(agent.name)
        if idle_ns is None or idle_ns > HERE_NS:
            continue
        task = tasks.get(agent.name)
        about = f' on T-{task.id} "{shorten(task.title, 60)}"' if task is not None else ""
        shown.append(f"{named(agent.name)}{about}")
    return shown


def _stop(session: HookSession, call: HookCall, reply: HookAnswer) -> None:
    """Keep the agent from stopping, once, if it must still hear of forbidden changes, urgent messages,
    exclusive claims that it holds or findings that interrupt."""
    _end_leftovers(session)
    if call.is_again or session.memory.get("stopped"):
        return
    left = _before_going(session, is_all=call.is_deaf)
    words = "\n\n".join(part for part in (_grave(session), *left, _findings(session, is_all=False)) if part)
    if words:
        session.memory.set("stopped", "", "1")
        reply.is_denied, reply.reason = True, words


def _grave(session: HookSession) -> str:
    """The report on forbidden changes, if the model has not seen it yet."""
    if not session.memory.get("grave"):
        return ""
    words = session.memory.get("later")
    session.memory.set("later", "", "")
    session.memory.set("grave", "", "")
    return words


def _before_going(session: HookSession, *, is_all: bool) -> tuple[str, str]:
    """(unread messages, a note on exclusive claims). Only urgent messages, unless with `is_all` no other
    event can deliver the rest."""
    tx, name = session.tx, session.caller.name
    urgent = [message for message in inbox(tx, name)["messages"] if is_all or message["urgent"]]
    text, ids = hooks.messages_text(urgent, 0)
    _remember_told(session, ids)
    held = [
        claim.resource
        for claim in tx.pick(CLAIM, "key", (name,))
        if claim.mode == EXCLUSIVE and not claim.bond and not is_over(claim.until_ns, tx.now)
    ]
    return text, hooks.still_held(held) if held else ""


def _end_leftovers(session: HookSession) -> None:
    """End the short claims of edits whose end was not reported (the tool failed, or a person said no)."""
    left = session.memory.keys("short")
    if left:
        end_shorts(session, left)


def _leave(session: HookSession, _call: HookCall, _reply: HookAnswer) -> None:
    _end_leftovers(session)
    session.leave()


def _subagent_start(session: HookSession, call: HookCall, reply: HookAnswer) -> None:
    ensure_agent(session.tx, session.caller)
    session.enter()
    parent = session.caller.name.rpartition("/")[0]
    _put(session, call, reply, [hooks.child_welcome(session.caller.name, parent)])


def _worktree_create(session: HookSession, call: HookCall, reply: HookAnswer) -> None:
    """Make the worktree for the client, which waits for its path."""
    session.make_worktree(call.name, reply)


_HANDLERS: dict[str, Callable[[HookSession, HookCall, HookAnswer], None]] = {
    hooks.BEFORE_EDIT: _before_edit,
    hooks.AFTER_EDIT: _after_edit,
    hooks.AFTER_READ: _after_read,
    hooks.BEFORE_OTHER: _before_other,
    hooks.BEFORE_SHELL: _before_shell,
    hooks.AFTER_SHELL: _after_shell,
    hooks.SESSION_START: _session_start,
    hooks.PROMPT: _prompt,
    hooks.STOP: _stop,
    hooks.SESSION_END: _leave,
    hooks.SUBAGENT_START: _subagent_start,
    hooks.SUBAGENT_STOP: _leave,
    hooks.WORKTREE_CREATE: _worktree_create,
}


# -- telling ----------------------------------------------------------------------------------


def _put(session: HookSession, call: HookCall, reply: HookAnswer, notes: list[str]) -> None:
    """Add the notes to the answer, or keep them for the next event that reaches the model."""
    text = "\n\n".join(note for note in notes if note)
    if not text:
        return
    if call.can_tell:
        reply.context = hooks.bounded(f"{reply.context}\n\n{text}".strip())
    else:
        earlier = session.memory.get("later")
        session.memory.set("later", "", hooks.bounded(f"{earlier}\n\n{text}".strip()))


def _tell(session: HookSession, call: HookCall, reply: HookAnswer) -> None:
    """Add what the model has not heard yet: notes kept from earlier calls, then unread messages."""
    if not call.can_tell or (reply.is_denied and call.event == hooks.BEFORE_EDIT):
        return
    later = session.memory.get("later")
    if later:
        session.memory.set("later", "", "")
        session.memory.set("grave", "", "")
        _put(session, call, reply, [later])
    news = inbox(session.tx, session.caller.name)
    text, ids = hooks.messages_text(news["messages"], int(news["more"]))
    if ids:
        _put(session, call, reply, [text])
        _remember_told(session, ids)
    is_pause = call.event in (hooks.PROMPT, hooks.SESSION_START)
    _put(session, call, reply, [_findings(session, is_all=is_pause)])
    session.told_up_to(int(news["position"]))


def _findings(session: HookSession, *, is_all: bool) -> str:
    """The radar's findings that the agent has not heard of: all of them, or only those that interrupt."""
    name = session.caller.name
    rows = [row for row in findings_for(session.tx, name) if is_all or interrupts(row, name)]
    if not rows:
        return ""
    from lineclear.core.words.findings import findings_text

    text, ids = findings_text(rows, name)
    for number in ids:
        session.memory.set("found", str(number), "1")
    return text


def _remember_told(session: HookSession, ids: list[int]) -> None:
    for message in ids:
        session.memory.set("told", str(message), "1")


def _mark_read(session: HookSession) -> None:
    """Mark the messages and findings of the last answer as told: the session's next call shows that they
    arrived."""
    told = [int(key) for key in session.memory.keys("told") if key.isdigit()]
    if told:
        mark_read_in(session.tx, session.caller, told)
        for message in told:
            session.memory.set("told", str(message), "")
    found = [int(key) for key in session.memory.keys("found") if key.isdigit()]
    if found:
        mark_told_in(session.tx, session.caller, found)
        for number in found:
            session.memory.set("found", str(number), "")
