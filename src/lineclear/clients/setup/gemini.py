"""Gemini CLI: hooks and our server in the project's settings; a folder has to be trusted, or they are skipped
in silence.

Seen with 0.61.0: `--skip-trust` lets it start in a folder nobody trusted, and runs no hook there.
"""

from __future__ import annotations

from lineclear.clients.setup import jsonc, project_json, servers, trusting
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = True
_TIMEOUT_MS = 10_000
_TRUSTED = "TRUST_FOLDER"


def files(found: Found) -> list[str]:
    return [f"{found.root}/.gemini/settings.json", _folders(found)]


def _folders(found: Found) -> str:
    return f"{found.home}/.gemini/trustedFolders.json"


def plan_install(found: Found) -> Plan:
    path = files(found)[0]
    server = servers.entry(servers.command(found, path), timeout=servers.CALL_S * 1000)
    plan = project_json.plan_install(found, path, "gemini", _TIMEOUT_MS, server)
    if found.is_main:
        _trust(plan, found)
    return plan


def _trust(plan: Plan, found: Found) -> None:
    path = _folders(found)
    said = trusting.parsed(found, path).get(found.root)
    if said is None:
        trusting.add(plan, found, "Gemini CLI", path, lambda text: jsonc.put(text, [found.root], _TRUSTED))
        return
    trusting.keep(plan, found, path)
    if said not in (_TRUSTED, "TRUST_PARENT"):
        plan.notes.append(
            f"Gemini CLI was told not to trust {found.root}, so it runs no hooks here; see {path}"
        )


def plan_remove(found: Found) -> Plan:
    plan = project_json.plan_remove(found, files(found)[0])
    if found.is_main:
        trusting.remove(
            plan,
            found,
            _folders(found),
            lambda text: jsonc.drop(text, [found.root], lambda said: said == _TRUSTED),
        )
    return plan
