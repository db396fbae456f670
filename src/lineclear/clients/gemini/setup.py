"""Gemini CLI: hooks and our server in the project's settings, silently skipped unless the folder is trusted.

Tested with 0.61.0, in which `--skip-trust` starts in an untrusted folder, but runs no hooks there.
"""

from __future__ import annotations

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import hook_groups, jsonc, mcp_entry, trusted_folders
from lineclear.clients.gemini.hook import EVENTS

IN_WORKTREES = True
_TIMEOUT_MS = 10_000
_TRUSTED = "TRUST_FOLDER"


def files(facts: SetupFacts) -> list[str]:
    return [f"{facts.root}/.gemini/settings.json", _folders(facts)]


def _folders(facts: SetupFacts) -> str:
    return f"{facts.home}/.gemini/trustedFolders.json"


def plan_install(facts: SetupFacts) -> SetupPlan:
    path = files(facts)[0]
    server = mcp_entry.entry(mcp_entry.command(facts, path), timeout=mcp_entry.CALL_S * 1000)
    plan = hook_groups.plan_install(facts, path, "gemini", EVENTS, _TIMEOUT_MS, server)
    if facts.is_main:
        _trust(plan, facts)
    return plan


def _trust(plan: SetupPlan, facts: SetupFacts) -> None:
    path = _folders(facts)
    said = trusted_folders.parsed(facts, path).get(facts.root)
    if said is None:
        trusted_folders.add(
            plan, facts, "Gemini CLI", path, lambda text: jsonc.put(text, [facts.root], _TRUSTED)
        )
        return
    trusted_folders.keep(plan, facts, path)
    if said not in (_TRUSTED, "TRUST_PARENT"):
        plan.notes.append(
            f"Gemini CLI is set not to trust {facts.root}, so it does not run hooks here; see {path}"
        )


def plan_remove(facts: SetupFacts) -> SetupPlan:
    plan = hook_groups.plan_remove(facts, files(facts)[0])
    if facts.is_main:
        trusted_folders.remove(
            plan,
            facts,
            _folders(facts),
            lambda text: jsonc.drop(text, [facts.root], lambda said: said == _TRUSTED),
        )
    return plan
