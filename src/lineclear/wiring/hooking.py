"""A coding agent's hook, wired: where the session is, what it remembers, and its one step in the store.

The use cases are app/hooks/events.py's. Gather, decide, append: git is asked first, then the store once, and
all that the call does elsewhere waits for the commit. What only some events need is imported where it is
needed: a hook is a process of a few milliseconds.
"""

from __future__ import annotations

import os
import time

from lineclear.app.agents.heartbeat import beat_in
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.agents.whoami import recognise, signs_of
from lineclear.app.hooks import events
from lineclear.app.hooks.ports import FileInTree
from lineclear.app.one_step import in_one_step
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
    subagent_name,
)
from lineclear.core.agents.names import is_family
from lineclear.core.claims.write_rule import fence_from
from lineclear.core.log.tables import AGENT, CLAIM, TASK, WAIT, WORKTREE
from lineclear.core.tasks.states import TAKEN
from lineclear.core.words.refusals import Refusal
from lineclear.git.layout import find_layout, is_check_tree
from lineclear.host.heartbeats import PendingPresence
from lineclear.host.sessions import SessionFile, Writes, digest_of
from lineclear.wiring.hooking_context import CALL, SESSIONS, file_at, home_of, memory_of
from lineclear.wiring.repo import Repo, mark_of, open_store, person_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lineclear.app.hooks.ports import ShellChange
    from lineclear.app.ports import Tx, View
    from lineclear.core.agents.hooks import HookCall
    from lineclear.core.agents.identity import Signs
    from lineclear.core.claims.rules import Request
    from lineclear.core.log.questions import Question
    from lineclear.wiring.hooking_context import HookContext
    from lineclear.wiring.hooking_shell import ShellLook

_LARGEST_TEXT_BYTES = 1 << 20
_HERE_NS = 10 * 60 * 1_000_000_000
# Events after which work may be lost that nobody saves.
_SAVED = (BEFORE_EDIT, AFTER_EDIT, BEFORE_SHELL, AFTER_SHELL, PROMPT, STOP, SESSION_END)


def respond(context: HookContext) -> HookAnswer:
    """Answer one call. One with an id that was answered before gets the same answer, and nothing is done."""
    memory = memory_of(context)
    context.layout = home_of(context.layout, memory)
    call_id = context.environ.get(CALL, "")
    if call_id:
        from lineclear.wiring.hooking_again import answer_again

        known = answer_again(memory, call_id)
        if known is not None:
            from lineclear.wiring.hooking_marks import catch_up

            catch_up(memory, context.call)
            if context.mirror is not None:
                context.mirror.note_change()  # the one who answered may not have come to it
            return known
    if not context.settings.store_url:
        return answer_from_store(context, memory)
    from lineclear.wiring.hooking_team import respond_in_team

    return respond_in_team(context, lambda: answer_from_store(context, memory_of(context)))


def answer_from_store(context: HookContext, memory: SessionFile) -> HookAnswer:
    """Opens the store, so it costs what a claim costs, unless there is an opened one."""
    stores, layout, settings = context.stores, context.layout, context.settings
    if stores is None:
        store = open_store(layout, settings, is_hasty=True)
        try:
            return _answer(Repo(layout, settings, store, context.environ), context, memory)
        finally:
            store.close()
    store = stores.borrow(layout, settings)
    try:
        reply = _answer(Repo(layout, settings, store, context.environ), context, memory)
    except BaseException:
        stores.lose(store)
        raise
    stores.give_back(store)
    return reply


