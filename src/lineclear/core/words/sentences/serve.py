"""Refusals about the server: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import FAILED, HELD, NOT_ALLOWED, NOT_FOUND, USAGE, Row

ROWS = {
    "serve.proof": Row(
        NOT_ALLOWED,
        "This server requires a token.",
        who="Send it in the header `Authorization: Bearer TOKEN`.",
        next="lineclear token add NAME",
    ),
    "serve.host": Row(
        NOT_ALLOWED,
        'This server does not answer to the host name "{host:80}".',
        who="Otherwise a page from another site could reach it through your browser.",
        next="lineclear serve --status",
    ),
    "serve.origin": Row(
        NOT_ALLOWED, 'Pages from "{origin:80}" may not call this server.', next="lineclear serve --status"
    ),
    "serve.call": Row(
        USAGE, "The server does not understand this call: {why:100}.", next="lineclear serve --status"
    ),
    "serve.elsewhere": Row(
        NOT_FOUND, "{path:110} is not a worktree of this server's repository.", next="lineclear worktree list"
    ),
    "serve.running": Row(
        HELD,
        "A server is already running for this repository.",
        who=("Process {pid} serves it at {url:80}.", "Another process is just starting it."),
        next="lineclear serve --stop",
    ),
    "serve.absent": Row(NOT_FOUND, "No server is running for this repository.", next="lineclear serve"),
    "serve.port": Row(
        FAILED, "The server cannot listen on {host} port {port}: {why:80}.", next="lineclear serve --port 0"
    ),
    "serve.socket": Row(FAILED, "The server cannot create its socket: {why:150}.", next="lineclear doctor"),
    "serve.stuck": Row(
        FAILED,
        "The server is still running {seconds} s after it was asked to stop.",
        who="It is process {pid}; killing it loses nothing that was acknowledged.",
        next="kill -9 {pid}",
        words=("seconds",),
    ),
    "serve.lost": Row(
        FAILED,
        "The server ended before it answered; whether the command took effect is unknown.",
        next=("{again:200}", "lineclear log"),
        words=("again",),
    ),
    "serve.start": Row(
        FAILED, "The server was started but did not answer within {seconds} s.", next="lineclear serve"
    ),
    "serve.sessions": Row(
        HELD,
        "You have {most} open MCP sessions with this server, the most that one owner may have.",
        who="Close one, and begin again.",
        next="lineclear serve --status",
    ),
    "serve.body": Row(USAGE, "The request is larger than {limit:MiB}.", next="lineclear serve --status"),
    "service.none": Row(
        FAILED,
        "Cannot install a service: neither systemctl nor launchctl was found.",
        who="Nothing was written.",
        next="lineclear serve --detach",
    ),
    "service.place": Row(
        FAILED,
        "{path:90} cannot be used in a service: it contains a line break or bytes that are not text.",
        next="lineclear serve --detach",
    ),
    "service.foreign": Row(
        NOT_ALLOWED,
        "{path:110} was not written by lineclear and was left unchanged.",
        next="less {path:FILE}",
    ),
    "service.not_started": Row(
        FAILED,
        "The service was written but could not be started: {why:80}.",
        who="It is in {path:60}.",
        next=("{command:80}", "lineclear serve --detach"),
        words=("command",),
    ),
}
