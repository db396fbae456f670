"""What the hook's use cases need from outside: the repository's files, git, and a session's memory."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from lineclear.app.ports import Caller, Liveness, Presence, Store
    from lineclear.core.claims.granting import Request
    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.strategies import Rule
    from lineclear.core.instants import Instant

    class Memory(Protocol):
        """What we remember about a session between its calls. If it is lost, we only ask again."""

        @property
        def is_changed(self) -> bool:
            """Are there changes that are not on disk yet?"""

        def get(self, kind: str, key: str = "", /) -> str: ...
        def set(self, kind: str, key: str, value: str, /) -> None: ...
        def set_now(self, kind: str, key: str, value: str, /) -> None:
            """Write to disk at once, not only at the end of the call."""

        def keys(self, kind: str, /) -> list[str]: ...
        def copy(self) -> Memory:
            """A copy that can be changed and thrown away."""

        def save(self) -> None: ...

    class HookClock(Protocol):
        def now(self) -> Instant: ...

    class HookFiles(Protocol):
        """The files of the repository's worktrees, seen from the directory in which a tool was called."""

        def find(self, path: str, /) -> tuple[str, str, Resource]:
            """(the root of the worktree with the path, the path below it, the file as a resource). Refuses a
            path outside the repository."""

        def tree_at(self, root: str, /) -> str:
            """The store's name for the worktree at a root."""

        def digest(self, path: str, /) -> str:
            """A digest of the file's content; "" if there is no file."""

        def text(self, path: str, /) -> str:
            """The text of a small file; "" if it is large or cannot be read."""

        def other_names(self, root: str, below: str, /) -> list[str]:
            """The paths of tracked files of the worktree that are hard links to this one."""

        def is_directory(self, path: str, /) -> bool: ...

    class HookTree(Protocol):
        """The session's own worktree, for work that needs git or its own transaction. Called after the call's
        transaction."""

        def make_worktree(self, caller: Caller, name: str, /) -> tuple[str, str]:
            """Make and provision a worktree: (name, path)."""

        def adopt(self, caller: Caller, /) -> None:
            """Register this unregistered worktree as the caller's."""

        def changed_paths(self, base: str, /) -> set[str] | None:
            """The paths that differ both from `base`, the commit where the branch began (HEAD if ""), and
            from main, which may contain the work by now; with uncommitted and new files. None if git cannot
            say."""

        def saved_ns(self) -> int:
            """The wall-clock time at which the last snapshot of this worktree began; 0 for never."""

        def is_served(self) -> bool:
            """Does a server run that takes snapshots of this clone's worktrees?"""

        def is_supervised(self) -> bool:
            """Does a supervisor run in this clone? It saves the worktrees of its own agents."""

        def note_edit(self) -> None:
            """Let who saves this worktree, a server or a supervisor, look at it soon."""

        def save_beside(self, agent: str, /) -> None:
            """Start a snapshot in a process of its own, unless another call has just done so."""

    class ShellLook(Protocol):
        """The worktree after some commands. `changed`: the paths that they, or others at the same time,
        changed since `start_ns`. `is_over`: the commands have ended and are not looked at again.
        `is_compared`: there was an earlier picture of the tree to compare with."""

        @property
        def start_ns(self) -> int: ...
        @property
        def is_over(self) -> bool: ...
        @property
        def is_compared(self) -> bool: ...
        @property
        def changed(self) -> list[str]: ...

        def undo(self, path: str, /) -> str:
            """The command that restores the earlier content; "" if that was not kept."""

        def remember(self, memory: Memory, writes_size: int, /) -> Callable[[], None]:
            """Do not report these changes again. Returns a function to call once the answer is stored; a
            repeat before that finds the same changes. `writes_size` as for `ShellWatch.begin`."""

    class ShellWatch(Protocol):
        """Pictures of the worktree before and after commands, and a mark for each running command."""

        def look(self, memory: Memory, call_ids: list[str], /, *, is_over: bool) -> ShellLook | None:
            """What the commands changed; None if they are unknown. Marks and the earlier picture stay."""

        def begin(self, memory: Memory, call_id: str, writes_size: int, /, *, is_fresh: bool) -> None:
            """Take a picture before a command runs. `writes_size`: the size of the write log in a shared
            tree, -1 in the agent's own tree. `is_fresh`: this call has taken a picture already."""

    class SessionFiles(Protocol):
        """Files beside a session's memory."""

        def catch_up(self, memory: Memory, /, *, ended: str, are_all_over: bool) -> None:
            """Do what follows once an answer is stored, for a process that died before it could. `ended`: the
            command that has ended, or ""; `are_all_over`: all commands have."""

        def edited_ns(self) -> int:
            """The wall-clock time of the session's last known edit; 0 for never."""

        def note_edit(self) -> None: ...

    class WriteLog(Protocol):
        """Who wrote what in shared trees. The digests "+" and "-" mark a shell command's begin and end."""

        def copy(self) -> WriteLog:
            """A copy without the notes that were not flushed."""

        def note(self, agent: str, tree: str, path: str, digest: str, /) -> None:
            """Add a note; others see it after `flush`."""

        def flush(self) -> None: ...
        def since(self, at_ns: int, tree: str, /) -> list[tuple[int, str, str, str]]:
            """(time, agent, path, digest) of the writes in a tree since then, oldest first."""

        def size(self) -> int:
            """Grows with every note."""

    class OutageMark(Protocol):
        """Was the team's store unreachable a moment ago? Then it is not tried at every edit."""

        def is_fresh(self) -> bool: ...


