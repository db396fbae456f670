"""How a client is started for a probe: with the user's own settings and trust, and no real model."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_KEY = "sk-of-no-account"


class Probe:
    """`env` is added to the environment. `files`: variable -> (name, text) of a file it is to name."""

    __slots__ = ("argv", "env", "files", "hint")

    def __init__(
        self,
        argv: list[str],
        env: dict[str, str],
        *,
        files: dict[str, tuple[str, str]] | None = None,
        hint: str = "",
    ) -> None:
        self.argv, self.env, self.files, self.hint = argv, env, files or {}, hint


def _claude(url: str) -> Probe:
    env = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": _KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return Probe(["claude", "-p", "go", "--no-session-persistence"], env)


def _codex(url: str) -> Probe:
    provider = (
        f'model_providers.probe={{name="probe",base_url="{url}/v1",env_key="PROBE_MODEL_KEY",'
        'wire_api="responses"}'
    )
    argv = ["codex", "exec", "--ephemeral", "-c", 'model_provider="probe"', "-c", provider]
    argv += ["-c", 'model="gpt-5.5-codex"', "go"]
    hint = (
        "Codex runs a hook only in a trusted project, and only one whose hash it trusts: see /hooks in Codex"
    )
    return Probe(argv, {"PROBE_MODEL_KEY": _KEY}, hint=hint)


def _gemini(url: str) -> Probe:
    """The system's settings stand above the user's: there we say how it logs in, and nothing else."""
    said = json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}})
    return Probe(
        ["gemini", "-m", "gemini-3-pro", "-p", "go", "--approval-mode", "yolo"],
        {"GEMINI_API_KEY": _KEY, "GOOGLE_GEMINI_BASE_URL": url},
        files={"GEMINI_CLI_SYSTEM_SETTINGS_PATH": ("settings.json", said)},
        hint="Gemini CLI runs a project's hooks only in a folder it trusts: start it here once and say yes",
    )


def _qwen(url: str) -> Probe:
    env = {"OPENAI_API_KEY": _KEY, "OPENAI_BASE_URL": url + "/v1", "OPENAI_MODEL": "m1"}
    env["QWEN_CODE_SUPPRESS_YOLO_WARNING"] = "1"
    return Probe(["qwen", "-p", "go", "--yolo", "--auth-type", "openai"], env)


def _opencode(url: str) -> Probe:
    options = {"baseURL": url + "/v1", "apiKey": _KEY}
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


def _copilot(url: str) -> Probe:
    env = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": url + "/v1",
        "COPILOT_PROVIDER_API_KEY": _KEY,
        "COPILOT_MODEL": "m1",
    }
    hint = "Copilot runs a project's hooks only in a trusted folder: start it here once and say yes"
    return Probe(["copilot", "-p", "go", "--allow-all-tools", "--no-color"], env, hint=hint)


# Client -> (how it is started, the event that has to come).
PROBES: dict[str, tuple[Callable[[str], Probe], str]] = {
    "claude": (_claude, "PreToolUse"),
    "codex": (_codex, "PreToolUse"),
    "gemini": (_gemini, "BeforeTool"),
    "qwen": (_qwen, "PreToolUse"),
    "opencode": (_opencode, "PreToolUse"),
    "copilot": (_copilot, "preToolUse"),
}
# Their programs, to say at least whether they are there.
PROGRAMS = {
    "cursor": "cursor-agent",
    "droid": "droid",
    "grok": "grok",
    "kimi": "kimi",
    "cline": "cline",
    "goose": "goose",
    "aider": "aider",
}
