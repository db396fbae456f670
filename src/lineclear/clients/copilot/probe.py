"""How `setup --check` starts GitHub Copilot CLI."""

from __future__ import annotations

from lineclear.clients.probe import KEY, Probe

EVENT = "preToolUse"


def probe(url: str) -> Probe:
    env = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": url + "/v1",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": "m1",
    }
    hint = "Copilot runs a project's hooks only in a trusted folder: start it here once and accept"
    return Probe(["copilot", "-p", "go", "--allow-all-tools", "--no-color"], env, hint=hint)
