"""A hook's session for tests of use cases: a memory store around it, files as the test says."""

from __future__ import annotations

from lineclear.app.hooks_ports import Change, Spot
from lineclear.app.ports import Caller
from lineclear.core.claims import Request
from lineclear.core.resources import parse_resource
from lineclear.core.strategies import Rule
from tests.world import HOUR_MS, World


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

    def save(self) -> None:
        pass


class FakeDesk:
    """`place` is the tree that every file lies in; `texts` are the files' contents by path."""

    def __init__(
        self, world: World, caller: Caller, rules: list[Rule], *, place: str = "", is_shared: bool = False,
        fence: int = 0, texts: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.store, self.liveness, self.presence = world.store, world.liveness, world.presence
        self.caller, self.rules, self.ttl_ms, self.is_shared = caller, rules, HOUR_MS, is_shared
        self.memory, self.root = Remembered(), "/repo"
        self._place, self._fence, self._texts = place or caller.tree, fence, texts or {}

    def locate(self, path: str, /) -> Spot | None:
        below = path.removeprefix("/repo/")
        return Spot(parse_resource("file:" + below), below, f"/repo/{below}", self._place, self.is_shared)

    def digest(self, _spot: Spot, /) -> str:
        return ""

    def text_of(self, spot: Spot, /) -> str:
        return self._texts.get(spot.path, "")

    def fence_for(self, _spot: Spot, /) -> int:
        return self._fence

    def refuse_locked(self, request: Request, /) -> None:
        pass

    def note_write(self, spot: Spot, digest: str, /) -> None:
        pass

    def begin_shell(self, call_id: str, /) -> None:
        pass

    def end_shell(self, *_call_ids: str, is_over: bool = True) -> list[Change]:
        del is_over
        return []

    def make_worktree(self, name: str, /) -> str:
        raise NotImplementedError(name)

    def enter(self) -> None:
        pass

    def leave(self) -> None:
        pass

    def told_up_to(self, position: int, /) -> None:
        pass
