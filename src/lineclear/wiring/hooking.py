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
    PROMPT,
    SESSION_END,
    SESSION_START,
    STOP,
    HookAnswer,
    session_key,
    subagent_name,
)
from lineclear.core.names import is_family
from lineclear.core.refusals import Refusal
from lineclear.core.resources import parse_resource
from lineclear.core.tables import AGENT, WORKTREE
from lineclear.git.layout import find_layout, is_check_tree
from lineclear.process.sessions import Session, Writes, digest_of
from lineclear.wiring.repo import (
    Repo,
    folds_case,
    mark_of,
    open_store,
    person_name,
    read_settings,
    state_directory,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from lineclear.app.ports import Caller, View
    from lineclear.core.claims import Request
    from lineclear.core.hooks import HookAnswer, HookCall
    from lineclear.core.resources import Resource
    from lineclear.git.layout import Layout
    from lineclear.git.pictures import Picture
    from lineclear.settings import Settings
    from lineclear.wiring.hooking_hush import HushFor
    from lineclear.wiring.hooking_stores import Stores

    class Mirror(Protocol):
        """The files for agents that only read files; the layer above us knows them."""

        def refuse_locked(self, repo: Repo, request: Request, /) -> None: ...
        def note_change(self) -> None: ...


SESSIONS = "sessions"
# The id that a stub gives to a call which it asks twice when the first one it asked is killed.
CALL = "LINECLEAR_CALL"
_LARGEST_TEXT_BYTES = 1 << 20
_HERE_NS = 10 * 60 * 1_000_000_000
_LONGEST_CALL_S = 10 * 60
# Events after which work may be lost that nobody saves.
_SAVED = (BEFORE_EDIT, AFTER_EDIT, BEFORE_SHELL, AFTER_SHELL, PROMPT, STOP, SESSION_END)
# Events that leave or end a hush.
_HUSHED = (BEFORE_EDIT, AFTER_EDIT, AFTER_READ, BEFORE_SHELL, AFTER_SHELL, SESSION_START, SESSION_END)


def layout_for(call: HookCall, environ: Mapping[str, str], cwd: str) -> Layout | None:
    """The worktree that the session is in; None where there is no repository, or none under coordination.
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
    return bool(settings.store_url) or os.path.exists(f"{state_directory(layout)}/state.db")


def respond(
    layout: Layout,
    settings: Settings,
    call: HookCall,
    environ: Mapping[str, str],
    mirror: Mirror | None = None,
    *,
    began_ns: int,
    stores: Stores | None = None,
    saves: bool = False,
) -> HookAnswer:
    """Answer one call. Opens the store, so it costs what a claim costs, unless `stores` has a warm one.

    `mirror` is told of a change. `began_ns`: before the settings were read. `saves`: a snapshot may be
    started beside us. A call with an id that was answered before gets the same answer, and nothing is done.
    """
    memory = _memory_of(layout, call)
    layout = _home(layout, memory)
    call_id = environ.get(CALL, "")
    if call_id:
        from lineclear.wiring.hooking_again import answer_again

        known = answer_again(memory, call_id)
        if known is not None:
            from lineclear.wiring.hooking_marks import catch_up

            catch_up(memory, call)
            if mirror is not None:
                mirror.note_change()  # whoever answered may not have come to it
            return known
    if not settings.store_url:
        return _ask_store(layout, settings, call, environ, mirror, began_ns, stores, saves, memory)
    from lineclear.wiring.hooking_team import respond_in_team

    return respond_in_team(
        layout, settings, call, environ, lambda: _memory_of(layout, call),
        lambda: _ask_store(layout, settings, call, environ, mirror, began_ns, stores, saves),
    )  # fmt: skip


def _ask_store(
    layout: Layout, settings: Settings, call: HookCall, environ: Mapping[str, str], mirror: Mirror | None,
    began_ns: int, stores: Stores | None, saves: bool, memory: Session | None = None,
) -> HookAnswer:  # fmt: skip
    """`memory`: what was read of the session a moment ago; it is long, and read once."""
    if stores is None:
        store = open_store(layout, settings, is_hasty=True)
        try:
            repo = Repo(layout, settings, store, environ)
            desk, reply = _respond(repo, call, mirror, began_ns, memory)
            if saves and desk is not None and call.event in _SAVED and call.session:
                desk.save_beside(repo)
            return reply
        finally:
            store.close()
    store = stores.borrow(layout, settings)
    try:
        repo = Repo(layout, settings, store, environ)
        desk, reply = _respond(repo, call, mirror, began_ns, memory)
        if saves and desk is not None and call.event in _SAVED and call.session:
            desk.save_beside(repo)
    except BaseException:
        stores.lose(store)
        raise
    stores.give_back(store)
    return reply


def _respond(
    repo: Repo, call: HookCall, mirror: Mirror | None, began_ns: int, memory: Session | None
) -> tuple[Desk | None, HookAnswer]:
    if repo.settings.store_url:
        from lineclear.wiring.hooking_team import respond_at_once

        fresh = _memory_of(repo.layout, call)
        desks: list[Desk] = []

        def make(inner: Repo) -> Desk:
            desks.append(Desk(inner, call, mirror))
            return desks[-1]

        made = respond_at_once(repo, call, mirror, fresh, make)
        if made is not None:
            return desks[-1] if desks else None, made
    from lineclear.app.heartbeat import beat
    from lineclear.app.hooks import answer

    # Before anything is read of the store.
    hush = _hush_for(repo, call, began_ns) if call.event in _HUSHED else None
    if call.event == SESSION_END and not _is_known(repo, call):
        return None, HookAnswer()
    head = repo.store.read(_head) if mirror is not None else 0
    desk = Desk(repo, call, mirror, memory)
    beat(repo.store, repo.presence, desk.caller)
    try:
        reply = answer(desk, call)
        desk.keep_answer(reply)
    finally:
        # All that was said, with the answer that says it, in one piece: see hooking_again.py.
        desk.memory.save()
        if mirror is not None and repo.store.read(_head) != head:
            mirror.note_change()
    desk.finish()
    if hush is not None:
        hush.settle(desk, reply)
    return desk, reply


def file_at(layout: Layout, settings: Settings, below: str) -> Resource:
    """The file at a path below the root of its worktree, by its literal name."""
    return parse_resource(
        "file:" + below, literal=True, fold_case=folds_case(layout, settings), nfc=settings.paths_nfc
    )


def _is_known(repo: Repo, call: HookCall) -> bool:
    """A session that nobody knows, or has ended already, would have to begin in order to end."""
    if not call.session or repo.environ.get("LINECLEAR_AGENT") or repo.environ.get("LINECLEAR_TOKEN"):
        return True
    return bool(repo.store.read(lambda view: view.pick(AGENT, "session", (call.session,))))


def _head(view: View) -> int:
    return view.head


def _hush_for(repo: Repo, call: HookCall, began_ns: int) -> HushFor | None:
    from lineclear.wiring.hooking_hush import HushFor

    return HushFor(repo, call, began_ns)


def settings_for(layout: Layout, environ: Mapping[str, str]) -> Settings:
    return read_settings(layout, environ)


def _home(layout: Layout, memory: Session) -> Layout:
    """A session stays where it began: an agent that changes directory into another agent's worktree does
    not become its neighbour. One that goes to a worktree of nobody's has moved."""
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
        "_after", "_call", "_cwd", "_is_looked_at", "_mirror", "_repo", "_trees", "_writes",
        "caller", "is_shared", "liveness", "memory", "plain_status", "presence", "root", "rules", "store",
        "ttl_ms",
    )  # fmt: skip

    def __init__(
        self, repo: Repo, call: HookCall, mirror: Mirror | None = None, memory: Session | None = None
    ) -> None:
        self._repo, self._call, self._mirror = repo, call, mirror
        self.store, self.liveness, self.presence = repo.store, repo.liveness, repo.presence
        self.rules, self.ttl_ms = repo.settings.rules, repo.settings.claims_ttl_ms
        self.root = repo.layout.worktree
        # What is done when the answer is kept.
        self._after: list[Callable[[], None]] = []
        self._is_looked_at = False
        # What git said of the tree, if a picture was taken just now and the stub can compare it.
        self.plain_status = b""
        self._cwd = os.path.realpath(call.cwd) if os.path.isdir(call.cwd) else self.root
        self.memory = memory or _memory_of(repo.layout, call)
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
            caller.name, caller.session = subagent_name(caller.name, call.subagent), call.child_session
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
            resource = file_at(layout, settings, below)
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

    def hold_writes(self) -> None:
        """What is noted of writes waits for `finish`: who we are may still be a guess."""
        kept = self._writes.kept()
        self._writes = kept
        self._after.append(kept.flush)

    def note_write(self, spot: Spot, digest: str) -> None:
        self._writes.note(time.time_ns(), self.caller.name, spot.tree, spot.path, digest or "gone")

    # -- shell ------------------------------------------------------------------------------

    @property
    def _edited(self) -> str:
        """There when an edit has passed since the picture was taken."""
        return self.memory.path + ".edited"

    def begin_shell(self, call_id: str) -> None:
        from lineclear.wiring import hooking_marks as marks

        os.makedirs(os.path.dirname(self.memory.path), mode=0o700, exist_ok=True)
        # Who has looked at other commands in this call has a new picture, and needs the old one until the
        # answer is kept.
        if not self._is_looked_at:
            self._renew_picture(marks.picture_of(self.memory))
        self._clear_marks()
        # Last: what is changed from now on has a later time than this file.
        with open(marks.mark_of(self.memory, call_id), "wb"):
            pass
        if self.is_shared:
            self._writes.note(time.time_ns(), self.caller.name, self._repo.tree, "", "+")

    def _renew_picture(self, path: str) -> None:
        from lineclear.git.pictures import plain_status, read_picture, stamp_of, take_picture, write_picture
        from lineclear.wiring import hooking_marks as marks

        marks.put_late(self.memory)
        before = read_picture(path)
        is_edited = self._was_edited(path)
        if before is None or is_edited or self.memory.get("picture") != self._freshness(stamp_of(path)):
            picture = take_picture(self.root, before, self._is_secret)
            marks.put(self.memory, write_picture(path, picture))
            self.plain_status = plain_status(picture)
            self.memory.set("picture", "", self._freshness(stamp_of(path)))

    def end_shell(self, *call_ids: str, is_over: bool = True) -> list[Change]:
        """Marks and the picture from before stay until the answer is kept: asked again, it is the same."""
        from lineclear.git import pictures
        from lineclear.wiring import hooking_marks as marks

        marks.put_late(self.memory)
        path = marks.picture_of(self.memory)
        before = pictures.read_picture(path)
        # One of them may have lost its mark: the stub let its end pass, and the mark was cleared away.
        found = {one: mark for one in call_ids if os.path.exists(mark := marks.mark_of(self.memory, one))}
        try:
            start_ns = min(marks.start_ns(self.memory, mark, one) for one, mark in found.items())
        except (OSError, ValueError):
            return []
        if is_over:
            self._after += [marks.unlinking(mark) for mark in found.values()]
        # What is seen now is not seen again.
        looked_at = "" if is_over else str(marks.now_ns(self.memory))
        for one in found:
            self.memory.set(marks.LOOKED, one, looked_at)
        if before is None:
            return []
        # The stub has asked git before it asked us.
        said = self._repo.environ.get("LINECLEAR_STATUS", "")
        after = pictures.take_picture(self.root, before, self._is_secret, said)
        changed = pictures.changed_since(self.root, before, after, start_ns)
        changes = self._without_others(changed, start_ns, before, after)
        if self.is_shared and is_over:
            self._writes.note(time.time_ns(), self.caller.name, self._repo.tree, "", "-")
        fresh = pictures.write_picture(path, after)
        self._after.append(lambda: marks.put(self.memory, fresh))
        stamp = pictures.stamp_of(fresh or path)
        if not is_over:
            self._is_looked_at = True
            self.memory.set(marks.FRESH, "", f"{stamp} {fresh}" if fresh else "")
        self.plain_status = pictures.plain_status(after)
        self.memory.set("picture", "", self._freshness(stamp))
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

    def _freshness(self, stamp: str) -> str:
        """This very picture still counts while nobody is known to have written since."""
        return f"{self.root} {stamp} {self._writes.size()}" if self.is_shared else f"{self.root} {stamp}"

    def _was_edited(self, picture: str) -> bool:
        """Has the stub let an edit pass since? It says so in a file of its own."""
        path = self._edited
        if not os.path.exists(path):
            return False
        from lineclear.wiring.hooking_marks import unlink

        # The picture first: killed in between, whoever comes next takes a new one too.
        unlink(picture)
        unlink(path)
        return True

    def _clear_marks(self) -> None:
        """Marks of calls that the stub has let pass: it cannot remove them, only write into them. And
        pictures that somebody died over."""
        directory, _, name = self.memory.path.rpartition("/")
        for found in os.listdir(directory):
            is_mark = found.startswith(f"{name}.call-")
            if is_mark or found.startswith(f"{name}.picture."):
                path = f"{directory}/{found}"
                try:
                    old_s = time.time() - _LONGEST_CALL_S
                    if os.path.getsize(path) if is_mark else os.path.getmtime(path) < old_s:
                        os.unlink(path)
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

    # -- the end of the call ----------------------------------------------------------------

    def keep_answer(self, reply: HookAnswer) -> None:
        """For a stub that may have to ask again."""
        call_id = self._repo.environ.get(CALL, "")
        if call_id:
            from lineclear.wiring.hooking_again import keep_answer

            keep_answer(self.memory, self._call, call_id, reply)

    def finish(self) -> None:
        for act in self._after:
            act()

    def save_beside(self, repo: Repo) -> None:
        """See to it that what the session has changed is in a snapshot, where nobody else does."""
        now_ns = time.time_ns()
        is_edit = self._call.event == AFTER_EDIT
        changed_ns = (
            now_ns if is_edit else max(_time_of(self._edited), _time_of(self.memory.path + ".picture"))
        )
        marked_ns = _time_of(mark_of(repo, repo.tree))
        every_ns = repo.settings.snapshots_every_ms * 1_000_000
        if changed_ns <= marked_ns or is_check_tree(self.root):
            return
        try:
            if now_ns - marked_ns >= every_ns:
                from lineclear.wiring.saving_beside import save_beside

                save_beside(repo, self.caller.name.partition("/")[0])
            elif is_edit:
                with open(self._edited, "ab"):  # for the next call, which may find that it is time
                    os.utime(self._edited)
        except OSError:
            pass  # the answer counts more


def _time_of(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
