"""One call of a hook, before it is answered: where it comes from, and what its session remembers."""

from __future__ import annotations

import os

from lineclear.core.agents.hooks import session_key
from lineclear.core.claims.resources import parse_resource
from lineclear.core.words.refusals import Refusal
from lineclear.git.layout import find_layout
from lineclear.host.sessions import SessionFile
from lineclear.wiring.repo import folds_case, read_settings, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from lineclear.core.agents.hooks import HookCall
    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.rules import Request
    from lineclear.git.layout import Layout
    from lineclear.settings import Settings
    from lineclear.wiring.hooking_stores import Stores
    from lineclear.wiring.repo import Repo

    class Mirror(Protocol):
        """The files for agents that only read files; the layer above us knows them."""

        def refuse_locked(self, repo: Repo, request: Request, /) -> None: ...
        def note_change(self) -> None: ...


SESSIONS = "sessions"
# The id that a stub gives to a call which it asks twice when the first one it asked is killed.
CALL = "LINECLEAR_CALL"


class HookContext:
    """One call, and what it is answered with. `mirror` is told of a change. `stores` has opened stores, in a
    process that stays. `saves`: a snapshot may be started beside us."""

    __slots__ = ("call", "environ", "layout", "mirror", "saves", "settings", "stores")

    def __init__(
        self, layout: Layout, settings: Settings, call: HookCall, environ: Mapping[str, str],
        mirror: Mirror | None = None, *, stores: Stores | None = None, saves: bool = False,
    ) -> None:  # fmt: skip
        self.layout, self.settings, self.call, self.environ = layout, settings, call, environ
        self.mirror, self.stores, self.saves = mirror, stores, saves


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


def settings_for(layout: Layout, environ: Mapping[str, str]) -> Settings:
    return read_settings(layout, environ)


def home_of(layout: Layout, memory: SessionFile) -> Layout:
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


def memory_of(context: HookContext) -> SessionFile:
    call = context.call
    name = session_key(call.client, call.session)
    if call.subagent:
        name += "+" + session_key("sub", call.subagent)
    return SessionFile(f"{state_directory(context.layout)}/{SESSIONS}/{name}")


def file_at(layout: Layout, settings: Settings, below: str) -> Resource:
    """The file at a path below the root of its worktree, by its literal name."""
    return parse_resource(
        "file:" + below, literal=True, fold_case=folds_case(layout, settings), nfc=settings.paths_nfc
    )
