"""Factory droid: Claude's protocol and names of events. Facts of version 0.225.2; not tried here."""

from __future__ import annotations

from lineclear.clients.hooking import claude_like

EVENTS = {
    **claude_like.PLAIN_EVENTS,
    "PreToolUse": "Edit|MultiEdit|ApplyPatch|Create|Write|Execute",
    "PostToolUse": "Edit|MultiEdit|ApplyPatch|Create|Write|Execute|Read",
}
FAIL_CLOSED = claude_like.NO_SWITCH
read_call, write_answer = claude_like.reader("droid"), claude_like.write_answer
