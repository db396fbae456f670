"""Refusals about tokens. Words only, no decision; never a secret, nor a part of one."""

from __future__ import annotations

from lineclear.core.refusals import NOT_ALLOWED, NOT_FOUND, Refusal, named, pasted, shorten

PERSON = "person"


def token_unknown() -> Refusal:
    """Also for a wrong secret: whoever guesses learns neither names nor which ids there are."""
    return Refusal(
        "token.unknown",
        "This token is not known here.",
        who="It was changed, is another repository's, or that of a run that is over; a person can make one.",
        next_="lineclear token add NAME",
        exit_code=NOT_ALLOWED,
    )


def token_revoked(name: str, kind: str, revoker: str, at: str) -> Refusal:
    return Refusal(
        "token.revoked",
        f"This token of the {kind} {named(name)} is revoked.",
        who=f"{named(revoker)} revoked it at {at}; a person can make a new one.",
        next_=_again(name, kind),
        exit_code=NOT_ALLOWED,
        name=name,
        kind=kind,
        revoked_by=revoker,
        revoked_at=at,
    )


def token_expired(name: str, kind: str, at: str) -> Refusal:
    return Refusal(
        "token.expired",
        f"This token of the {kind} {named(name)} has expired.",
        who=f"It was good until {at}; a person can make a new one.",
        next_=_again(name, kind),
        exit_code=NOT_ALLOWED,
        name=name,
        kind=kind,
        expired_at=at,
    )


def token_of_another(owner: str, given: str) -> Refusal:
    return Refusal(
        "token.other",
        f"You cannot act as {named(given)} with this token.",
        who=f"It is the agent {named(owner)}'s, good for that name and for its sub-agents only.",
        next_=f"lineclear --as {pasted(owner, 'NAME')}",
        exit_code=NOT_ALLOWED,
        owner=owner,
        given=given,
    )


def token_name_taken(name: str, kind: str) -> Refusal:
    """`kind`: of the one who has the name already."""
    other = "agent" if kind == PERSON else PERSON
    return Refusal(
        "token.name",
        f"There can be no token of the name {named(name)} for {_one(other)}.",
        who=f"{_one(kind).capitalize()} has that name here, and nobody acts under another's.",
        next_="lineclear token list",
        exit_code=NOT_ALLOWED,
        name=name,
        kind=kind,
    )


def token_none(which: str) -> Refusal:
    """What looks like a token itself is not repeated: it may be one with a slip in it."""
    shown = "lc_..." if which.startswith("lc_") else shorten(which, 60)
    return Refusal(
        "token.none",
        f'No token has the id "{shown}", and nobody of that name has one.',
        next_="lineclear token list",
        exit_code=NOT_FOUND,
        which=shown,
    )


def _again(name: str, kind: str) -> str:
    return f"lineclear token add {pasted(name, 'NAME')}{' --person' if kind == PERSON else ''}"


def _one(kind: str) -> str:
    return "a person" if kind == PERSON else "an agent"
