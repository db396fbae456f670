"""token add, token list, token revoke."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents import tokens
from lineclear.cli.command import Command, Context
from lineclear.cli.parser import duration
from lineclear.cli.render import TextTable
from lineclear.core.agents.tokens import write_token
from lineclear.core.durations import LONGEST_MS, MINUTE_MS
from lineclear.host.tokens import new_id, new_secret

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any


def _declare_add(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the agent or person whose name it proves")
    parser.add_argument(
        "--person", action="store_true", help="for a person, who may do what people may and act as any agent"
    )
    parser.add_argument("--note", default="", help='what it is for ("build machine")')
    parser.add_argument(
        "--ttl",
        type=duration(MINUTE_MS, LONGEST_MS),
        default=0,
        help="how long it is valid, such as 90d (default: until it is revoked)",
    )


def add(context: Context, args: Namespace) -> None:
    """Print only the token to stdout, for scripts; a repeat cannot, since the secret is not stored."""
    id, (secret, secret_hash) = new_id(), new_secret()
    answer = tokens.issue(
        context.store,
        context.caller,
        args.name,
        id=id,
        secret_hash=secret_hash,
        is_person=args.person,
        note=args.note,
        ttl_ms=args.ttl,
    )
    made = answer["token"]
    which = f"Token {made['id']} of the {made['kind']} {made['name']}"
    if answer.get("replayed"):
        text = f"replayed: {which} was created before; it was shown then and cannot be shown again."
        context.out.data({**answer, "secret": None}, text)
        return
    token = write_token(id, secret)
    context.out.data({**answer, "secret": token}, token)
    until = (
        f"It is valid until {made['expires_at']}."
        if made["expires_at"]
        else "It is valid until it is revoked."
    )
    context.out.hint(f"{which}, shown only this once. {until}")


def list_(context: Context, _args: Namespace) -> None:
    found, head = context.store.read(lambda view: (tokens.list_tokens(view), view.head))
    columns = ["ID", "NAME", "KIND", "STATE", "MADE", "BY", "EXPIRES", "REVOKED", "NOTE"]
    rows = [_row(token) for token in found]
    context.out.data({"tokens": found}, TextTable(columns, rows, empty="Nobody has a token."))
    context.delivered(head)


def _row(token: dict[str, Any]) -> list[Any]:
    revoked = f"{token['revoked_at']} by {token['revoked_by']}" if token["revoked_at"] else ""
    return [
        *(token[name] for name in ("id", "name", "kind", "state", "made_at", "made_by")),
        token["expires_at"] or "never",
        revoked,
        token["note"],
    ]


def _declare_revoke(parser: ArgumentParser) -> None:
    parser.add_argument("which", metavar="ID|NAME", help="one token, or all tokens of a name")


def revoke(context: Context, args: Namespace) -> None:
    answer = tokens.revoke(context.store, context.caller, args.which)
    context.out.data(answer, *(_ended(token, answer["revoked"]) for token in answer["tokens"]))


def _ended(token: dict[str, Any], now: list[str]) -> str:
    which = f"Token {token['id']} of the {token['kind']} {token['name']}"
    if token["id"] in now:
        return f"{which} was revoked."
    return f"{which} was already revoked by {token['revoked_by']} at {token['revoked_at']}."


COMMANDS = {
    "token add": Command(add, _declare_add, is_write=True),
    "token list": Command(list_),
    "token revoke": Command(revoke, _declare_revoke, is_write=True),
}
