"""Refusals about people, tokens and the set-up of clients: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import FAILED, NOT_ALLOWED, NOT_FOUND, STALE, Row

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
        "This token is not valid here.",
        who="It was altered, belongs to another repository, or its run has ended. A person can create one.",
        next="lineclear token add NAME",
    ),
    "token.other": Row(
        NOT_ALLOWED,
        "You cannot act as {given:32} with this token.",
        who="It belongs to {owner:32} and is valid only for that agent and its sub-agents.",
        next="lineclear --as {owner:NAME}",
    ),
    "agent.person": Row(
        NOT_ALLOWED,
        "An agent cannot be called {given:32}: that is the name of a person here.",
        who="The person is {person:32}.",
        next="lineclear --as NAME whoami",
    ),
    "token.revoked": Row(
        NOT_ALLOWED,
        "The token of the {kind} {name:32} was revoked.",
        who="{revoked_by:32} revoked it at {revoked_at}; a person can create a new one.",
        next="lineclear token add {name:NAME}{flag:?}",
        words=("flag",),
    ),
    "token.expired": Row(
        NOT_ALLOWED,
        "The token of the {kind} {name:32} has expired.",
        who="It was valid until {expired_at}; a person can create a new one.",
        next="lineclear token add {name:NAME}{flag:?}",
        words=("flag",),
    ),
    "token.name": Row(
        NOT_ALLOWED,
        "Cannot create a token named {name:32} for {other}.",
        who="{owner} already has that name here.",
        next="lineclear token list",
        words=("other", "owner"),
    ),
    "token.none": Row(
        NOT_FOUND,
        'No token has the id "{which}", and nobody with that name has a token.',
        next="lineclear token list",
    ),
    "setup.unknown": Row(
        NOT_FOUND,
        'lineclear cannot set up "{name:30}".',
        who="Available: {known:150}.",
        next="lineclear setup --list",
    ),
    "setup.unusable": Row(
        NOT_ALLOWED,
        "Cannot edit {path:90} safely: {why:90}.",
        who="Nothing was changed.",
        next="less {path:FILE}",
    ),
    "setup.moved": Row(
        STALE,
        "{path:110} was just changed by another program.",
        next="lineclear setup {client:CLIENT}",
        words=("client",),
    ),
    "setup.not_written": Row(FAILED, "Cannot write {path:110}: {why:80}.", next="ls -ld {path:FILE}"),
    "setup.link": Row(
        NOT_ALLOWED,
        "{path:path} is a link, or lies behind one, that leads out of the repository.",
        who="lineclear would write to a file that is not part of it.",
        next="ls -l {path:FILE}",
    ),
    "setup.mcp": Row(
        FAILED, "The packages for `lineclear mcp` are not installed.", next="pip install 'mcp>=2.3,<3'"
    ),
    "conventions.edited": Row(
        STALE,
        "The lineclear block in {path:path} was edited by hand.",
        who="Those edits would be lost. Move them outside the two marks first.",
        next="{command:80}",
        words=("command",),
    ),
    "conventions.broken": Row(
        NOT_ALLOWED,
        "{path:path} was left unchanged: {why:80}.",
        who="Put the marks in order, or remove both.",
        next="lineclear setup conventions --dry-run",
        words=("why",),
    ),
}
