"""Files of a user before set-up, and set-up carried out on them without a disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lineclear.app.setup.plan import SetupChange, SetupFacts, SetupPlan
from lineclear.clients.registry import setup_of

ROOT, HOME = "/srv/shop", "/home/sam"
STUB = "/srv/shop/.git/lineclear/hook"
GROUPS = (
    '{\n\t// mine, and it stays\n\t"theme": "dark",\n\t"hooks": {\n\t\t"PreToolUse": [\n'
    '\t\t\t{"matcher": "Bash", "hooks": [{"type": "command", "command": "./mine.sh"}]}, // first\n'
    '\t\t],\n\t\t"Stop": []\n\t}\n}\n'
)
GEMINI = (
    '{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}]},\r\n  "ui": {}}'
)
CURSOR = '{\n  "version": 1,\n  "hooks": {\n    "stop": [{ "command": "./mine.sh" }]\n  }\n}'
DROID = (
    '{"PostToolUse": [\n  {"matcher": "Read", "hooks": [{"type": "command", "command": "./mine.sh"}]}\n]}\n'
)
GROK_FOLDERS = '# mine\n[folders."/srv/other"]\ntrusted = true\n'
CODEX_TOML = 'model = "x"  # mine\n\n[projects."/srv/other"]\ntrust_level = "untrusted"'
TOML = CODEX_TOML + '\n[[hooks]]\nevent = "Stop"\ncommand = "true"'


# What the user has in the client's files before.
BEFORE: dict[str, dict[str, str]] = {
    "claude": {f"{ROOT}/.claude/settings.local.json": GROUPS},
    "codex": {f"{ROOT}/.codex/hooks.json": GROUPS, f"{HOME}/.codex/config.toml": CODEX_TOML},
    "gemini": {
        f"{ROOT}/.gemini/settings.json": GEMINI,
        f"{HOME}/.gemini/trustedFolders.json": '{"/srv/other": "DO_NOT_TRUST"}',
    },
    "qwen": {f"{ROOT}/.qwen/settings.json": GROUPS},
    "opencode": {},
    "cursor": {f"{ROOT}/.cursor/hooks.json": CURSOR},
    "copilot": {
        f"{HOME}/.copilot/config.json": '// managed\n{\n  "trustedFolders": [\n    "/srv/other"\n  ]\n}\n'
    },
    "droid": {
        f"{ROOT}/.factory/settings.json": GROUPS,
        f"{ROOT}/.factory/hooks.json": DROID,
        f"{ROOT}/.factory/mcp.json": '{"mcpServers": {"mine": {"command": "mine"}}}',
    },
    "grok": {
        f"{ROOT}/.grok/config.toml": '[mcp_servers.mine]\ncommand = "mine"\n',
        f"{HOME}/.grok/trusted_folders.toml": GROK_FOLDERS,
    },
    "kimi": {f"{HOME}/.kimi-code/config.toml": TOML},
    "cline": {f"{ROOT}/.clinerules/hooks/PreToolUse": "#!/bin/sh\nexit 0\n"},
    "goose": {},
    "aider": {f"{ROOT}/.aider.conf.yml": "# mine\nmodel: x\n"},
}
Files = dict[str, bytes]


def on_disk(texts: Mapping[str, str]) -> Files:
    return {path: text.encode() for path, text in texts.items()}


def find(
    name: str, disk: Files, record: Mapping[str, object] | None = None, shared: tuple[str, ...] = ()
) -> SetupFacts:
    facts = SetupFacts(ROOT, home=HOME, stub=STUB, record=record or {}, shared=shared, has_server=True)
    return replace(facts, files={path: disk.get(path) for path in setup_of(name).files(facts)})


def carried_out(plan: SetupPlan, disk: Files) -> Files:
    after = dict(disk)
    for change in plan.changes:
        assert isinstance(change, SetupChange)
        assert after.get(change.path) == change.before
        after.pop(change.path, None)
        if change.after is not None:
            after[change.path] = change.after
    return after


def install(
    name: str, disk: Files, record: Mapping[str, object] | None = None, **more: tuple[str, ...]
) -> tuple[SetupPlan, Files]:
    plan = setup_of(name).plan_install(find(name, disk, record, **more))
    return plan, carried_out(plan, disk)
