"""A coding agent's hook, wired: where the session stands, what it remembers, what a command changed.

The use cases are app/hooks.py's. What only some events need is imported where it is needed: a hook is a
process of a few milliseconds.
"""

from __future__ import annotations

import os
import time

from lineclear.app.hooks_ports import Change, Spot
from lineclear.core.hooks import (
    AFTER_EDIT,
    AFTER_READ,
    AFTER_SHELL,
    BEFORE_EDIT,
    BEFORE_SHELL,
    SESSION_END,
    SESSION_START,
    session_key,
    subagent_name,
)
from lineclear.core.names import is_family
from lineclear.core.refusals import Refusal
from lineclear.core.resources import parse_resource
from lineclear.core.tables import AGENT, WORKTREE
from lineclear.git.layout import find_layout, is_check_tree
from lineclear.process.sessions import Session, Writes, digest_of
from lineclear.wiring.repo import Repo, folds_case, open_store, person_name, read_settings, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from lineclear.app.ports import Caller, View
    from lineclear.core.claims import Request
    from lineclear.core.hooks import HookAnswer, HookCall
    from lineclear.git.layout import Layout
    from lineclear.git.pictures import Picture
    from lineclear.settings import Settings
    from lineclear.wiring.hooking_hush import HushFor

    class Mirror(Protocol):
        """The files for agents that only read files; the layer above us knows them."""

        def refuse_locked(self, repo: Repo, request: Request, /) -> None: ...
        def note_change(self) -> None: ...


SESSIONS = "sessions"
_LARGEST_TEXT_BYTES = 1 << 20
_HERE_NS = 10 * 60 * 1_000_000_000
# Before the settings are read, or anything else.
_BEGAN_NS = time.time_ns()
# Events that leave or end a hush.
_HUSHED = (BEFORE_EDIT, AFTER_EDIT, AFTER_READ, BEFORE_SHELL, AFTER_SHELL, SESSION_START, SESSION_END)


def layout_for(call: HookCall, environ: Mapping[str, str]) -> Layout | None:
    """The worktree that the session is in; None where there is no repository, or none under coordination."""
    # What git sets for its own hooks would point us elsewhere: the call itself says where it is.
    plain = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    for place in (call.cwd, environ.get("CLAUDE_PROJECT_DIR", ""), os.getcwd()):
        if place and os.path.isdir(place):
            try:
                return find_layout(place, plain)
            except Refusal:
                continue
    return None


def is_coordinated(layout: Layout, settings: Settings) -> bool:
    return bool(settings.store_url) or os.path.exists(f"{state_directory(layout)}/state.db")


def respond(
    layout: Layout,
    settings: Settings,
    call: HookCall,
    environ: Mapping[str, str],
    mirror: Mirror | None = None,
) -> HookAnswer:
    """Answer one call. Opens the store, so it costs what a claim costs. `mirror` is told of a change."""
    from lineclear.app.heartbeat import beat
    from lineclear.app.hooks import answer

    layout = _home(layout, call)
    repo = Repo(layout, settings, open_store(layout, settings), environ)
    try:
        # Before anything is read of the store.
        hush = _hush_for(repo, call) if call.event in _HUSHED else None
        head = repo.store.read(_head) if mirror is not None else 0
        desk = Desk(repo, call, mirror)
        beat(repo.store, repo.presence, desk.caller)
        try:
            reply = answer(desk, call)
        finally:
            desk.memory.save()
            if mirror is not None and repo.store.read(_head) != head:
                mirror.note_change()
        if hush is not None:
            hush.settle(desk, reply)
        return reply
    finally:
        repo.close()


def _head(view: View) -> int:
    return view.head


def _hush_for(repo: Repo, call: HookCall) -> HushFor | None:
    from lineclear.wiring.hooking_hush import HushFor

    return HushFor(repo, call, _BEGAN_NS)


def settings_for(layout: Layout, environ: Mapping[str, str]) -> Settings:
    return read_settings(layout, environ)


def _home(layout: Layout, call: HookCall) -> Layout:
    """A session stays where it began: an agent that changes directory into another agent's worktree does
    not become its neighbour. One that goes to a worktree of nobody's has moved."""
    memory = _memory_of(layout, call)
    home = memory.get("home")
    if home and home != layout.worktree and os.path.isdir(home) and not layout.is_main:
        owner = memory.get("owner", layout.tree)
        if owner != "mine":
            try:
                return find_layout(home, {})
            except Refusal:
                pass
    return layout


def _memory_of(layout: Layout, call: HookCall) -> Session:
    name = session_key(call.client, call.session)
    if call.subagent:
        name += "+" + session_key("sub", call.subagent)
    return Session(f"{state_directory(layout)}/{SESSIONS}/{name}")


