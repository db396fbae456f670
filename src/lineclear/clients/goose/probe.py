"""How `setup --check` starts goose."""

from __future__ import annotations

from lineclear.clients.probe import KEY, Probe

EVENT = "PreToolUse"


def probe(url: str) -> Probe:
    env = {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "m1",
        "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_TELEMETRY_ENABLED": "false",
        "OPENAI_API_KEY": KEY,
        "OPENAI_HOST": url,
        "OPENAI_BASE_PATH": "v1/chat/completions",
    }
    return Probe(["goose", "run", "--no-session", "--with-builtin", "developer", "-t", "go"], env)
