"""Grok Build: Claude's protocol and names of events. Facts of version 1.0.41; not tried here."""

from __future__ import annotations

from lineclear.clients.hooking import claude_like

EVENTS, FAIL_CLOSED = claude_like.PLAIN_EVENTS, claude_like.NO_SWITCH
read_call, write_answer = claude_like.reader("grok"), claude_like.write_answer