class Desk:
    """What app/hooks_ports.py asks for, over one opened repository."""

    __slots__ = (
        "_call", "_cwd", "_mirror", "_repo", "_trees", "_writes", "caller", "is_shared", "liveness", "memory",
        "plain_status", "presence", "root", "rules", "store", "ttl_ms",
    )  # fmt: skip

    def __init__(self, repo: Repo, call: HookCall, mirror: Mirror | None = None) -> None:
        self._repo, self._call, self._mirror = repo, call, mirror
        self.store, self.liveness, self.presence = repo.store, repo.liveness, repo.presence
        self.rules, self.ttl_ms = repo.settings.rules, repo.settings.claims_ttl_ms
        self.root = repo.layout.worktree
        # What git said of the tree, if a picture was taken just now and the stub can compare it.
        self.plain_status = b""
        self._cwd = os.path.realpath(call.cwd) if os.path.isdir(call.cwd) else self.root
        self.memory = _memory_of(repo.layout, call)
        self._writes = Writes(f"{repo.state_directory}/{SESSIONS}/writes")
        self._trees: dict[str, str] = {self.root: repo.tree}
        self.caller = self._identify()
        self.is_shared = self._is_shared(repo.tree)
        if not self.memory.get("home"):
            self.memory.set("home", "", self.root)
            self.memory.set("owner", repo.layout.tree, "mine")

    # -- who --------------------------------------------------------------------------------

    def _identify(self) -> Caller:
        from lineclear.app.whoami import identify

        repo, call = self._repo, self._call
        settings = repo.settings
        caller = identify(
            repo.store, repo.presence, environ=repo.environ, tree=repo.tree,
            person=person_name(settings, repo.environ), client=call.client, session=call.session,
            keep_ms=settings.operations_keep_ms, silence_ms=settings.agents_silence_ms,
        )  # fmt: skip
        if call.subagent:
            caller.name, caller.session = subagent_name(caller.name, call.subagent), ""
            caller.seen = repo.presence.seen(caller.name)
        return caller

    def _is_shared(self, tree: str) -> bool:
        """The main tree is everybody's; a linked one is shared while a second agent is alive in it."""
        if tree.rpartition("/")[2] == "main":
            return True

        def others(view: View) -> list[str]:
            here = view.pick(AGENT, "tree", (tree,))
            return [a.name for a in here if a.kind == "agent" and a.state == "here" and a.session]

        for name in self.store.read(others):
            idle_ns = self.presence.idle_ns(name)
            if not is_family(name, self.caller.name) and idle_ns is not None and idle_ns < _HERE_NS:
                return True
        return False

    # -- where ------------------------------------------------------------------------------

    def locate(self, path: str) -> Spot | None:
        settings, layout = self._repo.settings, self._repo.layout
        try:
            root, below = self._repo.places.find(path, self._cwd)
            resource = parse_resource(
                "file:" + below, literal=True, fold_case=folds_case(layout, settings), nfc=settings.paths_nfc
            )
            tree = self._tree_at(root)
        except Refusal:
            return None
        is_shared = self.is_shared if tree == self._repo.tree else self._is_shared(tree)
        return Spot(resource, below, f"{root}/{below}", tree, is_shared)

    def _tree_at(self, root: str) -> str:
        if root not in self._trees:
            name = find_layout(root, {}).tree
            scope = self._repo.tree.rpartition("/")[0]
            self._trees[root] = f"{scope}/{name}" if scope else name
        return self._trees[root]

    def digest(self, spot: Spot) -> str:
        return digest_of(spot.real)

    def text_of(self, spot: Spot) -> str:
        try:
            with open(spot.real, "rb", buffering=0) as file:
                return (file.read(_LARGEST_TEXT_BYTES) or b"").decode("utf-8", "replace")
        except (OSError, ValueError):
            return ""

    def refuse_locked(self, request: Request) -> None:
        if self._mirror is not None:
            self._mirror.refuse_locked(self._repo, request)

    def note_write(self, spot: Spot, digest: str) -> None:
        self._writes.note(time.time_ns(), self.caller.name, spot.tree, spot.path, digest or "gone")

    # -- shell ------------------------------------------------------------------------------

    def begin_shell(self, call_id: str) -> None:
        from lineclear.git.pictures import plain_status, read_picture, take_picture, write_picture

        path = self.memory.path + ".picture"
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        before = read_picture(path)
        is_edited = self._was_edited()
        if before is None or is_edited or self.memory.get("picture") != self._freshness():
            picture = take_picture(self.root, before, self._is_secret)
            write_picture(path, picture)
            self.plain_status = plain_status(picture)
            self.memory.set("picture", "", self._freshness())
        self._clear_marks()
        # Last: what is changed from now on has a later time than this file.
        with open(self._mark(call_id), "wb"):
            pass
        if self.is_shared:
            self._writes.note(time.time_ns(), self.caller.name, self._repo.tree, "", "+")

    def end_shell(self, call_id: str) -> list[Change]:
        from lineclear.git.pictures import (
            changed_since,
            plain_status,
            read_picture,
            take_picture,
            write_picture,
        )

        path, mark = self.memory.path + ".picture", self._mark(call_id)
        before = read_picture(path)
        try:
            start_ns = os.stat(mark).st_ctime_ns
            os.unlink(mark)
        except OSError:
            return []
        if before is None:
            return []
        # The stub has asked git before it asked us.
        said = self._repo.environ.get("LINECLEAR_STATUS", "")
        after = take_picture(self.root, before, self._is_secret, said)
        found = changed_since(self.root, before, after, start_ns)
        changes = self._without_others(found, start_ns, before, after)
        if self.is_shared:
            self._writes.note(time.time_ns(), self.caller.name, self._repo.tree, "", "-")
        write_picture(path, after)
        self.plain_status = plain_status(after)
        self.memory.set("picture", "", self._freshness())
        return changes

    def _without_others(
        self, found: list[bytes], start_ns: int, before: Picture, after: Picture
    ) -> list[Change]:
        """Leave out what others are known to have written; mark as unsure what they might have."""
        from lineclear.git.pictures import undo_command

        theirs, is_alone = self._others_since(start_ns) if self.is_shared else ({}, True)
        changes = []
        for path in found:
            name = os.fsdecode(path)
            digest = theirs.get(name)
            if digest is not None and (digest_of(f"{self.root}/{name}") or "gone") == digest:
                continue
            undo = undo_command(self.root, path, before, after)
            changes.append(Change(name, undo, is_alone and digest is None))
        return changes

    def _others_since(self, start_ns: int) -> tuple[dict[str, str], bool]:
        """What others wrote since then, and whether no command of another's ran meanwhile."""
        running: dict[str, bool] = {}
        theirs: dict[str, str] = {}
        is_alone = True
        for at_ns, agent, path, digest in self._writes.since(start_ns - _HERE_NS, self._repo.tree):
            if is_family(agent, self.caller.name):
                continue
            if digest in ("+", "-"):
                running[agent] = digest == "+"
                is_alone = is_alone and at_ns < start_ns
            elif at_ns >= start_ns:
                theirs[path] = digest
        return theirs, is_alone and not any(running.values())

    def _freshness(self) -> str:
        """The last picture still counts while nobody is known to have written since."""
        return f"{self.root} {self._writes.size()}" if self.is_shared else self.root

    def _was_edited(self) -> bool:
        """Has the stub let an edit pass since? It says so in a file of its own."""
        try:
            os.unlink(self.memory.path + ".edited")
        except OSError:
            return False
        return True

    def _mark(self, call_id: str) -> str:
        from lineclear.core.hooks import session_key

        return f"{self.memory.path}.{session_key('call', call_id)[:60]}"

    def _clear_marks(self) -> None:
        """Marks of calls that the stub has let pass: it cannot remove them, only write into them."""
        directory, _, name = self.memory.path.rpartition("/")
        for found in os.listdir(directory):
            if found.startswith(f"{name}.call-"):
                try:
                    if os.path.getsize(f"{directory}/{found}"):
                        os.unlink(f"{directory}/{found}")
                except FileNotFoundError:
                    pass  # a call beside this one was quicker

    def _is_secret(self, path: str) -> bool:
        from lineclear.core.snapshots import Limits

        settings = self._repo.settings
        return not settings.snapshots_secrets and Limits(
            secret_names=settings.snapshots_secret_names
        ).is_secret(path)

    # -- coming and going -------------------------------------------------------------------

    def make_worktree(self, name: str) -> str:
        from lineclear.wiring.hooking_worktree import make_for

        tree, path, is_own = make_for(self._repo, self.caller, name)
        if is_own:
            # The session moves in.
            self.memory.set("home", "", path)
            self.memory.set("owner", tree, "mine")
        return path

    def enter(self) -> None:
        if self._repo.layout.is_main or is_check_tree(self.root):
            return
        row = self.store.read(lambda view: view.get(WORKTREE, (self._repo.tree,)))
        if row is not None and row.agent:
            return
        from lineclear.wiring.worktrees import adopt

        adopt(self._repo, self.caller, self.root, agent=self.caller.name)

    def leave(self) -> None:
        from lineclear.wiring.hooking_end import give_back_unchanged

        is_over = not self._call.subagent
        give_back_unchanged(self._repo, self.caller, is_session_over=is_over, is_shared=self.is_shared)

    def told_up_to(self, position: int) -> None:
        self.presence.touch(self.caller.name, position)
