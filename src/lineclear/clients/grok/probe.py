"""How `setup --check` starts Grok Build."""

from __future__ import annotations

from lineclear.clients.probe import KEY, Probe

EVENT = "PreToolUse"


def probe(url: str) -> Probe:
    # Grok also asks its vendor's server for other things.
    bases = ("GROK_MODELS_BASE_URL", "GROK_XAI_API_BASE_URL", "GROK_CLI_CHAT_PROXY_BASE_URL")
    env = {
        **dict.fromkeys(bases, url + "/v1"),
        "XAI_API_KEY": KEY,
        "GROK_DISABLE_AUTOUPDATER": "1",
        "GROK_TELEMETRY_ENABLED": "0",
    }
    hint = "Grok runs a project's hooks only in a folder it trusts: start it here once with --trust"
    argv = ["grok", "--always-approve", "--model", "probe", "--single", "go"]
    return Probe(argv, env, hint=hint, patience=40)
