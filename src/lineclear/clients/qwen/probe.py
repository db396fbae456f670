"""How `setup --check` starts Qwen Code."""

from __future__ import annotations

from lineclear.clients.probe import KEY, Probe

EVENT = "PreToolUse"


def probe(url: str) -> Probe:
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url + "/v1", "OPENAI_MODEL": "m1"}
    env["QWEN_CODE_SUPPRESS_YOLO_WARNING"] = "1"
    return Probe(["qwen", "-p", "go", "--yolo", "--auth-type", "openai"], env)
