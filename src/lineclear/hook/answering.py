"""Handles one call of a client's hook: reads the client's JSON, and answers in the client's own protocol.

Used by a process for a single call (entry.py) and by a server (serving.py), which bring the time limit, the
streams and the environment. An error of ours is handled in on_error.py.
"""

from __future__ import annotations

from lineclear.hook import on_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from lineclear.clients.registry import HookModule
    from lineclear.core.agents.hooks import HookCall
    from lineclear.core.claims.granting import Request
    from lineclear.settings import Settings
    from lineclear.wiring.repo import Repo
    from lineclear.wiring.store_pool import StorePool

MOST_INPUT_BYTES = 16 << 20
# Making a worktree may include the project's own set-up commands.
WORKTREE_LIMIT_S = 570.0


class Elsewhere(Exception):
    """The call is about a repository other than the one we serve."""


class Situation:
    """One call and how far we got with it, so that an error can be handled at any point.

    `limit(seconds)` sets a time limit; None in a server. `only`: the git directory of the repository we
    serve; "" for any. `saves`: take snapshots of the agent's changes, since no other process does.
    """

    __slots__ = (
        "call", "client", "cwd", "environ", "event", "hooking", "layout", "limit", "mirror",
        "only", "saves", "settings", "stores",
    )  # fmt: skip

    def __init__(
        self, client: str, event: str, environ: Mapping[str, str], cwd: str, *,
        limit: Callable[[float], None] | None = None, stores: StorePool | None = None, only: str = "",
        saves: bool = False,
    ) -> None:  # fmt: skip
        self.client, self.event, self.environ, self.cwd = client, event, environ, cwd
        self.limit, self.stores, self.only = limit, stores, only
        self.saves = saves
        self.mirror: _Mirror | None = None
        self.hooking: HookModule | None = None
        self.call: HookCall | None = None
        self.layout: Any = None
        self.settings: Settings | None = None


class _Mirror:
    """The files for agents that only read files, if the settings enable them; imported when needed."""

    __slots__ = ("is_stale",)

    def __init__(self) -> None:
        self.is_stale = False

    def refuse_locked(self, repo: Repo, request: Request) -> None:
        if repo.settings.mirror_locks:
            from lineclear.mirror.locks import refuse_foreign

            refuse_foreign(repo, request)

    def note_change(self) -> None:
        self.is_stale = True


def answer(now: Situation, read: Callable[[], bytes]) -> tuple[bytes, int]:
    """(output, exit code), never the client's "block" code. Lets errors rise: see `after_error`."""
    from lineclear.clients.registry import hook_of

    now.hooking = hook_of(now.client)
    if now.hooking is None:
        return b"", 1
    from lineclear.core.quick_json import read_json

    data = read_json(read().decode("utf-8", "replace"))
    if type(data) is not dict:
        raise ValueError("the client's JSON is not an object")
    now.call = now.hooking.read_call(now.event, data)
    if now.call is None:
        return b"", 0
    return _respond(now, now.hooking, now.call)


def _respond(now: Situation, hooking: HookModule, call: HookCall) -> tuple[bytes, int]:
    from lineclear.wiring.hooks import HookContext, is_coordinated, layout_for, respond
    from lineclear.wiring.repo import read_settings

    now.layout = layout_for(call, now.environ, now.cwd)
    if now.layout is None:
        return b"", 0
    if now.only and now.layout.common_dir != now.only:
        raise Elsewhere(now.layout.common_dir)
    now.settings = read_settings(now.layout, now.environ, for_agent=True)
    if not is_coordinated(now.layout, now.settings):
        return b"", 0
    if now.limit is not None:
        is_long = call.event == "worktree_create"
        now.limit(WORKTREE_LIMIT_S if is_long else now.settings.hooks_timeout_ms / 1000)
    if now.settings.mirror_tasks or now.settings.mirror_coordination or now.settings.mirror_locks:
        now.mirror = _Mirror()
    context = HookContext(
        now.layout, now.settings, call, now.environ, now.mirror, stores=now.stores, saves=now.saves
    )
    return hooking.write_answer(now.event, respond(context)), 0


def is_worktree_wanted(now: Situation) -> bool:
    return now.call is not None and now.call.event == "worktree_create"


def plain_worktree(now: Situation) -> bytes:
    """Make a plain worktree: a client that asks for one needs it even if we fail."""
    try:
        from lineclear.core.agents.hooks import HookAnswer
        from lineclear.wiring.hooks import make_plain_worktree

        if now.hooking is None or now.call is None or now.layout is None:
            return b""
        reply = HookAnswer()
        reply.path = make_plain_worktree(now.layout, now.call.name)
        return now.hooking.write_answer(now.event, reply)
    except BaseException as error:  # noqa: BLE001  as in after_error
        return on_error.after_error(now, error)[0]


def publish(now: Situation) -> None:
    """Update the files of agents that only read files, so that they see our change at once."""
    from lineclear.mirror.publishing import publish_quietly
    from lineclear.wiring.repo import Repo, open_store

    if now.settings is None:
        return
    repo = Repo(now.layout, now.settings, open_store(now.layout, now.settings), now.environ)
    try:
        publish_quietly(repo, wait_s=0)
    finally:
        repo.close()
