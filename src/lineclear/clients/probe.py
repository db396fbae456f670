"""How a client is started for a probe: with the user's own settings and trust, and no real model."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_KEY = "sk-of-no-account"


class Probe:
    """`env` is added to the environment. `files`: variable -> (name, text) of a file it is to name.
    `patience`: for how many seconds a client that does not wait for an MCP server is kept busy at most."""

    __slots__ = ("argv", "env", "files", "hint", "patience")

    def __init__(
        self,
        argv: list[str],
        env: dict[str, str],
        *,
        files: dict[str, tuple[str, str]] | None = None,
        hint: str = "",
        patience: int = 0,
    ) -> None:
        self.argv, self.env, self.files, self.hint = argv, env, files or {}, hint
        self.patience = patience


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


def _droid(url: str) -> Probe:
    """With its own switch for a machine without a network: no account is asked, and no server of its own."""
    model = {
        "model": "m1",
        "displayName": "m1",
        "provider": "generic-chat-completion-api",
        "baseUrl": url + "/v1",
        "apiKey": _KEY,
        "maxOutputTokens": 8000,
    }
    # It does not wait for a server; one that comes too late is not shown to the model in this turn.
    said = json.dumps({"customModels": [model], "blockOnMcpLoad": True})
    return Probe(
        ["droid", "exec", "--auto", "low", "--model", "custom:m1", "go"],
        {"FACTORY_AIRGAP_ENABLED": "1", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false"},
        files={"FACTORY_RUNTIME_SETTINGS_PATH": ("settings.json", said)},
        hint="droid runs no hooks where hooksDisabled is set in its settings",
    )


def _grok(url: str) -> Probe:
    # It asks its maker's server for other things, too.
    bases = ("GROK_MODELS_BASE_URL", "GROK_XAI_API_BASE_URL", "GROK_CLI_CHAT_PROXY_BASE_URL")
    env = {
        **dict.fromkeys(bases, url + "/v1"),
        "XAI_API_KEY": _KEY,
        "GROK_DISABLE_AUTOUPDATER": "1",
        "GROK_TELEMETRY_ENABLED": "0",
    }
    hint = "Grok runs a project's hooks only in a folder it trusts: start it here once with --trust"
    argv = ["grok", "--always-approve", "--model", "probe", "--single", "go"]
    return Probe(argv, env, hint=hint, patience=40)


def _kimi(url: str) -> Probe:
    """A model of its own by variables; the user's settings, where the hooks are, stay as they are."""
    env = {
        "KIMI_MODEL_NAME": "m1",
        "KIMI_MODEL_PROVIDER_TYPE": "openai",
        "KIMI_MODEL_BASE_URL": url + "/v1",
        "KIMI_MODEL_API_KEY": _KEY,
        "KIMI_MODEL_MAX_CONTEXT_SIZE": "200000",
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
    }
    return Probe(["kimi", "-p", "go"], env)


def _cline(url: str) -> Probe:
    """Its data in a place of its own; no hub, which would stay behind."""
    settings = {"provider": "openai-compatible", "apiKey": _KEY, "model": "m1", "baseUrl": url + "/v1"}
    said = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    providers = {"version": 1, "lastUsedProvider": "openai-compatible"}
    config = json.dumps(providers | {"providers": {"openai-compatible": said}})
    return Probe(
        ["cline", "--json", "-P", "openai-compatible", "-m", "m1", "Do nothing at all"],
        {"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_NO_AUTO_UPDATE": "1"},
        files={"CLINE_PROVIDER_SETTINGS_PATH": ("providers.json", config)},
    )


def _goose(url: str) -> Probe:
    env = {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "m1",
        "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_TELEMETRY_ENABLED": "false",
        "OPENAI_API_KEY": _KEY,
        "OPENAI_HOST": url,
        "OPENAI_BASE_PATH": "v1/chat/completions",
    }
    return Probe(["goose", "run", "--no-session", "--with-builtin", "developer", "-t", "go"], env)


# Client -> (how it is started, the event that has to come).
PROBES: dict[str, tuple[Callable[[str], Probe], str]] = {
    "claude": (_claude, "PreToolUse"),
    "codex": (_codex, "PreToolUse"),
    "gemini": (_gemini, "BeforeTool"),
    "qwen": (_qwen, "PreToolUse"),
    "opencode": (_opencode, "PreToolUse"),
    "copilot": (_copilot, "preToolUse"),
    "kimi": (_kimi, "PreToolUse"),
    "cline": (_cline, "PreToolUse"),
    "goose": (_goose, "PreToolUse"),
    "droid": (_droid, "PreToolUse"),
    "grok": (_grok, "PreToolUse"),
}
# Their programs, to say at least whether they are there.
PROGRAMS = {
    "cursor": "cursor-agent",
    "aider": "aider",
}
