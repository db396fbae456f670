"""How `setup --check` starts opencode."""

from __future__ import annotations

import json

from lineclear.clients.probe import KEY, Probe

EVENT = "PreToolUse"


def probe(url: str) -> Probe:
    options = {"baseURL": url + "/v1", "apiKey": KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "probe", "options": options}
    config = {
        "model": "probe/m1",
        "small_model": "probe/m1",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"probe": provider | {"models": {"m1": {"name": "m1"}}}},
    }
    env = {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    return Probe(["opencode", "run", "--model", "probe/m1", "go"], env)
