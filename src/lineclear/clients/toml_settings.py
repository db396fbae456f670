"""Adds our MCP server to a client's TOML settings, as a block beside the user's own servers."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

from lineclear.app.setup import text_blocks
from lineclear.app.setup.plan import CannotSetUp
from lineclear.clients import json_settings, mcp_entry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from lineclear.app.setup.plan import SetupFacts, SetupPlan


def install(
    plan: SetupPlan, facts: SetupFacts, path: str, block: str, *, private_lines: Sequence[str] = ()
) -> None:
    """Add the block, or remove it if no server is wanted. `private_lines`: for private files only."""
    if not facts.has_server:
        text_blocks.remove(plan, facts, path, block)
        return
    text = facts.text(path)
    base = text_blocks.without_block(text, path, facts.record, block) if text is not None else None
    if mcp_entry.NAME in table(parsed(path, base or ""), "mcp_servers"):
        plan.notes.append(f"{path} already has a server called {mcp_entry.NAME}; it was left unchanged")
        return
    words = mcp_entry.command(facts, path)
    lines = [
        f"[mcp_servers.{mcp_entry.NAME}]",
        f"command = {json.dumps(words[0])}",
        f"args = {json.dumps(words[1:])}",
        f"startup_timeout_sec = {mcp_entry.START_S}",
        f"tool_timeout_sec = {mcp_entry.CALL_S}",
    ]
    lines += private_lines if json_settings.is_private(facts, path) else []
    parsed(path, text_blocks.install(plan, facts, path, block, lines))
    if base is None and path not in facts.shared:
        plan.private.append(path)


def table(known: dict[str, Any], key: str) -> dict[str, Any]:
    value = known.get(key, {})
    return value if isinstance(value, dict) else {}


def parsed(path: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotSetUp(path, f"it is not TOML ({error})") from None


def check_toml(path: str, text: str) -> None:
    """Raise CannotSetUp if the file, with our block, would not be TOML."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotSetUp(path, f"it would no longer be TOML ({error})") from None
