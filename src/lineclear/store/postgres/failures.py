"""Turns PostgreSQL's errors into refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.instants import show_wall
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.store.postgres.wire import LostError, ServerError, TurnedAwayError, UnusableTextError

if TYPE_CHECKING:
    from collections.abc import Callable

LOCK_LIMIT_S = 30
FAILURES = (LostError, ServerError, UnusableTextError)

# SQLSTATE, or its two-letter class -> refusal. The whole code counts before the class.
_BY_STATE: dict[str, str] = {
    "25006": "store.read_only",
    "25P03": "store.unreadable",
    "28": "store.unreadable",
    "3D": "store.unreadable",
    "3F": "store.unreadable",
    "42501": "store.read_only",
    "42P01": "store.missing",
    "42P07": "store.unreadable",
    "42723": "store.unreadable",
    "53": "store.unreadable",
    "53100": "store.full",
    "57": "store.unreadable",
    "55P03": "store.busy",
    "XX": "store.damaged",
}
# The server is stopped or restarted: the connection is as good as lost.
_SHUTTING_DOWN = ("57P01", "57P02", "57P03")
# Texts and numbers that this engine cannot store, though another might.
_UNUSABLE = {
    "22003": "it contains a number too large for PostgreSQL",
    "22P05": "it contains a NUL character, which PostgreSQL cannot store",
    "54000": "a name in it is too long for an index of PostgreSQL (about 2,600 bytes)",
}


def refusal_of(error: Exception, path: str, *, unknown: bool, note: Callable[[], int] = lambda: 0) -> Refusal:
    """`path`: the URL without secrets; `unknown`: a write was in progress, and its outcome is unknown.
    `note` is called if the store is out of reach, and returns since when."""
    if isinstance(error, UnusableTextError):
        return refuse("input.bad", name="text", given="...", why=f"{error}, which PostgreSQL cannot store")
    if isinstance(error, ServerError) and error.state not in _SHUTTING_DOWN:
        return _refusal_of_state(error, path)
    if isinstance(error, TurnedAwayError):
        return refuse("store.unreadable", path=path, reason=str(error))
    since_ns = note()
    if not unknown:
        since_at = show_wall(since_ns) if since_ns else ""
        return refuse("store.unreachable", path=path, reason=str(error), since_at=since_at)
    refusal = refuse("store.failed", path=path, reason=str(error))
    # Only the connection failed: the caller may try again when it is back.
    refusal.facts["is_lost"] = True
    return refusal


def _refusal_of_state(error: ServerError, path: str) -> Refusal:
    if error.state in _UNUSABLE:
        return refuse("input.bad", name="text", given="...", why=_UNUSABLE[error.state])
    for length in (5, 2):
        code = _BY_STATE.get(error.state[:length], "")
        if code == "store.missing":
            return refuse(code, path=path)
        if code == "store.busy":
            return refuse(code, path=path, holder="Another database session", limit_s=LOCK_LIMIT_S)
        if code:
            return refuse(code, path=path, reason=error.message)
    return refuse("store.failed", path=path, reason=f"{error.state}: {error.message}")
