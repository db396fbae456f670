"""What happens at each event of a coding agent's hook: judge, claim, remember, tell.

Everything from outside comes through the desk. A refusal becomes a denial here and nowhere else; an error
is not caught here. Which calls a client makes, and what it does with an answer, is not known here.
"""

from __future__ import annotations

from lineclear.app.agents import ensure_agent
from lineclear.app.hooks_claims import begin_short, change_intents, end_shorts, writer_of
from lineclear.app.hooks_judging import JUDGEMENTS, judge
from lineclear.app.messages import inbox, mark_read
from lineclear.code.outline import symbol_at
from lineclear.core import hooks
from lineclear.core.claims import EXCLUSIVE, is_over
from lineclear.core.hooks import HookAnswer
from lineclear.core.names import is_family
from lineclear.core.refusals import Refusal, named, shorten
from lineclear.core.refusals_hooks import unread_content
from lineclear.core.strategies import LOCKED, OPTIMISTIC, READ_ONLY, SINGLE_WRITER, strategy_for
from lineclear.core.tables import AGENT, CLAIM, TASK
from lineclear.core.tasks import TAKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.hooks_ports import Change, Desk, Spot
    from lineclear.app.ports import View
    from lineclear.core.hooks import HookCall
    from lineclear.core.tables import Task

# How long somebody counts as being here after its last sign of life.
_HERE_NS = 10 * 60 * 1_000_000_000


def answer(desk: Desk, call: HookCall) -> HookAnswer:
    """The answer to one event. What was told before is read now: the session goes on."""
    _mark_read(desk)
    reply = HookAnswer()
    if call.is_end_unsure and call.event in _LOOKING_BACK:
        _look_back(desk, call, reply)
    handler = _HANDLERS.get(call.event)
    if handler is not None:
        try:
            handler(desk, call, reply)
        except Refusal as refusal:
            if not refusal.code.startswith(JUDGEMENTS):
                raise  # the store or the repository failed us, which is not the agent's fault
            reply.is_denied, reply.reason = True, str(refusal)
    _tell(desk, call, reply)
    return reply


# -- editing ----------------------------------------------------------------------------------


def _before_edit(desk: Desk, call: HookCall, reply: HookAnswer) -> None:
    spots = _spots(desk, call.paths)
    if not spots:
        return
    notes: list[str] = []
    others = desk.store.read(lambda view: [judge(view, desk, spot) for spot in spots])
    for spot in spots:
        note = _check_version(desk, spot, call)
        if note:
            notes.append(note)
    shared = [spot for spot in spots if spot.is_shared]
    if shared:
        begin_short(desk, shared)
    own = [spot for spot in spots if not spot.is_shared]
    if change_intents(desk, own, lambda spot: symbol_at(desk.text_of(spot), call.old_text)):
        # Whoever announced it since we looked was told of us, and has to be told to us.
        others = desk.store.read(lambda view: [judge(view, desk, spot) for spot in spots])
    for spot, found in zip(spots, others, strict=True):
        note = _who_else(desk, spot, found)
        if note:
            notes.append(note)
    _put(desk, call, reply, notes)


def _check_version(desk: Desk, spot: Spot, call: HookCall) -> str:
    """Refuse to write a whole file over what was not read; a smaller edit gets a note."""
    if not spot.is_shared and strategy_for(spot.resource, desk.rules).strategy != OPTIMISTIC:
        return ""
    current = desk.digest(spot)
    known = desk.memory.get("version", spot.path)
    if not current or known == current:
        return ""
    if call.is_whole_write:
        desk.memory.set("unread", spot.path, "1")
        raise unread_content(spot.path, desk.store.read(lambda view: writer_of(view, desk, spot)))
    if not known:
        return ""
    return hooks.stale_note(spot.path, desk.store.read(lambda view: writer_of(view, desk, spot)))


def _who_else(desk: Desk, spot: Spot, others: list[tuple[str, str, int, str]]) -> str:
    """Told once for each change in who is there, not at every edit."""
    names = " ".join(sorted({f"{agent}:{held}" for agent, held, _, _ in others}))
    if desk.memory.get("others", spot.path) == names:
        return ""
    desk.memory.set("others", spot.path, names)
    return hooks.others_here(spot.resource.text, others) if others else ""


def _after_edit(desk: Desk, call: HookCall, _reply: HookAnswer) -> None:
    spots = _spots(desk, call.paths)
    for spot in spots:
        if spot.is_shared or desk.memory.get("version", spot.path):
            _remember_version(desk, spot)
            desk.note_write(spot, desk.memory.get("version", spot.path))
    if any(spot.is_shared for spot in spots):
        end_shorts(desk, [spot.resource.text for spot in spots])
    desk.memory.set("picture", "", "")


def _after_read(desk: Desk, call: HookCall, _reply: HookAnswer) -> None:
    for spot in _spots(desk, call.paths):
        if spot.is_shared or strategy_for(spot.resource, desk.rules).strategy == OPTIMISTIC:
            _remember_version(desk, spot)


