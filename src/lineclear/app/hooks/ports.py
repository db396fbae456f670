"""What the hook's use cases need from outside: the client's session, for one call and in one transaction."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from lineclear.app.ports import Caller, Liveness, Presence, Tx
    from lineclear.core.agents.hooks import HookAnswer
    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.rules import Request
    from lineclear.core.claims.strategies import Rule

    class Memory(Protocol):
        """What is remembered of this session between its calls; losing it only makes us ask again."""

        def get(self, kind: str, key: str = "", /) -> str: ...
        def set(self, kind: str, key: str, value: str, /) -> None: ...
        def set_now(self, kind: str, key: str, value: str, /) -> None:
            """On disk at once, and not only when the call is over."""

        def keys(self, kind: str, /) -> list[str]: ...

    class HookSession(Protocol):
        """`tx` is the call's one transaction, or a snapshot on which the first write ends the attempt. All of
        this may be made and asked again from the start: effects outside of the store wait for the commit.
        `is_shared`: several agents may write the files of the worktree in which this one is."""

        @property
        def tx(self) -> Tx: ...
        @property
        def liveness(self) -> Liveness: ...
        @property
        def presence(self) -> Presence: ...
        @property
        def caller(self) -> Caller: ...
        @property
        def memory(self) -> Memory: ...
        @property
        def rules(self) -> list[Rule]: ...
        @property
        def ttl_ms(self) -> int: ...
        @property
        def is_shared(self) -> bool: ...
        @property
        def root(self) -> str: ...

        def locate(self, path: str, /) -> FileInTree | None:
            """Where a path lies that a tool was given; None outside the repository."""

        def digest(self, file: FileInTree, /) -> str:
            """A name for the content that is there now; "" when there is none."""

        def text_of(self, file: FileInTree, /) -> str:
            """The file's text as far as it is small; "" when it cannot be read."""

        def fence_for(self, file: FileInTree, /) -> int:
            """The fence that the session works under where it holds this file by `with`; 0 for none."""

        def refuse_locked(self, request: Request, /) -> None:
            """Refuse an exclusive claim of what somebody else's lock file covers, where such files count."""

        def note_write(self, file: FileInTree, digest: str, /) -> None:
            """Let others in the same tree know who wrote this content."""

        def after_commit(self, act: Callable[[], None], /) -> None:
            """Do this when the transaction is over and before the answer is kept."""

        def begin_shell(self, call_id: str, /) -> None:
            """Remember what the tree looks like before a command runs."""

        def shell_changes(self) -> list[ShellChange]:
            """What the commands of `commands_to_look_at` have changed, without what others are known to have
            written meanwhile."""

        def make_worktree(self, name: str, reply: HookAnswer, /) -> None:
            """Answer with the path of the worktree of this name, made and provisioned as ours are if there
            is none."""

        def enter(self) -> None:
            """The session begins: a linked worktree that nobody registered is adopted."""

        def leave(self) -> None:
            """The session ends: intents on paths without a change are given back."""

        def told_up_to(self, position: int, /) -> None: ...


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
