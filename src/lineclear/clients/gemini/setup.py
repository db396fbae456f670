"""Gemini CLI: hooks and our server in the project's settings; a folder has to be trusted, or they are skipped
in silence.

Seen with 0.61.0: `--skip-trust` lets it start in a folder nobody trusted, and runs no hook there.
"""

from __future__ import annotations

from lineclear.app.setup.plan import Found, Plan
from lineclear.clients import hook_groups, jsonc, mcp_entry, trusted_folders
from lineclear.clients.gemini.hook import EVENTS

IN_WORKTREES = True
_TIMEOUT_MS = 10_000
_TRUSTED = "TRUST_FOLDER"


def files(found: Found) -> list[str]:
    return [f"{found.root}/.gemini/settings.json", _folders(found)]


def _folders(found: Found) -> str:
    return f"{found.home}/.gemini/trustedFolders.json"


def plan_install(found: Found) -> Plan:
    path = files(found)[0]
    server = mcp_entry.entry(mcp_entry.command(found, path), timeout=mcp_entry.CALL_S * 1000)
    plan = hook_groups.plan_install(found, path, "gemini", EVENTS, _TIMEOUT_MS, server)
    if found.is_main:
        _trust(plan, found)
    return plan


def _trust(plan: Plan, found: Found) -> None:
    path = _folders(found)
    said = trusted_folders.parsed(found, path).get(found.root)
    if said is None:
        trusted_folders.add(
            plan, found, "Gemini CLI", path, lambda text: jsonc.put(text, [found.root], _TRUSTED)
        )
        return
    trusted_folders.keep(plan, found, path)
    if said not in (_TRUSTED, "TRUST_PARENT"):
        plan.notes.append(
            f"Gemini CLI was told not to trust {found.root}, so it runs no hooks here; see {path}"
        )


def plan_remove(found: Found) -> Plan:
    plan = hook_groups.plan_remove(found, files(found)[0])
    if found.is_main:
        trusted_folders.remove(
            plan,
            found,
            _folders(found),
            lambda text: jsonc.drop(text, [found.root], lambda said: said == _TRUSTED),
        )
    return plan
