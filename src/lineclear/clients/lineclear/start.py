"""How a command that writes our lines of JSON is started: like any other command."""

from __future__ import annotations

from lineclear.clients.plain import start

launch = start.launch
