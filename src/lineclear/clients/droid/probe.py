"""How `setup --check` starts Factory droid."""

from __future__ import annotations

import json

from lineclear.clients.probe import KEY, Probe

EVENT = "PreToolUse"


def probe(url: str) -> Probe:
    """With droid's own switch for a machine without network, so that it contacts no account and no server."""
    model = {
        "model": "m1",
        "displayName": "m1",
        "provider": "generic-chat-completion-api",
        "baseUrl": url + "/v1",
        "apiKey": KEY,
        "maxOutputTokens": 8000,
    }
    # By default droid does not wait for an MCP server, and the model would not see its tools in this turn.
    said = json.dumps({"customModels": [model], "blockOnMcpLoad": True})
    return Probe(
        ["droid", "exec", "--auto", "low", "--model", "custom:m1", "go"],
        {"FACTORY_AIRGAP_ENABLED": "1", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false"},
        files={"FACTORY_RUNTIME_SETTINGS_PATH": ("settings.json", said)},
        hint="droid does not run hooks if hooksDisabled is set in its settings",
    )
