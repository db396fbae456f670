"""Refusals whose words are computed; their sentences are in sentences/agents.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from lineclear.core.words.refusals import Refusal

PERSON = "person"


def token_revoked(name: str, kind: str, revoker: str, at: str) -> Refusal:
    return refuse("token.revoked", name=name, kind=kind, revoked_by=revoker, revoked_at=at, flag=_flag(kind))


def token_expired(name: str, kind: str, at: str) -> Refusal:
    return refuse("token.expired", name=name, kind=kind, expired_at=at, flag=_flag(kind))


def token_name_taken(name: str, kind: str) -> Refusal:
    """`kind`: of the agent or person that already has the name."""
    other = "agent" if kind == PERSON else PERSON
    return refuse("token.name", name=name, kind=kind, other=_one(other), owner=_one(kind).capitalize())


def token_none(which: str) -> Refusal:
    """Does not repeat a mistyped token: it may contain most of a real secret."""
    return refuse("token.none", which="lc_..." if which.startswith("lc_") else which)


def _flag(kind: str) -> str:
    return " --person" if kind == PERSON else ""


def _one(kind: str) -> str:
    return "a person" if kind == PERSON else "an agent"
