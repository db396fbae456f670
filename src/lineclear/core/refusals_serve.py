"""Refusals of the server's door, and about starting and stopping it. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import FAILED, HELD, NOT_ALLOWED, NOT_FOUND, USAGE, Refusal, shorten

# code -> HTTP status; 403 for every other one.
STATUS = {
    "serve.proof": 401,
    "serve.host": 421,
    "serve.origin": 403,
    "serve.body": 413,
    "serve.call": 400,
    "serve.elsewhere": 421,
    "token.unknown": 401,
    "token.revoked": 401,
    "token.expired": 401,
}


def no_proof() -> Refusal:
    return Refusal(
        "serve.proof",
        "Nobody comes in here without a token.",
        who="It belongs in the header `Authorization: Bearer TOKEN`.",
        next_="lineclear token add NAME",
        exit_code=NOT_ALLOWED,
    )


def wrong_host(host: str) -> Refusal:
    return Refusal(
        "serve.host",
        f'This server does not go by the name "{shorten(host, 80)}".',
        who="A page of another site could otherwise reach it through your browser.",
        next_="lineclear serve --status",
        exit_code=NOT_ALLOWED,
        host=shorten(host, 200),
    )


def wrong_origin(origin: str) -> Refusal:
    return Refusal(
        "serve.origin",
        f'Pages of "{shorten(origin, 80)}" may not call this server.',
        next_="lineclear serve --status",
        exit_code=NOT_ALLOWED,
        origin=shorten(origin, 200),
    )


def body_too_large(limit: int) -> Refusal:
    return Refusal(
        "serve.body",
        f"The request is larger than {limit >> 20} MiB.",
        next_="lineclear serve --status",
        exit_code=USAGE,
        limit=limit,
    )


def bad_call(why: str) -> Refusal:
    return Refusal(
        "serve.call",
        f"The server does not understand this call: {shorten(why, 100)}.",
        next_="lineclear serve --status",
        exit_code=USAGE,
        why=shorten(why, 300),
    )


def elsewhere(place: str) -> Refusal:
    return Refusal(
        "serve.elsewhere",
        f"{shorten(place, 110)} is not a worktree of this server's repository.",
        next_="lineclear worktree list",
        exit_code=NOT_FOUND,
        path=shorten(place, 300),
    )


def already_served(url: str, pid: int) -> Refusal:
    return Refusal(
        "serve.running",
        "This repository is served already.",
        who=f"Process {pid} serves it at {shorten(url, 80)}." if pid else "Another process is just starting.",
        next_="lineclear serve --stop",
        exit_code=HELD,
        url=url,
        pid=pid,
    )


def not_served() -> Refusal:
    return Refusal(
        "serve.absent",
        "No server runs for this repository.",
        next_="lineclear serve",
        exit_code=NOT_FOUND,
    )


def port_taken(host: str, port: int, why: str) -> Refusal:
    return Refusal(
        "serve.port",
        f"The server cannot listen on {shorten(host, 60)} port {port}: {shorten(why, 80)}.",
        next_="lineclear serve --port 0",
        exit_code=FAILED,
        host=shorten(host, 200),
        port=port,
        why=shorten(why, 300),
    )


def no_socket(why: str) -> Refusal:
    return Refusal(
        "serve.socket",
        f"The server cannot make its socket: {shorten(why, 150)}.",
        next_="lineclear doctor",
        exit_code=FAILED,
        why=shorten(why, 300),
    )


def does_not_stop(pid: int, seconds: int) -> Refusal:
    return Refusal(
        "serve.stuck",
        f"The server was told to stop and still runs after {seconds} s.",
        who=f"It is process {pid}; killing it loses nothing that was acknowledged.",
        next_=f"kill -9 {pid}",
        exit_code=FAILED,
        pid=pid,
    )


def answer_lost(command: str) -> Refusal:
    """`command`: the same again, which has no second effect."""
    return Refusal(
        "serve.lost",
        "The server was lost before it answered; whether this was done is unknown.",
        next_=command if len(command) <= 200 else "lineclear log",
        exit_code=FAILED,
        command=command,
    )


def does_not_start(seconds: int) -> Refusal:
    return Refusal(
        "serve.start",
        f"The server was started and is not to be reached after {seconds} s.",
        next_="lineclear serve",
        exit_code=FAILED,
        seconds=seconds,
    )
