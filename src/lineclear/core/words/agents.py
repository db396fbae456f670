"""Refusals about people, tokens and the set-up of clients: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.refusals import FAILED, NOT_ALLOWED, NOT_FOUND, STALE, Row, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.words.refusals import Refusal

PERSON = "person"

ROWS = {
    "person.only": Row(
        NOT_ALLOWED,
        "Only a person may {what}.",
        who="You are the agent {agent:32}.",
        next="lineclear say --all --urgent TEXT",
        words=("what",),
    ),
    "token.unknown": Row(
        NOT_ALLOWED,
        "This token is not known here.",
        who="It was changed, is another repository's, or that of a run that is over; a person can make one.",
        next="lineclear token add NAME",
    ),
    "token.other": Row(
        NOT_ALLOWED,
        "You cannot act as {given:32} with this token.",
        who="It is the agent {owner:32}'s, good for that name and for its sub-agents only.",
        next="lineclear --as {owner:NAME}",
    ),
    "token.revoked": Row(
        NOT_ALLOWED,
        "This token of the {kind} {name:32} is revoked.",
        who="{revoked_by:32} revoked it at {revoked_at}; a person can make a new one.",
        next="lineclear token add {name:NAME}{flag:?}",
        words=("flag",),
    ),
    "token.expired": Row(
        NOT_ALLOWED,
        "This token of the {kind} {name:32} has expired.",
        who="It was good until {expired_at}; a person can make a new one.",
        next="lineclear token add {name:NAME}{flag:?}",
        words=("flag",),
    ),
    "token.name": Row(
        NOT_ALLOWED,
        "There can be no token of the name {name:32} for {other}.",
        who="{owner} has that name here, and nobody acts under another's.",
        next="lineclear token list",
        words=("other", "owner"),
    ),
    "token.none": Row(
        NOT_FOUND,
        'No token has the id "{which}", and nobody of that name has one.',
        next="lineclear token list",
    ),
    "setup.unknown": Row(
        NOT_FOUND,
        'There is no set-up for "{name:30}".',
        who="There is one for {known:150}.",
        next="lineclear setup --list",
    ),
    "setup.unusable": Row(
        NOT_ALLOWED,
        "{path:90} cannot be edited safely: {why:90}.",
        who="Nothing was changed.",
        next="less {path:FILE}",
    ),
    "setup.moved": Row(
        STALE,
        "{path:110} was changed by somebody else just now.",
        next="lineclear setup {client:CLIENT}",
        words=("client",),
    ),
    "setup.not_written": Row(FAILED, "{path:110} cannot be written: {why:80}.", next="ls -ld {path:FILE}"),
    "setup.mcp": Row(
        FAILED, "The packages for `lineclear mcp` are not installed.", next="pip install 'mcp>=2.3,<3'"
    ),
    "conventions.edited": Row(
        STALE,
        "The block of lineclear in {path:path} was changed by hand.",
        who="Those words would be lost. Move them out of its two marks first.",
        next="{command:80}",
        words=("command",),
    ),
    "conventions.broken": Row(
        NOT_ALLOWED,
        "{path:path} is left as it is: {why:80}.",
        who="Put the marks in order, or take them both out.",
        next="lineclear setup conventions --dry-run",
        words=("why",),
    ),
}


def token_revoked(name: str, kind: str, revoker: str, at: str) -> Refusal:
    return refuse("token.revoked", name=name, kind=kind, revoked_by=revoker, revoked_at=at, flag=_flag(kind))


def token_expired(name: str, kind: str, at: str) -> Refusal:
    return refuse("token.expired", name=name, kind=kind, expired_at=at, flag=_flag(kind))


def token_name_taken(name: str, kind: str) -> Refusal:
    """`kind`: of the one who has the name already."""
    other = "agent" if kind == PERSON else PERSON
    return refuse("token.name", name=name, kind=kind, other=_one(other), owner=_one(kind).capitalize())


def token_none(which: str) -> Refusal:
    """A mistyped token is not repeated: it may hold most of a real secret."""
    return refuse("token.none", which="lc_..." if which.startswith("lc_") else which)


def _flag(kind: str) -> str:
    return " --person" if kind == PERSON else ""


def _one(kind: str) -> str:
    return "a person" if kind == PERSON else "an agent"
