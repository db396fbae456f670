"""How `setup --check` starts Cline."""

from __future__ import annotations

import json

from lineclear.clients.probe import KEY, Probe

EVENT = "PreToolUse"


def probe(url: str) -> Probe:
    """With its own provider settings, and without Cline's hub process, which would keep running."""
    settings = {"provider": "openai-compatible", "apiKey": KEY, "model": "m1", "baseUrl": url + "/v1"}
    said = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    providers = {"version": 1, "lastUsedProvider": "openai-compatible"}
    config = json.dumps(providers | {"providers": {"openai-compatible": said}})
    return Probe(
        ["cline", "--json", "-P", "openai-compatible", "-m", "m1", "Do nothing at all"],
        {"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_NO_AUTO_UPDATE": "1"},
        files={"CLINE_PROVIDER_SETTINGS_PATH": ("providers.json", config)},
    )
