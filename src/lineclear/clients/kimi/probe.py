"""How `setup --check` starts Kimi Code."""

from __future__ import annotations

from lineclear.clients.probe import KEY, Probe

EVENT = "PreToolUse"


def probe(url: str) -> Probe:
    """Sets the model by variables, since the hooks are in the user's settings."""
    env = {
        "KIMI_MODEL_NAME": "m1",
        "KIMI_MODEL_PROVIDER_TYPE": "openai",
        "KIMI_MODEL_BASE_URL": url + "/v1",
        "KIMI_MODEL_API_KEY": KEY,
        "KIMI_MODEL_MAX_CONTEXT_SIZE": "200000",
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
    }
    return Probe(["kimi", "-p", "go"], env)