def _remember_version(desk: Desk, spot: Spot) -> None:
    desk.memory.set("version", spot.path, desk.digest(spot))
    desk.memory.set("unread", spot.path, "")


def _spots(desk: Desk, paths: tuple[str, ...]) -> list[Spot]:
    """Where the paths lie; those outside the repository are none of our business."""
    found = {}
    for path in paths:
        spot = desk.locate(path)
        if spot is not None:
            found[spot.tree, spot.resource.text] = spot
    return list(found.values())


# -- shell ------------------------------------------------------------------------------------


# When a client that does not tell of every end is asked what its commands did. At a stop all have ended.
_LOOKING_BACK = (hooks.BEFORE_EDIT, hooks.BEFORE_SHELL, hooks.STOP)


def _before_shell(desk: Desk, call: HookCall, _reply: HookAnswer) -> None:
    desk.begin_shell(call.call_id)
    if call.is_end_unsure:
        desk.memory.set("running", call.call_id, "1")


def _look_back(desk: Desk, call: HookCall, reply: HookAnswer) -> None:
    """What commands did whose end was not told: they have failed, or run beside this call. Those are looked
    at once, and go on."""
    is_over = call.event == hooks.STOP
    left = [one for one in desk.memory.keys("running") if is_over or desk.memory.get("running", one) == "1"]
    if left:
        _judge_changes(desk, call, reply, desk.end_shell(*left, is_over=is_over))
    for call_id in left:
        desk.memory.set("running", call_id, "" if is_over else "looked at")


def _after_shell(desk: Desk, call: HookCall, reply: HookAnswer) -> None:
    changes = desk.end_shell(call.call_id)
    desk.memory.set("running", call.call_id, "")
    for path in desk.memory.keys("unread"):
        # The way to read a file for an agent that has no tool for it.
        if path.rpartition("/")[2] in call.command:
            spot = desk.locate(path)
            if spot is not None:
                _remember_version(desk, spot)
    _judge_changes(desk, call, reply, changes)


def _judge_changes(desk: Desk, call: HookCall, reply: HookAnswer, changes: list[Change]) -> None:
    if changes:
        from lineclear.app import hooks_shell

        notes = hooks_shell.judge_changes(desk, changes)
        _put(desk, call, reply, notes)
        if notes and not call.can_tell:
            desk.memory.set("grave", "", "1")


# -- sessions ---------------------------------------------------------------------------------


def _session_start(desk: Desk, call: HookCall, reply: HookAnswer) -> None:
    desk.enter()
    _put(desk, call, reply, [desk.store.read(lambda view: _welcome(view, desk, call))])
    desk.memory.set("welcomed", "", "1")


def _prompt(desk: Desk, call: HookCall, reply: HookAnswer) -> None:
    _end_leftovers(desk)
    desk.memory.set("stopped", "", "")
    if not desk.memory.get("welcomed"):
        _session_start(desk, call, reply)


def _welcome(view: View, desk: Desk, call: HookCall) -> str:
    name = desk.caller.name
    return hooks.welcome(
        name=name,
        task=_task_words(_task_of(view, name)),
        others=_others(view, desk),
        off_limits=[
            f"{shorten(rule.resource.text, 60)} ({f'phase {rule.phase}' if rule.phase else rule.strategy})"
            for rule in desk.rules
            if (rule.phase or rule.strategy in (LOCKED, SINGLE_WRITER, READ_ONLY))
            and not (rule.owner and is_family(rule.owner, name))
        ],
        is_shared=desk.is_shared,
        is_nameless=call.is_nameless,
    )


def _task_of(view: View, name: str) -> Task | None:
    mine = [task for task in view.scan(TASK, "ready", (TAKEN,)) if is_family(task.agent, name)]
    return mine[0] if mine else None


def _task_words(task: Task | None) -> str:
    if task is None:
        return ""
    return f'Your task is T-{task.id}: "{shorten(task.title, 100)}" (`lineclear task show T-{task.id}`).'


def _others(view: View, desk: Desk) -> list[str]:
    """Other agents that were heard of lately, each with its task."""
    tasks = {task.agent: task for task in view.scan(TASK, "ready", (TAKEN,))}
    shown = []
    for agent in view.scan(AGENT, "key"):
        if agent.kind != "agent" or agent.state != "here" or is_family(agent.name, desk.caller.name):
            continue
        idle_ns = desk.presence.idle_ns(agent.name)
        if idle_ns is None or idle_ns > _HERE_NS:
            continue
        task = tasks.get(agent.name)
        about = f' on T-{task.id} "{shorten(task.title, 60)}"' if task is not None else ""
        shown.append(f"{named(agent.name)}{about}")
    return shown


def _stop(desk: Desk, call: HookCall, reply: HookAnswer) -> None:
    """Once: what it did and may not, what is urgent and unread, what is held exclusively. A client that was
    sent on is let go."""
    _end_leftovers(desk)
    if call.is_again or desk.memory.get("stopped"):
        return
    left = desk.store.read(lambda view: _before_going(view, desk, is_all=call.is_deaf))
    words = "\n\n".join(part for part in (_grave(desk), *left) if part)
    if words:
        desk.memory.set("stopped", "", "1")
        reply.is_denied, reply.reason = True, words


