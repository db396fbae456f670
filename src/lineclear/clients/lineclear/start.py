"""Starts a command that writes our JSON lines, like any other command."""

from __future__ import annotations

from lineclear.clients.plain import start

launch = start.launch
