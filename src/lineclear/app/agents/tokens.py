"""Use cases for tokens: issue, revoke, list and verify them.

Only the secret's hash comes in, and no answer contains it, so an answer stored for a repeat cannot reveal it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.free_text import check_words
from lineclear.app.operations import once
from lineclear.app.runs.records import live_runs
from lineclear.core.agents.identity import AGENT as OF_AGENT
from lineclear.core.agents.identity import PERSON as OF_PERSON
from lineclear.core.agents.names import agent_name, is_plain_name
from lineclear.core.agents.tokens import (
    EXPIRED,
    LIVE,
    REVOKED,
    Bearer,
    hash_of,
    is_plausible,
    proves,
    split_token,
    state_of,
)
from lineclear.core.instants import NS_PER_MS, show_wall
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import AGENT, TOKEN
from lineclear.core.words.computed.agents import token_expired, token_name_taken, token_none, token_revoked
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.core.log.tables import Token

MOST_NOTE_CHARS = 200


def verify(view: View, token: str) -> Bearer:
    """The agent or person that a token stands for. Refuses a token that is unknown, revoked or expired; only
    a caller with the right secret learns which."""
    parts = split_token(token)
    if parts is None:
        return _of_run(view, token)
    row = view.get(TOKEN, (parts[0],))
    if row is None or not proves(parts[1], row.hash):
        raise refuse("token.unknown")
    state = state_of(row, view.now.wall_ns)
    if state == REVOKED:
        raise token_revoked(row.name, row.kind, row.revoker, show_wall(row.revoked_ns))
    if state == EXPIRED:
        raise token_expired(row.name, row.kind, show_wall(row.expires_ns))
    return Bearer(row.name, row.kind, row.id)


def _of_run(view: View, token: str) -> Bearer:
    """The agent of the live run that was given this token. The token ends with its run."""
    if is_plausible(token):
        kept = hash_of(token)
        for run in live_runs(view):
            if run.token_hash == kept:
                return Bearer(run.agent, OF_AGENT, f"run-{run.id}")
    raise refuse("token.unknown")


def issue(
    store: Store,
    caller: Caller,
    name: str,
    *,
    id: str,
    secret_hash: str,
    is_person: bool = False,
    note: str = "",
    ttl_ms: int = 0,
) -> dict[str, Any]:
    """Record a token that was just made; with `ttl_ms` 0 it is valid until revoked. For people only."""
    if not caller.is_person:
        raise refuse("person.only", what="create a token", agent=caller.name)
    agent_name(name)
    if is_person and not is_plain_name(name):
        raise refuse(
            "input.bad",
            name="person's name",
            given=name,
            why='only names of agents have levels joined by "/"',
        )
    check_words("note", note, MOST_NOTE_CHARS)
    kind = OF_PERSON if is_person else OF_AGENT

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        _refuse_taken_name(tx, name, kind)
        if tx.get(TOKEN, (id,)) is not None:
            raise RuntimeError("a token's id was drawn twice")
        expires_ns = tx.now.wall_ns + ttl_ms * NS_PER_MS if ttl_ms else 0
        tx.append(
            Draft(
                "TokenIssued", f"token:{id}", id=id, name=name, kind=kind, hash=secret_hash, note=note,
                expires_ns=expires_ns,
            )
        )  # fmt: skip
        return {"token": show_token(_known(tx, id), tx.now.wall_ns)}

    arguments = {"name": name, "kind": kind, "note": note, "ttl_ms": ttl_ms}
    return once(store, caller, "token add", arguments, work)


def _refuse_taken_name(view: View, name: str, kind: str) -> None:
    """Refuse a name that belongs to the other kind: an agent must not pass for a person, or a person for an
    agent."""
    known = view.get(AGENT, (name,))
    if known is not None and known.kind == OF_PERSON != kind:
        raise token_name_taken(name, OF_PERSON)
    for row in view.pick(TOKEN, "name", (name,)):
        if row.kind != kind and state_of(row, view.now.wall_ns) == LIVE:
            raise token_name_taken(name, row.kind)


def revoke(store: Store, caller: Caller, which: str) -> dict[str, Any]:
    """Revoke a token, given itself or by its id, or all tokens of a name. For people only."""
    if not caller.is_person:
        raise refuse("person.only", what="revoke a token", agent=caller.name)
    parts = split_token(which)
    wanted = parts[0] if parts is not None else which  # of a whole token only its id is used and stored

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        found = _find(tx, wanted)
        for row in found:
            if not row.revoked_ns:
                tx.append(Draft("TokenRevoked", f"token:{row.id}", id=row.id))
        revoked = [row.id for row in found if not row.revoked_ns]
        shown = [show_token(_known(tx, row.id), tx.now.wall_ns) for row in found]
        return {"revoked": revoked, "tokens": shown}

    return once(store, caller, "token revoke", {"which": wanted}, work)


def _find(view: View, wanted: str) -> list[Token]:
    if not wanted.isprintable():
        raise token_none(wanted)
    row = view.get(TOKEN, (wanted,))
    found = [row] if row is not None else view.pick(TOKEN, "name", (wanted,))
    if not found:
        raise token_none(wanted)
    return found


def _known(view: View, id: str) -> Token:
    row = view.get(TOKEN, (id,))
    if row is None:
        raise RuntimeError("a token that was made is not there")
    return row


def list_tokens(view: View) -> list[dict[str, Any]]:
    """Every token ever issued, sorted by name and age."""
    rows = sorted(view.scan(TOKEN, "key"), key=lambda row: (row.name, row.made))
    return [show_token(row, view.now.wall_ns) for row in rows]


def show_token(row: Token, wall_ns: int) -> dict[str, Any]:
    """The token as data, without its hash."""
    return {
        "id": row.id,
        "name": row.name,
        "kind": row.kind,
        "state": state_of(row, wall_ns),
        "note": row.note,
        "made_by": row.issuer,
        "made_at": show_wall(row.made_ns),
        "expires_at": show_wall(row.expires_ns) if row.expires_ns else None,
        "revoked_by": row.revoker or None,
        "revoked_at": show_wall(row.revoked_ns) if row.revoked_ns else None,
    }
