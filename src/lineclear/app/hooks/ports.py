"""What the hook's use cases need from outside: the repository's files, git, and what a session remembers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from lineclear.app.ports import Caller, Liveness, Presence, Store
    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.rules import Request
    from lineclear.core.claims.strategies import Rule
    from lineclear.core.instants import Instant

    class Memory(Protocol):
        """What is remembered of this session between its calls; losing it only makes us ask again."""

        @property
        def is_changed(self) -> bool:
            """Is there something that is not on disk yet?"""

        def get(self, kind: str, key: str = "", /) -> str: ...
        def set(self, kind: str, key: str, value: str, /) -> None: ...
        def set_now(self, kind: str, key: str, value: str, /) -> None:
            """On disk at once, and not only when the call is over."""

        def keys(self, kind: str, /) -> list[str]: ...
        def copy(self) -> Memory:
            """To be changed and, perhaps, thrown away."""

        def save(self) -> None: ...

    class HookClock(Protocol):
        def now(self) -> Instant: ...

    class HookFiles(Protocol):
        """The files of the repository's worktrees, seen from the directory in which a tool was called."""

        def find(self, path: str, /) -> tuple[str, str, Resource]:
            """(the root of the worktree that a path lies in, the path below it, the file as a resource).
            Refuses a path outside of the repository."""

        def tree_at(self, root: str, /) -> str:
            """The name of the worktree at a root, as the store has it."""

        def digest(self, path: str, /) -> str:
            """A name for the content that is there now; "" when there is none."""

        def text(self, path: str, /) -> str:
            """The file's text as far as it is small; "" when it cannot be read."""

        def is_directory(self, path: str, /) -> bool: ...

    class HookTree(Protocol):
        """The session's own worktree, where git or a transaction of its own is needed: all of this is asked
        when the call's transaction is over."""

        def make_worktree(self, caller: Caller, name: str, /) -> tuple[str, str]:
            """(name, path) of a new worktree, made and provisioned as ours are."""

        def adopt(self, caller: Caller, /) -> None:
            """Register this worktree, which nobody did, as the caller's."""

        def changed_paths(self, base: str, /) -> set[str] | None:
            """What differs both from `base` (HEAD if ""), the commit that the branch began with, and from
            main, which may hold it by now; uncommitted and new files included. None when git cannot say."""

        def saved_ns(self) -> int:
            """When somebody last began a snapshot of this worktree, by the wall clock; 0 for never."""

        def save_beside(self, agent: str, /) -> None:
            """Start a snapshot in a process beside us, unless somebody else keeps this worktree safe."""

    class ShellLook(Protocol):
        """The worktree as it is after some commands. `changed`: what they, or others beside them, changed
        since `start_ns`. `is_over`: the commands have ended, and are not looked at again. `is_compared`: a
        picture of the tree from before was there."""

        @property
        def start_ns(self) -> int: ...
        @property
        def is_over(self) -> bool: ...
        @property
        def is_compared(self) -> bool: ...
        @property
        def changed(self) -> list[str]: ...

        def undo(self, path: str, /) -> str:
            """The command that brings back what was there before; "" when that was not kept."""

        def remember(self, memory: Memory, writes_size: int, /) -> Callable[[], None]:
            """What was seen now is not seen again. Gives what is done when the answer is kept: asked again
            before that, the same look finds the same. `writes_size` as for `ShellWatch.begin`."""

    class ShellWatch(Protocol):
        """Pictures of the worktree before and after commands, and a mark for each command that runs."""

        def look(self, memory: Memory, call_ids: list[str], /, *, is_over: bool) -> ShellLook | None:
            """None when nothing is known of the commands. Marks and the picture from before stay."""

        def begin(self, memory: Memory, call_id: str, writes_size: int, /, *, is_fresh: bool) -> None:
            """Before a command runs. `writes_size`: how much was written by others so far in a shared tree,
            -1 in a tree of one's own. `is_fresh`: this call has a new picture already."""

    class SessionFiles(Protocol):
        """Files beside a session's memory."""

        def catch_up(self, memory: Memory, /, *, ended: str, are_all_over: bool) -> None:
            """What is done when an answer is kept, in place of a process that died before it. `ended`: a
            command that is over, "" for none; `are_all_over`: every command is."""

        def edited_ns(self) -> int:
            """When the session last changed a file, as far as we know, by the wall clock; 0 for never."""

        def note_edit(self) -> None: ...

    class WriteLog(Protocol):
        """Who wrote what in shared trees; a digest "+" and "-" marks a shell's begin and end."""

        def copy(self) -> WriteLog:
            """Without what was noted and not flushed."""

        def note(self, agent: str, tree: str, path: str, digest: str, /) -> None:
            """Let others know, after `flush`."""

        def flush(self) -> None: ...
        def since(self, at_ns: int, tree: str, /) -> list[tuple[int, str, str, str]]:
            """(when, agent, path, digest) in a tree, from then on, the oldest first."""

        def size(self) -> int:
            """Grows with every note."""

    class OutageMark(Protocol):
        """Was the team's store out of reach a moment ago? Then it is not tried at every edit."""

        def is_fresh(self) -> bool: ...
        def note(self) -> None: ...
        def clear(self) -> None: ...