def _answer(repo: Repo, context: HookContext, memory: SessionFile) -> HookAnswer:
    call, settings = context.call, repo.settings
    look, changed = None, []
    commands, is_over = events.commands_to_look_at(memory, call)
    if commands:
        from lineclear.wiring.hooking_shell import look_at

        root = repo.layout.worktree
        look = look_at(root, memory, commands, is_over=is_over, settings=settings)
        changed = [f"{root}/{os.fsdecode(path)}" for path in look.changed] if look is not None else []
    caller = Caller("", tree=repo.tree, keep_ms=settings.operations_keep_ms)
    signs = signs_of(
        repo.environ, person=person_name(settings, repo.environ), client=call.client, session=call.session
    )

    def work(tx: Tx) -> tuple[HookSession, HookAnswer, int] | None:
        if call.event == SESSION_END and not _is_known(tx, call, repo.environ):
            return None
        head = tx.head
        session = HookSession(repo, context, tx, memory.copy(), caller, signs, look)
        reply = events.answer(session, call)
        session.is_changed = session.is_changed or tx.head != head
        return session, reply, session.delivered

    done = in_one_step(
        repo.store, caller, work,
        is_write_likely=events.is_write_likely(
            memory, repo.presence, call, is_main=repo.layout.is_main, changed=changed
        ),
        near=_near(repo, call, memory, changed) if settings.store_url else (),
    )  # fmt: skip
    if done is None:
        return HookAnswer()
    session, reply, delivered = done
    session.finish(reply, delivered)
    if context.saves and call.event in _SAVED and call.session:
        session.save_beside()
    return reply


def _near(repo: Repo, call: HookCall, memory: SessionFile, changed: list[str]) -> list[Question]:
    """What the answer will ask of a store that is far away, as far as that is known before."""
    from lineclear.app.claims import near_claims
    from lineclear.app.messages import near_reader
    from lineclear.core.log.questions import any_of, by_index, by_key

    name, tree = memory.get("agent"), repo.tree
    asked = [any_of(AGENT, "tree", tree), by_key(WORKTREE, tree)]
    if call.session:
        asked.append(any_of(AGENT, "session", call.session))
    if name:
        asked += [by_key(AGENT, name), any_of(CLAIM, "key", name), *near_reader(name)]
    if call.event in (BEFORE_EDIT, AFTER_SHELL, SESSION_START, PROMPT):
        asked += [by_index(WAIT, "key"), by_index(TASK, "ready", TAKEN)]
    cwd = os.path.realpath(call.cwd) if os.path.isdir(call.cwd) else repo.layout.worktree
    for path in [*changed, *(call.paths if call.event == BEFORE_EDIT else ())]:
        try:
            resource = file_at(repo.layout, repo.settings, repo.places.find(path, cwd)[1])
        except Refusal:
            continue  # outside of the repository
        asked += near_claims([resource])
        if name:
            asked.append(by_key(CLAIM, name, resource.text))
    return asked


def _is_known(view: View, call: HookCall, environ: Mapping[str, str]) -> bool:
    """A session that nobody knows, or has ended already, would have to begin in order to end."""
    if not call.session or environ.get("LINECLEAR_AGENT") or environ.get("LINECLEAR_TOKEN"):
        return True
    return bool(view.pick(AGENT, "session", (call.session,)))


