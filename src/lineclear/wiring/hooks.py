"""A coding agent's hook, put together: the worktree that a call is about, what its session remembers, and the
opened store. What only some events need is imported where it is needed: a hook is a process of a few
milliseconds."""

from __future__ import annotations

import os

from lineclear.app.hooks.calls import CALL, answer_call, home_of
from lineclear.app.hooks.ports import HookPlace, HookRules
from lineclear.core.agents.hooks import session_key
from lineclear.core.words.refusals import Refusal
from lineclear.git.hook_tree import TreeFiles
from lineclear.git.layout import find_layout, is_check_tree
from lineclear.git.shell_watch import GitShellWatch
from lineclear.git.typed_paths import WorktreePaths
from lineclear.host.bonds import SUPERVISOR
from lineclear.host.host_names import person_name
from lineclear.host.session_marks import SessionMarks, time_of, touch
from lineclear.host.sessions import SESSIONS, SessionFile, Writes
from lineclear.wiring.repo import Repo, edited_of, folds_case, mark_of, open_store, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from lineclear.app.ports import Caller
    from lineclear.core.agents.hooks import HookAnswer, HookCall
    from lineclear.core.claims.granting import Request
    from lineclear.git.layout import Layout
    from lineclear.settings import Settings
    from lineclear.wiring.store_pool import StorePool

    class Mirror(Protocol):
        """The files for agents that only read files; the layer above us knows them."""

        def refuse_locked(self, repo: Repo, request: Request, /) -> None: ...
        def note_change(self) -> None: ...


class HookContext:
    """One call, and what it is answered with. `mirror` notes a change. `stores` has opened stores, in a
    process that stays. `saves`: the call may start a snapshot in another process."""

    __slots__ = ("call", "environ", "layout", "mirror", "saves", "settings", "stores")

    def __init__(
        self, layout: Layout, settings: Settings, call: HookCall, environ: Mapping[str, str],
        mirror: Mirror | None = None, *, stores: StorePool | None = None, saves: bool = False,
    ) -> None:  # fmt: skip
        self.layout, self.settings, self.call, self.environ = layout, settings, call, environ
        self.mirror, self.stores, self.saves = mirror, stores, saves

    def memory(self) -> SessionFile:
        """What the session remembers by now."""
        call = self.call
        name = session_key(call.client, call.session)
        if call.subagent:
            name += "+" + session_key("sub", call.subagent)
        return SessionFile(f"{state_directory(self.layout)}/{SESSIONS}/{name}")

    def note_change(self) -> None:
        if self.mirror is not None:
            self.mirror.note_change()


def layout_for(call: HookCall, environ: Mapping[str, str], cwd: str) -> Layout | None:
    """The worktree that the session is in; None where there is no repository.
    `cwd`: where the hook was started, if the call itself does not say."""
    # What git sets for its own hooks would point us elsewhere: the call itself says where it is.
    plain = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    for place in (call.cwd, environ.get("CLAUDE_PROJECT_DIR", ""), cwd):
        if place and os.path.isdir(place):
            try:
                return find_layout(place, plain)
            except Refusal:
                continue
    return None


def is_coordinated(layout: Layout, settings: Settings) -> bool:
    if "store.url" in settings.held:
        # Where nothing of ours is, nobody asked for coordination; elsewhere opening the store says what is
        # missing.
        return os.path.isdir(state_directory(layout))
    return bool(settings.store_url) or os.path.exists(f"{state_directory(layout)}/state.db")


def make_plain_worktree(layout: Layout, name: str) -> str:
    from lineclear.git.hook_tree import make_plain
    from lineclear.wiring.repo import settings_root

    return make_plain(settings_root(layout), name)


# -- one call ---------------------------------------------------------------------------------


def respond(context: HookContext) -> HookAnswer:
    """Answer one call. One with an id that was answered before gets the same answer, and nothing is done."""
    memory, call_id = context.memory(), context.environ.get(CALL, "")
    context.layout = _home_layout(context.layout, memory)
    if call_id:
        from lineclear.app.hooks.repeated_calls import answer_again

        known = answer_again(memory, SessionMarks(memory.path), context.call, call_id)
        if known is not None:
            context.note_change()  # the process that answered may not have come to it
            return known
    if not context.settings.store_url:
        return _answer_from_store(context, memory)
    from lineclear.app.hooks.team import TeamHook
    from lineclear.host.clock import HostClock
    from lineclear.host.store_outages import Outage

    layout, settings = context.layout, context.settings
    return TeamHook(
        context.call, _rules(settings), lambda: _answer_from_store(context, context.memory()),
        agent=context.environ.get("LINECLEAR_AGENT", ""), outage=Outage(state_directory(layout)),
        files=files_of(layout, settings, context.call.cwd), memory=context.memory, clock=HostClock(),
    ).answer()  # fmt: skip


def _home_layout(layout: Layout, memory: SessionFile) -> Layout:
    home = home_of(memory, layout.worktree, layout.tree, is_main=layout.is_main)
    if home == layout.worktree or not os.path.isdir(home):
        return layout
    try:
        return find_layout(home, {})
    except Refusal:
        return layout