class HookRules:
    """The settings that a hook goes by. `is_team`: the store is a server; `is_closed`: what cannot be judged
    is denied."""

    __slots__ = ("every_ms", "is_closed", "is_team", "keep_ms", "rules", "silence_ms", "ttl_ms")

    def __init__(
        self, rules: list[Rule], *, ttl_ms: int, silence_ms: int, keep_ms: int, every_ms: int,
        is_team: bool, is_closed: bool,
    ) -> None:  # fmt: skip
        self.rules, self.ttl_ms, self.silence_ms, self.keep_ms = rules, ttl_ms, silence_ms, keep_ms
        self.every_ms, self.is_team, self.is_closed = every_ms, is_team, is_closed


class HookPlace:
    """The worktree of a session, with the store and all that a call may ask.

    `tree` is the worktree's name in the store, `name` its name in this clone. `is_check`: checks run there,
    and no agent works in it. `refuse_locked` refuses an exclusive claim of what somebody else's lock file
    covers, where such files count; `note_change` says that the store has changed.
    """

    __slots__ = (
        "clock", "environ", "files", "is_check", "is_main", "liveness", "name", "note_change", "person",
        "presence", "refuse_locked", "root", "rules", "session_files", "shell", "store", "tree", "worktree",
        "writes",
    )  # fmt: skip

    def __init__(
        self, *, root: str, tree: str, name: str, person: str, is_main: bool, is_check: bool,
        rules: HookRules, environ: Mapping[str, str], clock: HookClock, store: Store, liveness: Liveness,
        presence: Presence, files: HookFiles, worktree: HookTree, shell: ShellWatch,
        session_files: SessionFiles, writes: WriteLog, refuse_locked: Callable[[Request], None],
        note_change: Callable[[], None],
    ) -> None:  # fmt: skip
        self.root, self.tree, self.name, self.person = root, tree, name, person
        self.is_main, self.is_check, self.rules, self.environ = is_main, is_check, rules, environ
        self.clock, self.store, self.liveness, self.presence = clock, store, liveness, presence
        self.files, self.worktree, self.shell = files, worktree, shell
        self.session_files, self.writes = session_files, writes
        self.refuse_locked, self.note_change = refuse_locked, note_change


class FileInTree:
    """A file in one of the repository's trees. `path` is repo-relative, `real` where it is on disk."""

    __slots__ = ("is_shared", "path", "real", "resource", "tree")

    def __init__(self, resource: Resource, path: str, real: str, tree: str, is_shared: bool) -> None:
        self.resource, self.path, self.real, self.tree, self.is_shared = resource, path, real, tree, is_shared


class ShellChange:
    """A path that a command changed. `undo` is the command that brings back what was there before;
    `is_sure`: nobody else can have done it."""

    __slots__ = ("is_sure", "path", "undo")

    def __init__(self, path: str, undo: str, is_sure: bool) -> None:
        self.path, self.undo, self.is_sure = path, undo, is_sure
