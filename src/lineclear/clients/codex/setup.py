"""Codex: hooks in the project's own file. Codex silently skips them unless its config.toml trusts both the
project and each hook, by a hash. Our server is in the project's config.toml, in each worktree its own, which
Codex reads if the main worktree is trusted. Tested with 0.166.0.

In a linked worktree Codex reads the hooks of the main worktree, under that file's path, but only if the
linked one also has a `.codex/hooks.json`. So worktrees get a copy, and trusting once covers all.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from typing import TYPE_CHECKING

from lineclear.app.setup import text_blocks
from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import hook_groups, json_settings, jsonc, toml_settings, trusted_folders
from lineclear.clients.codex.hook import EVENTS
from lineclear.clients.toml_settings import check_toml, parsed, table

if TYPE_CHECKING:
    from typing import Any

IN_WORKTREES = True
_SERVER = "codex, its server"


def files(facts: SetupFacts) -> list[str]:
    return [f"{facts.root}/.codex/hooks.json", f"{facts.root}/.codex/config.toml", _config(facts)]


def _config(facts: SetupFacts) -> str:
    home = facts.variables.get("CODEX_HOME") or f"{facts.home}/.codex"
    return f"{home}/config.toml"


def plan_install(facts: SetupFacts) -> SetupPlan:
    plan, (path, own, _) = SetupPlan(), files(facts)
    entries = hook_groups.entries(facts, path, "codex", EVENTS, json_settings.TIMEOUT_S)
    text = json_settings.install(plan, facts, path, entries)
    _serve(plan, facts, own)
    if facts.is_main:
        _trust(plan, facts, path, text)
        _offer_root(plan, facts)
    return plan


def _serve(plan: SetupPlan, facts: SetupFacts, path: str) -> None:
    """Codex waits only for a `required` server. In a file that others may clone, ours is not required."""
    if path == _config(facts):
        if facts.has_server:
            plan.notes.append(
                f"{path} applies to all projects, so the server was not added; see `codex mcp add`"
            )
        return
    toml_settings.install(plan, facts, path, _SERVER, private_lines=["required = true"])


def _offer_root(plan: SetupPlan, facts: SetupFacts) -> None:
    """Hooks run outside Codex's sandbox, but the model's commands run inside it, where `.git` is
    read-only."""
    plan.notes.append(
        "in Codex's sandbox hooks work, but its own commits and `lineclear` commands cannot write; "
        f"start it with `--add-dir {shlex.quote(facts.git_dir)}` to let them"
    )


def _trust(plan: SetupPlan, facts: SetupFacts, path: str, text: str) -> None:
    """Add a block to Codex's settings, without what they already contain."""
    config = _config(facts)
    known = parsed(
        config, text_blocks.without_block(facts.text(config) or "", config, facts.record, _name(facts)) or ""
    )
    lines = _project_lines(plan, facts, known)
    state = table(table(known, "hooks"), "state")
    for key, value in trusted_hashes(path, text).items():
        if key not in state:
            lines += [f"[hooks.state.{json.dumps(key)}]", f'trusted_hash = "{value}"']
        elif state[key].get("trusted_hash") != value:
            plan.notes.append(f"Codex has another hash for {key}; approve the hook when it asks (/hooks)")
    check_toml(config, text_blocks.install(plan, facts, config, _name(facts), lines))


def _project_lines(plan: SetupPlan, facts: SetupFacts, known: dict[str, Any]) -> list[str]:
    level = table(table(known, "projects"), facts.root).get("trust_level")
    if level is None:
        head = f"[projects.{json.dumps(facts.root)}]"
        if head not in (facts.text(_config(facts)) or ""):
            trusted_folders.tell(plan, facts, "Codex", _config(facts))
        return [head, 'trust_level = "trusted"']
    if level != "trusted":
        plan.notes.append(
            f"Codex is set not to trust {facts.root}, so it does not run hooks here; see config.toml"
        )
    return []


def trusted_hashes(path: str, text: str) -> dict[str, str]:
    """Codex's key and hash for each of our hooks. The key contains the hook's place in the file."""
    groups = jsonc.parse(text).plain()["hooks"]
    hashes = {}
    for event in EVENTS:
        name = _snake(event)
        for place, group in enumerate(groups.get(event, [])):
            if json_settings.holds_ours(group):
                hashes[f"{path}:{name}:{place}:0"] = hook_hash(name, group)
    return hashes


def hook_hash(event: str, group: dict[str, Any]) -> str:
    handler = group["hooks"][0]
    said: dict[str, Any] = {
        "event_name": event,
        "hooks": [
            {
                "async": False,
                "command": handler["command"],
                "timeout": handler.get("timeout", 600),
                "type": "command",
            }
        ],
    }
    if group.get("matcher"):
        said["matcher"] = group["matcher"]
    written = json.dumps(said, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return "sha256:" + hashlib.sha256(written.encode()).hexdigest()


def _snake(event: str) -> str:
    return "".join("_" + ch.lower() if ch.isupper() else ch for ch in event).lstrip("_")


def plan_remove(facts: SetupFacts) -> SetupPlan:
    path, own, _ = files(facts)
    plan = hook_groups.plan_remove(facts, path)
    if own != _config(facts):
        text_blocks.remove(plan, facts, own, _SERVER)
    if facts.is_main:
        text_blocks.remove(plan, facts, _config(facts), _name(facts))
    return plan


def _name(facts: SetupFacts) -> str:
    """The name of our block: each repository has its own."""
    return f"codex in {facts.root}"
