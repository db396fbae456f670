"""Grok Build: our own file among the project's hooks, our server in the project's config.toml. Grok silently
skips both until the folder is trusted. Tested with 1.0.41.

A linked worktree has its own files; trust in the main worktree covers it.
"""

from __future__ import annotations

import json

from lineclear.app.setup import text_blocks
from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import hook_groups, toml_settings, trusted_folders
from lineclear.clients.grok.hook import EVENTS

IN_WORKTREES = True
_SERVER = "grok, its server"


def files(facts: SetupFacts) -> list[str]:
    own = f"{facts.root}/.grok"
    return [f"{own}/hooks/lineclear.json", f"{own}/config.toml", _folders(facts)]


def _home(facts: SetupFacts) -> str:
    return facts.variables.get("GROK_HOME") or f"{facts.home}/.grok"


def _folders(facts: SetupFacts) -> str:
    return f"{_home(facts)}/trusted_folders.toml"


def _is_for_all(facts: SetupFacts, path: str) -> bool:
    return path == f"{_home(facts)}/config.toml"


def plan_install(facts: SetupFacts) -> SetupPlan:
    path, own, _ = files(facts)
    plan = hook_groups.plan_install(facts, path, "grok", EVENTS)
    if _is_for_all(facts, own):
        plan.notes.append(f"{own} applies to all projects, so the server was not added; see `grok mcp add`")
    else:
        toml_settings.install(plan, facts, own, _SERVER)
    if facts.is_main:
        _trust(plan, facts)
    return plan


def _trust(plan: SetupPlan, facts: SetupFacts) -> None:
    path, name = _folders(facts), _name(facts)
    base = text_blocks.without_block(facts.text(path) or "", path, facts.record, name) or ""
    folders = toml_settings.table(toml_settings.parsed(path, base), "folders")
    said = toml_settings.table(folders, facts.root).get("trusted")
    if said is False:
        plan.notes.append(f"Grok is set not to trust {facts.root}, so it does not run hooks here; see {path}")
    if said is None:
        after = text_blocks.install(plan, facts, path, name, _lines(facts))
        toml_settings.parsed(path, after)
        if after != facts.text(path):
            trusted_folders.tell(plan, facts, "Grok", path)
    else:
        trusted_folders.keep(plan, facts, path)


def _lines(facts: SetupFacts) -> list[str]:
    """Grok's own entries also have the time of the decision. So we recognise ours even if Grok rewrites the
    file without our marks."""
    return [f"[folders.{json.dumps(facts.root)}]", "trusted = true"]


def plan_remove(facts: SetupFacts) -> SetupPlan:
    path, own, folders = files(facts)
    plan = hook_groups.plan_remove(facts, path)
    if not _is_for_all(facts, own):
        text_blocks.remove(plan, facts, own, _SERVER)
    if facts.is_main:
        _forget(plan, facts, folders)
    return plan


def _forget(plan: SetupPlan, facts: SetupFacts, path: str) -> None:
    text, noted = facts.text(path), facts.record.get("files", {}).get(path)
    if text is None or noted is None or text_blocks.marks(_name(facts))[0] in text:
        text_blocks.remove(plan, facts, path, _name(facts))
        return
    ours, others = "\n".join(_lines(facts)), text.split("\n\n")
    kept = "\n\n".join(table for table in others if table.strip() != ours)
    after = kept.rstrip("\n") + "\n" if kept.strip() else None if noted.get("made") else ""
    if kept != text:
        plan.change(path, text, after)


def _name(facts: SetupFacts) -> str:
    """The name of our block: each repository has its own."""
    return f"grok in {facts.root}"
