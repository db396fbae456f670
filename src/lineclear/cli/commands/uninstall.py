"""uninstall: show, then remove, everything that lineclear put into a repository. Unmerged work is kept."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lineclear.app.setup import applying
from lineclear.app.setup.planning import MERGE_DRIVER, plan_remove
from lineclear.app.setup.starting import TEAM_STORE
from lineclear.cli.command import Command
from lineclear.core.words.refusals import refuse
from lineclear.core.worktrees.uninstall import (
    BRANCH,
    CHECK_TREE,
    KEEP,
    REMOVE,
    SAVE,
    WORKTREE,
    LeavingStep,
    in_order,
)
from lineclear.host.files import REMOVED, remove_at_once
from lineclear.mirror.conventions import apply, plan_to_leave
from lineclear.mirror.publishing import plan_removal
from lineclear.mirror.switching import take_away
from lineclear.serve.installing import service_file
from lineclear.serve.installing import uninstall as uninstall_service
from lineclear.wiring.mirroring import PARTS
from lineclear.wiring.repo import state_directory_at
from lineclear.wiring.setup import open_clone
from lineclear.wiring.starting import plan_uninstall
from lineclear.wiring.uninstalling import is_served, running_in, uninstalling_in

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lineclear.app.setup.clone import SetupClone
    from lineclear.app.worktrees.uninstalling import Uninstalling
    from lineclear.cli.command import Context
    from lineclear.core.agents.conventions import ConventionChange

# How long a server of a service may take to end.
_END_WITHIN_S, _LOOK_EVERY_S = 15.0, 0.05
# What a step's name is, where it is not a path or a ref.
_CALLED = {WORKTREE: "the worktree ", CHECK_TREE: "the check tree ", BRANCH: "the branch "}
_MOST_NAMED = 5
_FILE, _CLIENT, _BLOCK, _SERVICE, _OTHER = "file", "client", "block", "service", "other"


def _declare(parser: ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--yes", action="store_true", help="really remove it (default: only show what would be removed)"
    )
    how.add_argument("--dry-run", action="store_true", help="only show what would be removed and kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Everything that goes or stays. `steps` are in the order in which they are shown."""

    story: Uninstalling
    clone: SetupClone
    service: str
    blocks: list[ConventionChange]
    shared: dict[str, list[str]]
    steps: list[LeavingStep]


def uninstall(context: Context, args: Namespace) -> None:
    state = state_directory_at(context.cwd, context.environ)
    if os.path.isdir(state + REMOVED) and not os.path.isdir(state):
        return _finish(context, state, is_meant=args.yes)
    caller = context.repo.caller(context.given)
    if not caller.is_person:
        raise refuse("person.only", what="uninstall", agent=context.caller.name)
    context.is_mirrored = False
    plan = _make_plan(context)
    running = running_in(context.repo)
    if not args.yes:
        lines = [f"{what} is running: stop it first (`{command}`)" for what, command in running]
        return _tell(context, plan, is_done=False, more=lines)
    # A service ends its own server.
    blocking = [row for row in running if not (plan.service and row[0] == "a server")]
    if blocking:
        raise refuse("uninstall.running", running=blocking[0][0], command=blocking[0][1])
    plan = _apply(context, plan)
    context.close()
    remove_at_once(state)
    return _tell(context, plan, is_done=True)


def _finish(context: Context, state: str, *, is_meant: bool) -> None:
    """An earlier one was killed while it removed the store, which comes last."""
    if is_meant:
        remove_at_once(state)
    verb = "removed" if is_meant else "would remove"
    facts = {"paths": [state + REMOVED], "kept": [], "clients": [], "removed": is_meant, "steps": []}
    context.out.data(facts, f"{verb} {state + REMOVED}, the rest of an earlier uninstall")


# -- the plan ---------------------------------------------------------------------------------


def _make_plan(context: Context) -> _Plan:
    clone = open_clone(context.cwd, context.environ)
    story, service = uninstalling_in(context.repo), service_file(context.repo, context.environ)
    shared = plan_uninstall(context.cwd, context.environ)
    blocks, stays = plan_to_leave(clone.root)
    steps = [*story.plan(), *_client_steps(clone), *_file_steps(context)]
    steps += [LeavingStep(do=REMOVE, kind=_BLOCK, name=os.path.join(clone.root, row.path)) for row in blocks]
    steps += [
        LeavingStep(do=KEEP, kind=_BLOCK, name=os.path.join(clone.root, name), why=why)
        for name, why in stays.items()
    ]
    steps += [LeavingStep(do=REMOVE, kind=_SERVICE, name=service)] if service else []
    steps += [LeavingStep(do=REMOVE, kind=_FILE, name=path) for path in shared["paths"]]
    for name in shared["kept"]:
        why = _what_stays(story.held()) if name == TEAM_STORE else ""
        steps.append(LeavingStep(do=KEEP, kind=_OTHER, name=name, why=why))
    return _Plan(
        story=story, clone=clone, service=service, blocks=blocks, shared=shared, steps=in_order(steps)
    )


