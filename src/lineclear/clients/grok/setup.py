"""Grok Build: a file of our own among the project's hooks, our server in the project's config.toml; both are
skipped in silence until the folder is trusted. Seen with 1.0.41.

A linked worktree has files of its own; that the main one is trusted counts there, too.
"""

from __future__ import annotations

import json

from lineclear.app.setup.plan import Found, Plan
from lineclear.clients import hook_groups, text_blocks, toml_settings, trusted_folders
from lineclear.clients.grok.hook import EVENTS

IN_WORKTREES = True
_SERVER = "grok, its server"


def files(found: Found) -> list[str]:
    own = f"{found.root}/.grok"
    return [f"{own}/hooks/lineclear.json", f"{own}/config.toml", _folders(found)]


def _home(found: Found) -> str:
    return found.variables.get("GROK_HOME") or f"{found.home}/.grok"


def _folders(found: Found) -> str:
    return f"{_home(found)}/trusted_folders.toml"


def _is_for_all(found: Found, path: str) -> bool:
    return path == f"{_home(found)}/config.toml"


def plan_install(found: Found) -> Plan:
    path, own, _ = files(found)
    plan = hook_groups.plan_install(found, path, "grok", EVENTS)
    if _is_for_all(found, own):
        plan.notes.append(f"{own} is for all projects, so the server is not put in; see `grok mcp add`")
    else:
        toml_settings.install(plan, found, own, _SERVER)
    if found.is_main:
        _trust(plan, found)
    return plan


def _trust(plan: Plan, found: Found) -> None:
    path, name = _folders(found), _name(found)
    base = text_blocks.without_block(found.text(path) or "", path, found.record, name) or ""
    folders = toml_settings.table(toml_settings.parsed(path, base), "folders")
    said = toml_settings.table(folders, found.root).get("trusted")
    if said is False:
        plan.notes.append(f"Grok was told not to trust {found.root}, so it runs no hooks here; see {path}")
    if said is None:
        after = text_blocks.install(plan, found, path, name, _lines(found))
        toml_settings.parsed(path, after)
        if after != found.text(path):
            trusted_folders.tell(plan, found, "Grok", path)
    else:
        trusted_folders.keep(plan, found, path)


def _lines(found: Found) -> list[str]:
    """Grok itself notes when somebody decided: without that it is ours, also where Grok has written the file
    again, without our marks."""
    return [f"[folders.{json.dumps(found.root)}]", "trusted = true"]


def plan_remove(found: Found) -> Plan:
    path, own, folders = files(found)
    plan = hook_groups.plan_remove(found, path)
    if not _is_for_all(found, own):
        text_blocks.remove(plan, found, own, _SERVER)
    if found.is_main:
        _forget(plan, found, folders)
    return plan


def _forget(plan: Plan, found: Found, path: str) -> None:
    text, noted = found.text(path), found.record.get("files", {}).get(path)
    if text is None or noted is None or text_blocks.marks(_name(found))[0] in text:
        text_blocks.remove(plan, found, path, _name(found))
        return
    ours, others = "\n".join(_lines(found)), text.split("\n\n")
    kept = "\n\n".join(table for table in others if table.strip() != ours)
    after = kept.rstrip("\n") + "\n" if kept.strip() else None if noted.get("made") else ""
    if kept != text:
        plan.change(path, text, after)


def _name(found: Found) -> str:
    """Every repository has a block of its own in there."""
    return f"grok in {found.root}"