def _answer_from_store(context: HookContext, memory: SessionFile) -> HookAnswer:
    """Opens the store, so it costs what a claim costs, unless there is an opened one."""
    stores, layout, settings = context.stores, context.layout, context.settings
    if stores is not None:
        with stores.borrow(layout, settings) as store:
            place = _place(Repo(layout, settings, store, context.environ), context, memory)
            return answer_call(place, context.call, memory, saves=context.saves)
    store = open_store(layout, settings, is_hasty=True)
    try:
        place = _place(Repo(layout, settings, store, context.environ), context, memory)
        return answer_call(place, context.call, memory, saves=context.saves)
    finally:
        store.close()


def _place(repo: Repo, context: HookContext, memory: SessionFile) -> HookPlace:
    layout, settings, call, mirror = repo.layout, repo.settings, context.call, context.mirror
    root, marks = layout.worktree, SessionMarks(memory.path)

    def refuse_locked(request: Request) -> None:
        if mirror is not None:
            mirror.refuse_locked(repo, request)

    def is_secret(path: str) -> bool:
        from lineclear.core.worktrees.snapshots import SnapshotLimits

        names, has_secrets = settings.snapshots_secret_names, settings.snapshots_secrets
        return SnapshotLimits(secret_names=names, has_secrets=has_secrets).is_secret(path)

    return HookPlace(
        root=root, tree=repo.tree, name=layout.tree, person=person_name(settings.agents_person, repo.environ),
        is_main=layout.is_main, is_check=is_check_tree(root), rules=_rules(settings), environ=repo.environ,
        clock=repo.clock, store=repo.store, liveness=repo.liveness, presence=repo.presence,
        files=_files(repo.places, layout, settings, call.cwd, repo.tree), worktree=SessionWorktree(repo),
        shell=GitShellWatch(root, marks, is_secret), session_files=marks,
        writes=Writes(f"{repo.state_directory}/{SESSIONS}/writes"), refuse_locked=refuse_locked,
        note_change=context.note_change,
        note_tool_call=lambda call_id, agent: _tool_call(layout, call_id).set_now("agent", "", agent),
    )  # fmt: skip


def _tool_call(layout: Layout, call_id: str) -> SessionFile:
    return SessionFile(f"{state_directory(layout)}/{SESSIONS}/{session_key('call', call_id)}")


def take_tool_call(cwd: str, environ: Mapping[str, str], call_id: str) -> str:
    """The sub-agent that makes this call of our MCP server, as its hook has noted; "" if it is none. The note
    is gone then."""
    try:
        note = _tool_call(find_layout(cwd, environ), call_id)
    except Refusal:
        return ""
    agent = note.get("agent")
    if agent:
        note.forget()
    return agent


def _rules(settings: Settings) -> HookRules:
    return HookRules(
        settings.rules, ttl_ms=settings.claims_ttl_ms, silence_ms=settings.agents_silence_ms,
        keep_ms=settings.operations_keep_ms, every_ms=settings.snapshots_every_ms,
        is_team=bool(settings.store_url), is_closed=settings.hooks_on_error == "closed",
    )  # fmt: skip


def files_of(layout: Layout, settings: Settings, cwd: str) -> TreeFiles:
    """The repository's files, for a call that is answered without its store."""
    places = WorktreePaths(layout, folds_case(layout, settings), settings.paths_nfc)
    return _files(places, layout, settings, cwd, layout.tree)


def _files(places: WorktreePaths, layout: Layout, settings: Settings, cwd: str, tree: str) -> TreeFiles:
    where = os.path.realpath(cwd) if os.path.isdir(cwd) else layout.worktree
    return TreeFiles(places, where, tree, fold_case=folds_case(layout, settings), nfc=settings.paths_nfc)


class SessionWorktree:
    """The worktree of a session, for what happens to worktrees."""

    __slots__ = ("_repo",)

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def make_worktree(self, caller: Caller, name: str) -> tuple[str, str]:
        from lineclear.wiring.worktrees import worktrees_in

        made = worktrees_in(self._repo).make(caller, name=name)
        return made.tree, made.path

    def adopt(self, caller: Caller) -> None:
        from lineclear.wiring.worktrees import worktrees_in

        worktrees_in(self._repo).adopt(caller, self._repo.layout.worktree, agent=caller.name)

    def changed_paths(self, base: str) -> set[str] | None:
        from lineclear.git.hook_tree import changed_paths

        layout, settings = self._repo.layout, self._repo.settings
        return changed_paths(layout, base, fold_case=folds_case(layout, settings), nfc=settings.paths_nfc)

    def saved_ns(self) -> int:
        return time_of(mark_of(self._repo, self._repo.tree))

    def is_served(self) -> bool:
        from lineclear.host.server_address import is_held

        return self._repo.settings.serve_snapshots and is_held(self._repo.state_directory)

    def is_supervised(self) -> bool:
        return self._repo.bonds.is_held(SUPERVISOR)

    def note_edit(self) -> None:
        touch(edited_of(self._repo, self._repo.tree))

    def save_beside(self, agent: str) -> None:
        from lineclear.git.snapshots.detached import start_snapshot

        repo = self._repo
        start_snapshot(
            mark_of(repo, repo.tree), repo.settings.snapshots_every_ms, repo.environ,
            agent=agent, path=repo.layout.worktree,
        )  # fmt: skip
