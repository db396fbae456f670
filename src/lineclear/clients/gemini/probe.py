"""How `setup --check` starts Gemini CLI."""

from __future__ import annotations

import json

from lineclear.clients.probe import KEY, Probe

EVENT = "BeforeTool"


def probe(url: str) -> Probe:
    """The system settings override the user's: we use them only to set how it logs in."""
    said = json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}})
    return Probe(
        ["gemini", "-m", "gemini-3-pro", "-p", "go", "--approval-mode", "yolo"],
        {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url},
        files={"GEMINI_CLI_SYSTEM_SETTINGS_PATH": ("settings.json", said)},
        hint="Gemini CLI runs a project's hooks only in a folder it trusts: start it here once and accept",
    )
