"""Refusals about the store: where it lies, what state it is in. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import FAILED, NOT_ALLOWED, NOT_FOUND, TIMED_OUT, Refusal, named, shorten

# -- the store ------------------------------------------------------------------------------------


def _store(code: str, what: str, path: str, why: str, next_: str, exit_code: int = FAILED) -> Refusal:
    return Refusal(code, what, who=shorten(why, 160), next_=next_, exit_code=exit_code, path=path, reason=why)


def store_missing(path: str) -> Refusal:
    what = "This repository has no lineclear store yet."
    return Refusal("store.missing", what, next_="lineclear init", exit_code=NOT_FOUND, path=path)


def store_busy(path: str, holder: str, limit_s: float) -> Refusal:
    return Refusal(
        "store.busy",
        f"The store could not be written within {limit_s:g} s.",
        who=f"{named(holder)} holds its gate; if it is stopped, continue or end it.",
        next_="lineclear doctor",
        exit_code=TIMED_OUT,
        path=path,
        holder=holder,
    )


def store_locked(path: str, why: str) -> Refusal:
    what = "The store is locked by a program that is not lineclear."
    return _store("store.locked", what, path, why, "lineclear doctor", TIMED_OUT)


def store_full(path: str, why: str) -> Refusal:
    what = "The disk of the store is full; nothing was written."
    return _store("store.full", what, path, why, "lineclear doctor")


def store_read_only(path: str, why: str) -> Refusal:
    what = "The store cannot be written from here; nothing was changed."
    return _store("store.read_only", what, path, why, "lineclear doctor", NOT_ALLOWED)


def store_unreadable(path: str, why: str) -> Refusal:
    return _store("store.unreadable", "The store cannot be opened.", path, why, "lineclear doctor")


def store_unreachable(path: str, why: str) -> Refusal:
    what = "The shared store is out of reach; nothing was changed."
    return _store("store.unreachable", what, path, why, "lineclear doctor")


def store_damaged(path: str, why: str) -> Refusal:
    what = "The store is damaged or is not a lineclear store."
    return _store("store.damaged", what, path, why, "lineclear doctor")


def store_failed(path: str, why: str) -> Refusal:
    what = "The store failed; whether the last write happened is unknown."
    return _store("store.failed", what, path, why, "lineclear audit")


def store_older(path: str, found: int, needed: int) -> Refusal:
    what = f"The store has schema {found}; this program needs {needed}."
    return Refusal("store.older", what, next_="lineclear init", path=path, found=found, needed=needed)


def store_newer(path: str, found: int, known: int) -> Refusal:
    return Refusal(
        "store.newer",
        f"The store has schema {found}; this program knows up to {known}.",
        who="A newer lineclear has been here.",
        next_="pip install --upgrade lineclear",
        exit_code=NOT_ALLOWED,
        path=path,
        found=found,
        known=known,
    )


def store_not_empty(path: str) -> Refusal:
    what = "The target store is not empty; nothing was copied."
    return Refusal("store.not_empty", what, next_="lineclear db info", exit_code=NOT_ALLOWED, path=path)


def store_on_network(path: str, file_system: str) -> Refusal:
    return Refusal(
        "store.network",
        f"The store would lie on a network file system ({file_system}), which SQLite is not safe on.",
        next_="lineclear init --store postgresql://HOST/DATABASE",
        exit_code=NOT_ALLOWED,
        path=path,
        file_system=file_system,
    )
