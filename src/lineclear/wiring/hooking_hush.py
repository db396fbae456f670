"""A hook's hush, wired: entered before the store is read, settled after the answer."""

from __future__ import annotations

import time

from lineclear.core.hooks import (
    AFTER_EDIT,
    AFTER_READ,
    AFTER_SHELL,
    BEFORE_EDIT,
    BEFORE_SHELL,
    SESSION_END,
    SESSION_START,
    session_key,
)
from lineclear.process import hush
from lineclear.settings.table import LOCAL_FILE, TEAM_FILE
from lineclear.wiring.repo import HUSH, settings_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.core.hooks import HookAnswer, HookCall
    from lineclear.process.hush import Hush
    from lineclear.wiring.hooking import Desk
    from lineclear.wiring.repo import Repo

SHELL, READ = "shell", "read"
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def key_of(call: HookCall, environ: Mapping[str, str]) -> str:
    """The session's name among the hushes, as the stub makes it; "" for one that the stub cannot know."""
    agent = environ.get("LINECLEAR_AGENT", "")
    if not call.session or not _PLAIN.issuperset(call.session + agent) or call.subagent:
        return ""
    key = session_key(call.client, call.session)
    return "" if key != f"{call.client}-{call.session}" else f"{key}+{agent}" if agent else key


class HushFor:
    """What one call does with its session's hushes."""

    __slots__ = ("_call", "_hush")

    def __init__(self, repo: Repo, call: HookCall, began_ns: int) -> None:
        self._call = call
        self._hush: Hush | None = None
        key = key_of(call, repo.environ)
        # Other hosts write to a team's store, and their commits lift nothing here.
        if not key or repo.settings.store_url:
            return
        directory = f"{repo.state_directory}/{HUSH}"
        if call.event in (SESSION_START, SESSION_END):
            # A client that starts anew may have another environment.
            hush.forget(directory, key)
        elif call.event == AFTER_EDIT:
            hush.drop(directory, key, SHELL)
        elif call.event == BEFORE_EDIT:
            self._begin(repo, directory, key, _edited(call, repo.layout.worktree), began_ns)
        else:
            self._begin(repo, directory, key, READ if call.event == AFTER_READ else SHELL, began_ns)

    def _begin(self, repo: Repo, directory: str, key: str, entry: str, began_ns: int) -> None:
        from lineclear.store.sqlite.engine import LOCK, SqliteStore

        root, cwd = repo.layout.worktree, self._call.cwd
        is_here = cwd == root or cwd.startswith(root + "/")
        if not entry or not is_here or not isinstance(repo.store, SqliteStore):
            return
        self._hush = hush.begin(
            directory, f"{repo.state_directory}/{LOCK}", key, root=root, cwd=cwd, entry=entry,
            settings=(f"{settings_root(repo.layout)}/{TEAM_FILE}", f"{repo.state_directory}/{LOCAL_FILE}"),
            began_ns=began_ns,
        )  # fmt: skip
        if self._hush is not None and isinstance(repo.store.hushes, hush.Hushes):
            repo.store.hushes.mine = self._hush.spell

    def settle(self, desk: Desk, reply: HookAnswer) -> None:
        """Grant what was entered, or take it out again. A hook that dies before leaves it ungranted."""
        if self._hush is None:
            return
        from lineclear.app.hooks_hush import quiet_for_ms

        quiet_ms = 0
        try:
            is_shell = self._call.event in (BEFORE_SHELL, AFTER_SHELL)
            if not is_shell or desk.plain_status:
                quiet_ms = quiet_for_ms(desk, self._call, reply)
            if quiet_ms:
                self._hush.belongs_to(desk.caller.name)
                self._hush.write(desk.plain_status)
                self._hush.grant(time.time_ns() + quiet_ms * 1_000_000)
        finally:
            self._hush.close(is_granted=quiet_ms > 0)


def _edited(call: HookCall, root: str) -> str:
    path = call.paths[0] if len(call.paths) == 1 else ""
    return f"e/{path[len(root) + 1 :]}" if path.startswith(root + "/") else ""
