"""What PostgreSQL's errors mean to whoever called: one refusal for each kind."""

from __future__ import annotations

from lineclear.core import refusals, refusals_store
from lineclear.store.postgres.wire import LostError, ServerError, TurnedAwayError, UnusableTextError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LOCK_LIMIT_S = 30
FAILURES = (LostError, ServerError, UnusableTextError)

# SQLSTATE, or the class it begins with -> refusal; the longest fitting one counts.
_BY_STATE: dict[str, Callable[[str, str], refusals.Refusal]] = {
    "25006": refusals_store.store_read_only,
    "25P03": refusals_store.store_unreadable,
    "28": refusals_store.store_unreadable,
    "3D": refusals_store.store_unreadable,
    "3F": refusals_store.store_unreadable,
    "42501": refusals_store.store_read_only,
    "42P01": lambda path, _why: refusals_store.store_missing(path),
    "42P07": refusals_store.store_unreadable,
    "42723": refusals_store.store_unreadable,
    "53": refusals_store.store_unreadable,
    "53100": refusals_store.store_full,
    "57": refusals_store.store_unreadable,
    "55P03": lambda path, _why: refusals_store.store_busy(path, "Another database session", LOCK_LIMIT_S),
    "XX": refusals_store.store_damaged,
}
# Texts and numbers that this engine cannot keep, though another might.
_UNUSABLE = {
    "22003": "it holds a number too large for PostgreSQL",
    "22P05": "it holds a NUL character, which PostgreSQL cannot keep",
    "54000": "a name in it is too long for an index of PostgreSQL (about 2,600 bytes)",
}


def refusal_of(error: Exception, path: str, *, unknown: bool) -> refusals.Refusal:
    """`path` is the URL as it may be shown; `unknown`: a write was under way when it happened."""
    if isinstance(error, UnusableTextError):
        return refusals.bad_value("text", "...", f"{error}, which PostgreSQL cannot keep")
    if isinstance(error, ServerError):
        return _refusal_of_state(error, path)
    if isinstance(error, TurnedAwayError):
        return refusals_store.store_unreadable(path, str(error))
    if not unknown:
        return refusals_store.store_unreachable(path, str(error))
    refusal = refusals_store.store_failed(path, str(error))
    # Only the connection failed: what was asked may be asked again when it is back.
    refusal.facts["is_lost"] = True
    return refusal


def _refusal_of_state(error: ServerError, path: str) -> refusals.Refusal:
    if error.state in _UNUSABLE:
        return refusals.bad_value("text", "...", _UNUSABLE[error.state])
    for length in (5, 2):
        refuse = _BY_STATE.get(error.state[:length])
        if refuse is not None:
            return refuse(path, error.message)
    return refusals_store.store_failed(path, f"{error.state}: {error.message}")
