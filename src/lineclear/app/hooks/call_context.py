"""A client's session during one call: who calls, where its files are, and what waits for the commit.

It holds the call's only transaction, or a read that the first write aborts. The call may be repeated from the
start, so effects outside the store wait for `finish`.
"""

from __future__ import annotations

from lineclear.app.agents.heartbeat import PendingPresence, beat_in
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.agents.whoami import recognise
from lineclear.app.hooks.ports import FileInTree
from lineclear.core.agents.hooks import subagent_name
from lineclear.core.agents.names import is_family, is_main_tree
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
    from lineclear.core.claims.granting import Request
    from lineclear.core.claims.strategies import Rule

# How long an agent counts as present after its last sign of life.
HERE_NS = 10 * 60 * 1_000_000_000
# How Claude Code names the worktree of a sub-agent.
_SUBAGENT = "agent-"


class HookSession:
    """One session, one call, one transaction. `is_shared`: several agents may write in the session's
    worktree. `is_changed`: the call changed the store. `delivered`: the log position up to which its agent
    was told."""

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
        """The main tree is always shared; a linked one while another agent is alive in it."""
        if is_main_tree(tree):
            return True
        for agent in self.tx.pick(AGENT, "tree", (tree,)):
            if agent.kind == "agent" and agent.state == "here" and agent.session:
                idle_ns = self.presence.idle_ns(agent.name)
                is_other = not is_family(agent.name, self.caller.name)
                if is_other and idle_ns is not None and idle_ns < HERE_NS:
                    return True
        return False

    def has_relatives(self, tree: str) -> bool:
        """Do sub-agents work in this tree, which is their parent's too? Or did they?"""
        name = self.caller.name
        is_parent = any(agent.name.startswith(name + "/") for agent in self.tx.pick(AGENT, "tree", (tree,)))
        return "/" in name or is_parent

    # -- files ------------------------------------------------------------------------------

    def locate(self, path: str) -> FileInTree | None:
        """The file at a path that a tool was given; None outside the repository."""
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

    def other_names(self, file: FileInTree) -> list[str]:
        """The paths of tracked files that change together with this one, since they are hard links to it."""
        root = file.real.removesuffix("/" + file.path)
        return self._place.files.other_names(root, file.path)

    def digest(self, file: FileInTree) -> str:
        """A digest of the file's content; "" if there is no file."""
        return self._place.files.digest(file.real)

    def text_of(self, file: FileInTree) -> str:
        """The text of a small file; "" if it is large or cannot be read."""
        return self._place.files.text(file.real)

    def fence_for(self, file: FileInTree) -> int:
        """The session's fence if `lineclear with` holds this file for it; 0 if not."""
        return fence_from(self._place.environ, file.resource)

    def refuse_locked(self, request: Request) -> None:
        self._place.refuse_locked(request)

    def note_write(self, file: FileInTree, digest: str) -> None:
        """Tell others in the same tree who wrote this content."""
        self.writes.note(self.caller.name, file.tree, file.path, digest or "gone")

    def last_writer(self, file: FileInTree, digest: str) -> str:
        """The agent whose edit gave the file this content; "" if that is not known."""
        writes = self.writes.since(0, file.tree)
        return next((by for _, by, path, its in reversed(writes) if (path, its) == (file.path, digest)), "")

    def writes_of_others(self, file: FileInTree) -> int:
        """How many writes of the file by other agents are known."""
        writes = self.writes.since(0, file.tree)
        return sum(path == file.path and not is_family(by, self.caller.name) for _, by, path, _ in writes)

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
        """What the commands of `commands_to_look_at` have changed, without known writes of others."""
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

    def note_tool_call(self, call_id: str) -> None:
        """Our MCP server will ask which sub-agent makes this call."""
        name = self.caller.name
        self.after_commit(lambda: self._place.note_tool_call(call_id, name))

    # -- coming and going -------------------------------------------------------------------

    def make_worktree(self, name: str, reply: HookAnswer) -> None:
        """Answer with the path of the worktree of this name. Like the client, use an existing one again. A
        new one belongs to nobody until the first call from inside adopts it."""
        scope = self._place.tree.removesuffix(self._place.name)
        row = self.tx.get(WORKTREE, (scope + name,))

        def make() -> None:
            if row is not None and self._place.files.is_directory(row.path):
                tree, reply.path = name, row.path
            else:
                made, reply.path = self._place.worktree.make_worktree(self.caller, name)
                tree = made.removeprefix(scope)
            if not name.startswith(_SUBAGENT):
                # The session moves there; a sub-agent's worktree is not its own.
                self.memory.set("home", "", reply.path)
                self.memory.set("owner", tree, "mine")

        self._change_after_commit(make)

    def enter(self) -> None:
        """Begin the session: adopt a linked worktree that belongs to nobody."""
        if self._place.is_main or self._place.is_check:
            return
        row = self.tx.get(WORKTREE, (self._place.tree,))
        if row is None or not row.agent:
            self._change_after_commit(lambda: self._place.worktree.adopt(self.caller))

    def leave(self) -> None:
        """End the session: release its intents on unchanged paths."""
        row = self.tx.get(WORKTREE, (self._place.tree,))
        base = row.base if row is not None else ""

        def give_back() -> None:
            from lineclear.app.hooks.session_end import give_back_unchanged

            # Save first: a repeated call would have to rejoin only to mark its messages as read.
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
        """Call this after the transaction and before the answer is stored."""
        self._after_commit.append(act)

    def _change_after_commit(self, act: Callable[[], None]) -> None:
        """`after_commit` for work that needs git, and so changes the store in its own transaction."""
        self.is_changed = True
        self._after_commit.append(act)

    def finish(self, reply: HookAnswer, call_id: str) -> None:
        """Do what the call does outside the store. `call_id`: set if the stub may repeat the call."""
        if self.delivered:
            self._pending.touch(self.caller.name, self.delivered)
        self._pending.flush()
        try:
            for act in self._after_commit:
                act()
            if call_id:
                from lineclear.app.hooks.repeated_calls import keep_answer

                keep_answer(self.memory, self._call, call_id, reply)
        finally:
            # One write for what was told and for the answer that told it: see repeated.py.
            self.memory.save()
            if self.is_changed:
                self._place.note_change()
        self.writes.flush()
        for act in self._after_answer:
            act()
