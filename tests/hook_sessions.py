"""A hook's session for tests of use cases: a memory store around it, files as the test says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from lineclear.app.hooks import events, shell
from lineclear.app.hooks.call_context import HookSession
from lineclear.app.hooks.ports import FileInTree, ShellChange
from lineclear.app.ports import Caller
from lineclear.core.agents.hooks import HookAnswer, HookCall
from lineclear.core.claims.granting import Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.claims.strategies import Rule
from tests.world import HOUR_MS, World

if TYPE_CHECKING:
    from lineclear.app.ports import Tx

T = TypeVar("T")


class Remembered:
    """A session's memory, in memory."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], str] = {}

    def get(self, kind: str, key: str = "", /) -> str:
        return self._kept.get((kind, key), "")

    def set(self, kind: str, key: str, value: str, /) -> None:
        self._kept[kind, key] = value

    def keys(self, kind: str, /) -> list[str]:
        return [key for (its_kind, key), value in self._kept.items() if its_kind == kind and value]

    def set_now(self, kind: str, key: str, value: str, /) -> None:
        self.set(kind, key, value)

    is_changed = False

    def copy(self) -> Remembered:
        raise NotImplementedError

    def save(self) -> None:
        pass


class FakeSession(HookSession):
    """`place` is the tree that every file lies in; `texts` are the files' contents by path."""

    def __init__(
        self, world: World, caller: Caller, rules: list[Rule], *, place: str = "", is_shared: bool = False,
        fence: int = 0, texts: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        self._store, self.liveness, self.presence = world.store, world.liveness, world.presence
        self.tx: Tx = None  # type: ignore[assignment]  # there while a call is answered
        self.caller, self.rules, self.ttl_ms, self.is_shared = caller, rules, HOUR_MS, is_shared
        self.memory, self.root = Remembered(), "/repo"
        self._tree, self._fence, self._texts = place or caller.tree, fence, texts or {}

    def answer(self, call: HookCall) -> HookAnswer:
        return self._within(lambda: events.answer(self, call))

    def judge_changes(self, changes: list[ShellChange]) -> list[str]:
        return self._within(lambda: shell.judge_changes(self, changes))

    def _within(self, work: Callable[[], T]) -> T:
        def transact(tx: Tx) -> T:
            self.tx = tx
            return work()

        return self._store.transact(self.caller, transact)

    def other_names(self, file: FileInTree, /) -> list[str]:
        return []

    def locate(self, path: str, /) -> FileInTree | None:
        below = path.removeprefix("/repo/")
        return FileInTree(
            parse_resource("file:" + below), below, f"/repo/{below}", self._tree, self.is_shared
        )

    def digest(self, _file: FileInTree, /) -> str:
        return ""

    def text_of(self, file: FileInTree, /) -> str:
        return self._texts.get(file.path, "")

    def fence_for(self, _file: FileInTree, /) -> int:
        return self._fence

    def refuse_locked(self, request: Request, /) -> None:
        pass

    def note_write(self, file: FileInTree, digest: str, /) -> None:
        pass

    def last_writer(self, _file: FileInTree, _digest: str, /) -> str:
        return ""

    def writes_of_others(self, _file: FileInTree, /) -> int:
        return 0

    def begin_shell(self, call_id: str, /) -> None:
        pass

    def shell_changes(self) -> list[ShellChange]:
        return []

    def after_commit(self, act: Callable[[], None], /) -> None:
        act()

    def make_worktree(self, name: str, reply: HookAnswer, /) -> None:
        raise NotImplementedError(name)

    def enter(self) -> None:
        pass

    def leave(self) -> None:
        pass

    def told_up_to(self, position: int, /) -> None:
        pass
