"""Refusals about input and usage: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import FAILED, USAGE, Row

ROWS = {
    "input.bad": Row(
        USAGE, '{name} "{given}" is not valid: {why:160}.', next="lineclear --help", words=("why",)
    ),
    "operation.differs": Row(
        USAGE,
        'The operation id "{key}" was used before with other arguments.',
        who="A repeat must have the same arguments; a new command needs a new id.",
        next="lineclear log",
    ),
    "usage.verb": Row(
        USAGE,
        'There is no verb "{typed}".',
        who=('Did you mean "{close}"?', ""),
        next=("lineclear {close} --help", "lineclear --help"),
    ),
    "usage": Row(USAGE, "{command}: {message:160}.", next="{command} --help", words=("message",)),
    "usage/tool": Row(
        USAGE, "{command}: {message:110}.", next="{example:110}", next_is="call", words=("example", "message")
    ),
    "bug": Row(
        FAILED,
        "This is a bug in lineclear; your command was not carried out, or its outcome is unknown.",
        who="{error:100} ({place:40}); LINECLEAR_DEBUG=1 shows more.",
        next="lineclear audit",
    ),
}