class HookRules:
    """The settings for hooks. `is_team`: the store is a server; `is_closed`: deny what cannot be judged."""

    __slots__ = ("every_ms", "is_closed", "is_team", "keep_ms", "rules", "silence_ms", "ttl_ms")

    def __init__(
        self, rules: list[Rule], *, ttl_ms: int, silence_ms: int, keep_ms: int, every_ms: int,
        is_team: bool, is_closed: bool,
    ) -> None:  # fmt: skip
        self.rules, self.ttl_ms, self.silence_ms, self.keep_ms = rules, ttl_ms, silence_ms, keep_ms
        self.every_ms, self.is_team, self.is_closed = every_ms, is_team, is_closed


class HookPlace:
    """A session's worktree, the store, and everything else that a call may need.

    `tree` is the worktree's name in the store, `name` its name in this clone. `is_check`: it is a check tree,
    where no agent works. `refuse_locked` refuses an exclusive claim on what another agent's lock file covers,
    if the settings use such files. `note_change` announces that the store has changed. `note_tool_call`
    remembers for our MCP server which sub-agent makes a call: (the call's id, the sub-agent).
    """

    __slots__ = (
        "clock", "environ", "files", "is_check", "is_main", "liveness", "name", "note_change",
        "note_tool_call", "person", "presence", "refuse_locked", "root", "rules", "session_files", "shell",
        "store", "tree", "worktree", "writes",
    )  # fmt: skip

    def __init__(
        self, *, root: str, tree: str, name: str, person: str, is_main: bool, is_check: bool,
        rules: HookRules, environ: Mapping[str, str], clock: HookClock, store: Store, liveness: Liveness,
        presence: Presence, files: HookFiles, worktree: HookTree, shell: ShellWatch,
        session_files: SessionFiles, writes: WriteLog, refuse_locked: Callable[[Request], None],
        note_change: Callable[[], None], note_tool_call: Callable[[str, str], None],
    ) -> None:  # fmt: skip
        self.root, self.tree, self.name, self.person = root, tree, name, person
        self.is_main, self.is_check, self.rules, self.environ = is_main, is_check, rules, environ
        self.clock, self.store, self.liveness, self.presence = clock, store, liveness, presence
        self.files, self.worktree, self.shell = files, worktree, shell
        self.session_files, self.writes = session_files, writes
        self.refuse_locked, self.note_change = refuse_locked, note_change
        self.note_tool_call = note_tool_call


class FileInTree:
    """A file in one of the repository's trees. `path` is repo-relative, `real` where it is on disk."""

    __slots__ = ("is_shared", "path", "real", "resource", "tree")

    def __init__(self, resource: Resource, path: str, real: str, tree: str, is_shared: bool) -> None:
        self.resource, self.path, self.real, self.tree, self.is_shared = resource, path, real, tree, is_shared


class ShellChange:
    """A path that a command changed. `undo`: the command that restores the earlier content, or "". `is_sure`:
    nobody else can have changed it."""

    __slots__ = ("is_sure", "path", "undo")

    def __init__(self, path: str, undo: str, is_sure: bool) -> None:
        self.path, self.undo, self.is_sure = path, undo, is_sure