def _grave(desk: Desk) -> str:
    """What was done and may not be, if no event since has reached the model."""
    if not desk.memory.get("grave"):
        return ""
    words = desk.memory.get("later")
    desk.memory.set("later", "", "")
    desk.memory.set("grave", "", "")
    return words


def _before_going(view: View, desk: Desk, *, is_all: bool) -> tuple[str, str]:
    """Messages, and what is held; of messages the urgent ones, unless the others cannot be told elsewhere."""
    name = desk.caller.name
    urgent = [message for message in inbox(view, name)["messages"] if is_all or message["urgent"]]
    text, ids = hooks.messages_text(urgent, 0)
    _remember_told(desk, ids)
    held = [
        claim.resource
        for claim in view.pick(CLAIM, "key", (name,))
        if claim.mode == EXCLUSIVE and not claim.bond and not is_over(claim.until_ns, view.now)
    ]
    return text, hooks.still_held(held) if held else ""


def _end_leftovers(desk: Desk) -> None:
    """Short claims of edits whose end was never told (a tool that failed, a person who said no)."""
    left = desk.memory.keys("short")
    if left:
        end_shorts(desk, left)


def _session_end(desk: Desk, _call: HookCall, _reply: HookAnswer) -> None:
    """Intents on paths that were not changed end; the others stay until the branch lands."""
    _go(desk)


def _subagent_start(desk: Desk, call: HookCall, reply: HookAnswer) -> None:
    desk.store.transact(desk.caller, lambda tx: ensure_agent(tx, desk.caller))
    desk.enter()
    parent = desk.caller.name.rpartition("/")[0]
    words = f"lineclear: you are {desk.caller.name}, a sub-agent of {parent}, and share its claims."
    _put(desk, call, reply, [words])


def _subagent_stop(desk: Desk, _call: HookCall, _reply: HookAnswer) -> None:
    _go(desk)


def _go(desk: Desk) -> None:
    _end_leftovers(desk)
    # Before it is gone: who is asked again would have to come back to say that it has read its messages.
    desk.memory.save()
    desk.leave()


def _worktree_create(desk: Desk, call: HookCall, reply: HookAnswer) -> None:
    """In the client's place: it waits for a path, and has no worktree without one."""
    reply.path = desk.make_worktree(call.name)


_HANDLERS: dict[str, Callable[[Desk, HookCall, HookAnswer], None]] = {
    hooks.BEFORE_EDIT: _before_edit,
    hooks.AFTER_EDIT: _after_edit,
    hooks.AFTER_READ: _after_read,
    hooks.BEFORE_SHELL: _before_shell,
    hooks.AFTER_SHELL: _after_shell,
    hooks.SESSION_START: _session_start,
    hooks.PROMPT: _prompt,
    hooks.STOP: _stop,
    hooks.SESSION_END: _session_end,
    hooks.SUBAGENT_START: _subagent_start,
    hooks.SUBAGENT_STOP: _subagent_stop,
    hooks.WORKTREE_CREATE: _worktree_create,
}


# -- telling ----------------------------------------------------------------------------------


def _put(desk: Desk, call: HookCall, reply: HookAnswer, notes: list[str]) -> None:
    """Into the answer, or kept for the next event that reaches the model."""
    text = "\n\n".join(note for note in notes if note)
    if not text:
        return
    if call.can_tell:
        reply.context = hooks.bounded(f"{reply.context}\n\n{text}".strip())
    else:
        earlier = desk.memory.get("later")
        desk.memory.set("later", "", hooks.bounded(f"{earlier}\n\n{text}".strip()))


def _tell(desk: Desk, call: HookCall, reply: HookAnswer) -> None:
    """What is still to be said: notes kept back, then unread messages."""
    if not call.can_tell or (reply.is_denied and call.event == hooks.BEFORE_EDIT):
        return
    later = desk.memory.get("later")
    if later:
        desk.memory.set("later", "", "")
        desk.memory.set("grave", "", "")
        _put(desk, call, reply, [later])
    news = desk.store.read(lambda view: inbox(view, desk.caller.name))
    text, ids = hooks.messages_text(news["messages"], int(news["more"]))
    if ids:
        _put(desk, call, reply, [text])
        _remember_told(desk, ids)
    desk.told_up_to(int(news["position"]))


def _remember_told(desk: Desk, ids: list[int]) -> None:
    for message in ids:
        desk.memory.set("told", str(message), "1")


def _mark_read(desk: Desk) -> None:
    """The session's next call has come, so what the last one told has reached its model."""
    told = [int(key) for key in desk.memory.keys("told") if key.isdigit()]
    if told:
        mark_read(desk.store, desk.caller, told)
        for message in told:
            desk.memory.set("told", str(message), "")
