"""The parts of the plugins that follow from the program: the hooks and the server that set-up installs, too.

What is for a person to decide (names, descriptions, versions) stands in the manifests and is not touched; of
Gemini CLI's only the server is made here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from lineclear.clients import json_settings, mcp_entry
from lineclear.clients.claude import setup as claude
from lineclear.clients.claude.hook import EVENTS
from lineclear.clients.templating import fill

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "plugin"
EXTENSION = ROOT / "gemini-extension.json"
# Claude Code takes this hook's answer for the worktree: with the plugin and without lineclear there was none.
LEFT_OUT = ("WorktreeCreate",)


def hooks() -> str:
    made = {}
    for event, matcher in EVENTS.items():
        if event not in LEFT_OUT:
            command = f'sh "${{CLAUDE_PLUGIN_ROOT}}/hook.sh" {event}'
            handler = {"type": "command", "command": command, "timeout": json_settings.TIMEOUT_S}
            made[event] = [json_settings.group(matcher, handler)]
    return _written({"hooks": made})


def hook_script() -> str:
    return fill("claude/plugin_hook.sh", FIND=fill("templates/find_git.sh").strip())


def claude_server() -> str:
    return _written({mcp_entry.SERVERS: {mcp_entry.NAME: claude.server()}})


def gemini_extension() -> str:
    manifest = json.loads(EXTENSION.read_text(encoding="utf-8"))
    server = mcp_entry.entry(mcp_entry.anywhere(), timeout=mcp_entry.CALL_S * 1000)
    return _written(manifest | {mcp_entry.SERVERS: {mcp_entry.NAME: server}})


def _written(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


FILES: dict[Path, Callable[[], str]] = {
    PLUGIN / "hooks" / "hooks.json": hooks,
    PLUGIN / "hook.sh": hook_script,
    PLUGIN / ".mcp.json": claude_server,
    EXTENSION: gemini_extension,
}