def _what_stays(held: list[str]) -> str:
    words = "its tasks, messages and log belong to all clones"
    if held:
        more = f" and {len(held) - _MOST_NAMED} more" if len(held) > _MOST_NAMED else ""
        words += f"; agents of this clone hold {', '.join(held[:_MOST_NAMED])}{more} until their leases end"
    return words


def _client_steps(clone: SetupClone) -> list[LeavingStep]:
    steps = []
    for name in [*clone.installed_clients(), MERGE_DRIVER]:
        planned = plan_remove(clone, name)
        if name != MERGE_DRIVER or planned.steps():
            steps.append(LeavingStep(do=REMOVE, kind=_CLIENT, name=name))
        steps += [LeavingStep(do=KEEP, kind=_CLIENT, name=name, why=note) for note in planned.notes]
    return steps


def _file_steps(context: Context) -> list[LeavingStep]:
    steps = []
    for end in plan_removal(context.repo, PARTS):
        if end.is_removed:
            steps.append(LeavingStep(do=REMOVE, kind=_FILE, name=end.path))
        else:
            why = end.why or "it was there before lineclear and gets your own text back"
            steps.append(LeavingStep(do=KEEP, kind=_FILE, name=end.path, why=why))
    return steps


# -- carried out ------------------------------------------------------------------------------


def _apply(context: Context, plan: _Plan) -> _Plan:
    """Hooks and files for agents first: from then on nothing of ours writes here. The store comes last, so
    that a killed uninstall can be repeated."""
    if plan.service:
        uninstall_service(context.repo, context.environ)
        _await_end(context)
    take_away(context.repo)
    apply(plan.clone.root, plan.blocks)
    applying.remove_all(plan.clone)
    done = plan.story.apply(context.caller)
    others = [step for step in plan.steps if step.kind in (_FILE, _CLIENT, _BLOCK, _SERVICE, _OTHER)]
    return replace(plan, steps=in_order([*done, *others]))


def _await_end(context: Context) -> None:
    until = time.monotonic() + _END_WITHIN_S
    while is_served(context.repo):
        if time.monotonic() > until:
            raise refuse("uninstall.running", running="a server", command="lineclear serve --stop")
        time.sleep(_LOOK_EVERY_S)


# -- told -------------------------------------------------------------------------------------


def _tell(context: Context, plan: _Plan, *, is_done: bool, more: list[str] | None = None) -> None:
    lines = [_line(step, is_done=is_done) for step in plan.steps]
    edited = [step.name for step in plan.steps if step.kind == _BLOCK and step.do == REMOVE]
    tracked = plan.clone.git.tracked(plan.clone.root, edited) if is_done and edited else []
    lines += [f"{path} is tracked by git: commit the change" for path in tracked]
    if not is_done:
        lines += [*(more or []), "Nothing was changed. Next: lineclear uninstall --yes"]
    steps = [
        {"do": step.do, "kind": step.kind, "name": step.name, "branch": step.branch, "why": step.why}
        for step in plan.steps
    ]
    context.out.data({**plan.shared, "removed": is_done, "steps": steps}, *lines)


def _line(step: LeavingStep, *, is_done: bool) -> str:
    what = _CALLED.get(step.kind, "") + step.name
    if step.kind == _BLOCK:
        what = f"the lineclear block in {step.name}"
    elif step.kind == _CLIENT and not step.why:
        what = f"what `lineclear setup {step.name}` added"
    if step.do == SAVE:
        verb = "kept" if is_done else "would keep"
        return f"{verb} the work of {what} as the branch {step.branch}"
    if step.do == REMOVE:
        return f"{'removed' if is_done else 'would remove'} {what}"
    reason = f": {step.why}" if step.why else ""
    return f"{'kept' if is_done else 'would keep'} {what}{reason}"


COMMANDS = {"uninstall": Command(uninstall, _declare)}
