"""A client's session during one call: who calls, where its files lie, and what waits for the commit.

Holds the call's one transaction, or a snapshot on which the first write ends the attempt. All of this may be
made and asked again from the start: effects outside of the store wait for `finish`.
"""

from __future__ import annotations

from lineclear.app.agents.heartbeat import PendingPresence, beat_in
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.agents.whoami import recognise
from lineclear.app.hooks.ports import FileInTree
from lineclear.core.agents.hooks import subagent_name
from lineclear.core.agents.names import is_family
from lineclear.core.claims.write_rule import fence_from
from lineclear.core.log.tables import AGENT, WORKTREE
from lineclear.core.words.refusals import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.hooks.ports import HookPlace, Memory, ShellChange, ShellLook, WriteLog
    from lineclear.app.ports import Caller, Liveness, Presence, Tx
    from lineclear.core.agents.hooks import HookAnswer, HookCall
    from lineclear.core.agents.identity import Signs
    from lineclear.core.claims.rules import Request
    from lineclear.core.claims.strategies import Rule

# How long somebody counts as being here after its last sign of life.
HERE_NS = 10 * 60 * 1_000_000_000
# How Claude Code names the worktree of a sub-agent.
_SUBAGENT = "agent-"


class HookSession:
    """One session, one call, one transaction. `is_shared`: several agents may write the files of the worktree
    in which this one is. `is_changed`: the call changed the store. `delivered`: up to where its agent has
    been told."""

    __slots__ = (
        "_after_answer", "_after_commit", "_call", "_look", "_pending", "_place", "_trees", "caller",
        "delivered", "is_changed", "is_shared", "liveness", "memory", "presence", "root", "rules", "ttl_ms",
        "tx", "writes",
    )  # fmt: skip

    def __init__(
        self, place: HookPlace, call: HookCall, tx: Tx, memory: Memory, caller: Caller, signs: Signs,
        look: ShellLook | None,
    ) -> None:  # fmt: skip
        self._place, self._call, self._look = place, call, look
        self._pending = PendingPresence(place.presence)
        self.tx, self.memory, self.caller = tx, memory, caller
        self.liveness: Liveness = place.liveness
        self.presence: Presence = self._pending
        self.root: str = place.root
        self.rules: list[Rule] = place.rules.rules
        self.ttl_ms = place.rules.ttl_ms
        self.writes: WriteLog = place.writes.copy()
        self._after_commit: list[Callable[[], None]] = []
        self._after_answer: list[Callable[[], None]] = []
        self._trees = {place.root: place.tree}
        self.is_changed, self.delivered = False, 0
        self._recognise(signs)
        self.is_shared = self._is_shared(place.tree)
        memory.set("agent", "", caller.name)
        if not memory.get("home"):
            memory.set("home", "", self.root)
            memory.set("owner", place.name, "mine")

    # -- who --------------------------------------------------------------------------------

    def _recognise(self, signs: Signs) -> None:
        caller, call, place = self.caller, self._call, self._place
        token = place.environ.get("LINECLEAR_TOKEN", "")
        if recognise(self.tx, self.presence, caller, signs, token=token, silence_ms=place.rules.silence_ms):
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
                if is_other and idle_ns is not None and idle_ns < HERE_NS:
                    return True
        return False

    # -- files ------------------------------------------------------------------------------

    def locate(self, path: str) -> FileInTree | None:
        """Where a path lies that a tool was given; None outside the repository."""
        files = self._place.files
        try:
            root, below, resource = files.find(path)
            if root not in self._trees:
                self._trees[root] = files.tree_at(root)
        except Refusal:
            return None
        tree = self._trees[root]
        is_shared = self.is_shared if tree == self._place.tree else self._is_shared(tree)
        return FileInTree(resource, below, f"{root}/{below}", tree, is_shared)

    def digest(self, file: FileInTree) -> str:
        """A name for the content that is there now; "" when there is none."""
        return self._place.files.digest(file.real)

    def text_of(self, file: FileInTree) -> str:
        """The file's text as far as it is small; "" when it cannot be read."""
        return self._place.files.text(file.real)

    def fence_for(self, file: FileInTree) -> int:
        """The fence that the session works under where it holds this file by `with`; 0 for none."""
        return fence_from(self._place.environ, file.resource)

    def refuse_locked(self, request: Request) -> None:
        self._place.refuse_locked(request)

    def note_write(self, file: FileInTree, digest: str) -> None:
        """Let others in the same tree know who wrote this content."""
        self.writes.note(self.caller.name, file.tree, file.path, digest or "gone")

    # -- shell ------------------------------------------------------------------------------

    def begin_shell(self, call_id: str) -> None:
        """Remember what the tree looks like before a command runs."""

        def begin() -> None:
            is_fresh = self._look is not None and self._look.is_compared
            self._place.shell.begin(self.memory, call_id, self._writes_size(), is_fresh=is_fresh)
            if self.is_shared:
                self.writes.note(self.caller.name, self._place.tree, "", "+")

        self.after_commit(begin)

    def shell_changes(self) -> list[ShellChange]:
        """What the commands of `commands_to_look_at` have changed, without what others are known to have
        written meanwhile."""
        look = self._look
        if look is None:
            return []

        def remember() -> None:
            if self.is_shared and look.is_over and look.is_compared:
                self.writes.note(self.caller.name, self._place.tree, "", "-")
            self._after_answer.append(look.remember(self.memory, self._writes_size()))

        self.after_commit(remember)
        if not look.changed:
            return []
        from lineclear.app.hooks.shell import own_changes

        others = self.writes if self.is_shared else None
        return own_changes(look, self._place.files, self.root, others, self._place.tree, self.caller.name)

    def _writes_size(self) -> int:
        return self.writes.size() if self.is_shared else -1

    # -- coming and going -------------------------------------------------------------------

    def make_worktree(self, name: str, reply: HookAnswer) -> None:
        """Answer with the path of the worktree of this name. One that is there already is used again, as the
        client does. A new one is nobody's until the first call from within: then it is adopted."""
        scope = self._place.tree.removesuffix(self._place.name)
        row = self.tx.get(WORKTREE, (scope + name,))

        def make() -> None:
            if row is not None and self._place.files.is_directory(row.path):
                tree, reply.path = name, row.path
            else:
                made, reply.path = self._place.worktree.make_worktree(self.caller, name)
                tree = made.removeprefix(scope)
            if not name.startswith(_SUBAGENT):
                # The session moves in.
                self.memory.set("home", "", reply.path)
                self.memory.set("owner", tree, "mine")

        self._change_after_commit(make)

    def enter(self) -> None:
        """The session begins: a linked worktree that nobody registered is adopted."""
        if self._place.is_main or self._place.is_check:
            return
        row = self.tx.get(WORKTREE, (self._place.tree,))
        if row is None or not row.agent:
            self._change_after_commit(lambda: self._place.worktree.adopt(self.caller))

    def leave(self) -> None:
        """The session ends: intents on paths without a change are given back."""
        row = self.tx.get(WORKTREE, (self._place.tree,))
        base = row.base if row is not None else ""

        def give_back() -> None:
            from lineclear.app.hooks.ending import give_back_unchanged

            # First: one who is asked again would have to come back to say that it has read its messages.
            self.memory.save()
            give_back_unchanged(
                self._place.store, self.caller, self._place.tree, self._place.worktree.changed_paths(base),
                is_session_over=not self._call.subagent, is_shared=self.is_shared,
            )  # fmt: skip

        self._change_after_commit(give_back)

    def told_up_to(self, position: int) -> None:
        self.delivered = position

    # -- the end of the call ----------------------------------------------------------------

    def after_commit(self, act: Callable[[], None]) -> None:
        """Do this when the transaction is over and before the answer is kept."""
        self._after_commit.append(act)

    def _change_after_commit(self, act: Callable[[], None]) -> None:
        """For what needs git in between, and so a transaction of its own."""
        self.is_changed = True
        self._after_commit.append(act)

    def finish(self, reply: HookAnswer, call_id: str) -> None:
        """What the call does outside of the store. `call_id`: of a stub that may have to ask again."""
        if self.delivered:
            self._pending.touch(self.caller.name, self.delivered)
        self._pending.flush()
        try:
            for act in self._after_commit:
                act()
            if call_id:
                from lineclear.app.hooks.repeated import keep_answer

                keep_answer(self.memory, self._call, call_id, reply)
        finally:
            # All that was said, with the answer that says it, in one piece: see repeated.py.
            self.memory.save()
            if self.is_changed:
                self._place.note_change()
        self.writes.flush()
        for act in self._after_answer:
            act()