class HookSession:
    """What app/hooks/ports.py asks for, over one opened repository and one transaction."""

    __slots__ = (
        "_after_answer", "_after_commit", "_call", "_context", "_cwd", "_look", "_repo", "_trees", "caller",
        "delivered", "is_changed", "is_shared", "liveness", "memory", "presence", "root", "rules",
        "settings", "tree", "ttl_ms", "tx", "writes",
    )  # fmt: skip

    def __init__(
        self, repo: Repo, context: HookContext, tx: Tx, memory: SessionFile, caller: Caller, signs: Signs,
        look: ShellLook | None,
    ) -> None:  # fmt: skip
        self._repo, self._context, self._call, self._look = repo, context, context.call, look
        self.tx, self.memory, self.caller = tx, memory, caller
        self.liveness, self.presence = repo.liveness, PendingPresence(repo.presence)
        self.settings, self.tree, self.root = repo.settings, repo.tree, repo.layout.worktree
        self.rules, self.ttl_ms = repo.settings.rules, repo.settings.claims_ttl_ms
        self._after_commit: list[Callable[[], None]] = []
        self._after_answer: list[Callable[[], None]] = []
        self.is_changed, self.delivered = False, 0
        self._cwd = os.path.realpath(self._call.cwd) if os.path.isdir(self._call.cwd) else self.root
        self.writes = Writes(f"{repo.state_directory}/{SESSIONS}/writes")
        self._trees: dict[str, str] = {self.root: repo.tree}
        self._recognise(signs)
        self.is_shared = self._is_shared(repo.tree)
        memory.set("agent", "", caller.name)
        if not memory.get("home"):
            memory.set("home", "", self.root)
            memory.set("owner", repo.layout.tree, "mine")

    # -- who --------------------------------------------------------------------------------

    def _recognise(self, signs: Signs) -> None:
        caller, call = self.caller, self._call
        token, silence_ms = self._repo.environ.get("LINECLEAR_TOKEN", ""), self.settings.agents_silence_ms
        if recognise(self.tx, self.presence, caller, signs, token=token, silence_ms=silence_ms):
            ensure_agent(self.tx, caller)
            self.presence.touch(caller.name)
        if call.subagent:
            caller.name, caller.session = subagent_name(caller.name, call.subagent), call.child_session
            caller.seen = self.presence.seen(caller.name)
        beat_in(self.tx, self.presence, caller)

    def _is_shared(self, tree: str) -> bool:
        """The main tree is everybody's; a linked one is shared while a second agent is alive in it."""
        if tree.rpartition("/")[2] == "main":
            return True
        for agent in self.tx.pick(AGENT, "tree", (tree,)):
            if agent.kind == "agent" and agent.state == "here" and agent.session:
                idle_ns = self.presence.idle_ns(agent.name)
                is_other = not is_family(agent.name, self.caller.name)
                if is_other and idle_ns is not None and idle_ns < _HERE_NS:
                    return True
        return False

    # -- where ------------------------------------------------------------------------------

    def locate(self, path: str) -> FileInTree | None:
        settings, layout = self._repo.settings, self._repo.layout
        try:
            root, below = self._repo.places.find(path, self._cwd)
            resource = file_at(layout, settings, below)
            tree = self._tree_at(root)
        except Refusal:
            return None
        is_shared = self.is_shared if tree == self.tree else self._is_shared(tree)
        return FileInTree(resource, below, f"{root}/{below}", tree, is_shared)

    def _tree_at(self, root: str) -> str:
        if root not in self._trees:
            name = find_layout(root, {}).tree
            scope = self.tree.rpartition("/")[0]
            self._trees[root] = f"{scope}/{name}" if scope else name
        return self._trees[root]

    def digest(self, file: FileInTree) -> str:
        return digest_of(file.real)

    def text_of(self, file: FileInTree) -> str:
        try:
            with open(file.real, "rb", buffering=0) as opened:
                return (opened.read(_LARGEST_TEXT_BYTES) or b"").decode("utf-8", "replace")
        except (OSError, ValueError):
            return ""

    def fence_for(self, file: FileInTree) -> int:
        return fence_from(self._repo.environ, file.resource)

    def refuse_locked(self, request: Request) -> None:
        if self._context.mirror is not None:
            self._context.mirror.refuse_locked(self._repo, request)

    def note_write(self, file: FileInTree, digest: str) -> None:
        self.writes.note(time.time_ns(), self.caller.name, file.tree, file.path, digest or "gone")

    # -- shell ------------------------------------------------------------------------------

    def begin_shell(self, call_id: str) -> None:
        from lineclear.wiring.hooking_shell import begin

        self.after_commit(lambda: begin(self, call_id, self._look))

    def shell_changes(self) -> list[ShellChange]:
        look = self._look
        if look is None:
            return []
        from lineclear.wiring.hooking_shell import changes_in, remember

        self.after_commit(lambda: remember(self, look))
        return changes_in(self, look)

    # -- coming and going -------------------------------------------------------------------

    def make_worktree(self, name: str, reply: HookAnswer) -> None:
        def make() -> None:
            from lineclear.wiring.hooking_worktree import make_for

            tree, reply.path, is_own = make_for(self._repo, self.caller, name)
            if is_own:
                # The session moves in.
                self.memory.set("home", "", reply.path)
                self.memory.set("owner", tree, "mine")

        self._change_after_commit(make)

    def enter(self) -> None:
        if self._repo.layout.is_main or is_check_tree(self.root):
            return
        row = self.tx.get(WORKTREE, (self.tree,))
        if row is not None and row.agent:
            return

        def adopt() -> None:
            from lineclear.wiring.worktrees import adopt

            adopt(self._repo, self.caller, self.root, agent=self.caller.name)

        self._change_after_commit(adopt)

    def leave(self) -> None:
        row = self.tx.get(WORKTREE, (self.tree,))
        base = row.base if row is not None else ""

        def give_back() -> None:
            from lineclear.wiring.hooking_end import give_back_unchanged

            # First: one who is asked again would have to come back to say that it has read its messages.
            self.memory.save()
            is_over = not self._call.subagent
            give_back_unchanged(
                self._repo, self.caller, base, is_session_over=is_over, is_shared=self.is_shared
            )

        self._change_after_commit(give_back)

    def told_up_to(self, position: int) -> None:
        self.delivered = position

    # -- the end of the call ----------------------------------------------------------------

    def after_commit(self, act: Callable[[], None]) -> None:
        self._after_commit.append(act)

    def _change_after_commit(self, act: Callable[[], None]) -> None:
        """For what needs git in between, and so a transaction of its own."""
        self.is_changed = True
        self._after_commit.append(act)

    def after_answer(self, act: Callable[[], None]) -> None:
        """Do this when the answer is kept."""
        self._after_answer.append(act)

    def finish(self, reply: HookAnswer, delivered: int) -> None:
        """What the call does outside of the store. `delivered`: up to where its agent has been told."""
        if delivered:
            self.presence.touch(self.caller.name, delivered)
        self.presence.flush()
        try:
            for act in self._after_commit:
                act()
            self._keep_answer(reply)
        finally:
            # All that was said, with the answer that says it, in one piece: see hooking_again.py.
            self.memory.save()
            if self.is_changed and self._context.mirror is not None:
                self._context.mirror.note_change()
        self.writes.flush()
        for act in self._after_answer:
            act()

    def _keep_answer(self, reply: HookAnswer) -> None:
        """For a stub that may have to ask again."""
        call_id = self._repo.environ.get(CALL, "")
        if call_id:
            from lineclear.wiring.hooking_again import keep_answer

            keep_answer(self.memory, self._call, call_id, reply)

    def save_beside(self) -> None:
        """See to it that what the session has changed is in a snapshot, where nobody else does."""
        repo, now_ns = self._repo, time.time_ns()
        # Its time is that of the last edit.
        edited = self.memory.path + ".edited"
        is_edit = self._call.event == AFTER_EDIT
        changed_ns = now_ns if is_edit else max(_time_of(edited), _time_of(self.memory.path + ".picture"))
        marked_ns = _time_of(mark_of(repo, repo.tree))
        every_ns = repo.settings.snapshots_every_ms * 1_000_000
        if changed_ns <= marked_ns or is_check_tree(self.root):
            return
        try:
            if now_ns - marked_ns >= every_ns:
                from lineclear.wiring.saving_beside import save_beside

                save_beside(repo, self.caller.name.partition("/")[0])
            elif is_edit:
                with open(edited, "ab"):  # for the next call, which may find that it is time
                    os.utime(edited)
        except OSError:
            pass  # the answer counts more


def _time_of(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
