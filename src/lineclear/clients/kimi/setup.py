"""Kimi Code: hooks in its settings in the home directory, which apply to every repository; ours exit at once
in a repository without lineclear. Our server is in a file of the project, which Kimi reads in trusted
folders. Tested with 2.1.0.
"""

from __future__ import annotations

import hashlib
import json
import re

from lineclear.app.setup import text_blocks
from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import json_settings, mcp_entry, toml_settings, trusted_folders, whole_files
from lineclear.clients.json_settings import MARK, TIMEOUT_S, find_hook
from lineclear.clients.kimi.hook import EVENTS

IN_WORKTREES = True
# Kimi cuts a folder's name to this length in the name of its trust file.
_LONGEST_NAME = 40


def files(facts: SetupFacts) -> list[str]:
    own = f"{facts.root}/.kimi-code/mcp.json"
    return [_config(facts), own, _trust_file(facts)] if facts.is_main else [own]


def _home(facts: SetupFacts) -> str:
    return facts.variables.get("KIMI_CODE_HOME") or f"{facts.home}/.kimi-code"


def _config(facts: SetupFacts) -> str:
    return f"{_home(facts)}/config.toml"


def _trust_file(facts: SetupFacts) -> str:
    """The folder is trusted if this file exists, whatever its content."""
    name = re.sub(r"[^a-z0-9._-]+", "-", facts.root.rpartition("/")[2].lower()).strip("-")[:_LONGEST_NAME]
    name = name.strip("-")
    key = hashlib.sha256(facts.root.encode()).hexdigest()[:12]
    return f"{_home(facts)}/workspace-trust/wd_{name if name.strip('.') else 'workspace'}_{key}"


def plan_install(facts: SetupFacts) -> SetupPlan:
    plan = SetupPlan()
    own = f"{facts.root}/.kimi-code/mcp.json"
    if facts.is_main:
        _install_hooks(plan, facts)
        if facts.has_server:
            _trust(plan, facts)
        elif _is_ours(facts):
            whole_files.remove(plan, facts, _trust_file(facts))
    said = mcp_entry.entry(
        mcp_entry.command(facts, own),
        startupTimeoutMs=mcp_entry.START_S * 1000,
        toolTimeoutMs=mcp_entry.CALL_S * 1000,
    )
    mcp_entry.install(plan, facts, own, [mcp_entry.SERVERS], said)
    return plan


def _install_hooks(plan: SetupPlan, facts: SetupFacts) -> None:
    """Each repository has its own block, so that each can be removed alone. Kimi runs identical commands of
    several hooks only once."""
    path, lines = _config(facts), []
    for event, matcher in EVENTS.items():
        # Never the path of one repository: the file applies to all of them.
        lines += ["[[hooks]]", f'event = "{event}"']
        lines += [f"matcher = {json.dumps(matcher)}"] if matcher else []
        lines += [f"command = {json.dumps(find_hook('kimi', event))}", f"timeout = {TIMEOUT_S}"]
    text = text_blocks.install(plan, facts, path, _name(facts), lines)
    toml_settings.check_toml(path, text)
    plan.notes.append(
        f"Kimi reads hooks only from {path}, for every repository; ours exit at once "
        "where lineclear is not used"
    )


def _trust(plan: SetupPlan, facts: SetupFacts) -> None:
    """Trust the folder, unless the user already does: then the trust is theirs, and --remove keeps it."""
    path = _trust_file(facts)
    text = json.dumps({"root": facts.root, "trustedAt": 0})
    if facts.text(path) is None:
        trusted_folders.tell(plan, facts, "Kimi", path)
    if facts.text(path) is None or _is_ours(facts):
        whole_files.install(plan, facts, path, text)


def _is_ours(facts: SetupFacts) -> bool:
    """Did we write this trust, and is the file still as we wrote it?"""
    path = _trust_file(facts)
    noted, text = facts.record.get("files", {}).get(path, {}), facts.text(path)
    return text is not None and text_blocks.digest(text) == noted.get("sha256", "")


def plan_remove(facts: SetupFacts) -> SetupPlan:
    plan = SetupPlan()
    json_settings.remove(plan, facts, f"{facts.root}/.kimi-code/mcp.json")
    if not facts.is_main:
        return plan
    path = _config(facts)
    text = facts.text(path)
    if text is not None and MARK in text and text_blocks.marks(_name(facts))[0] not in text:
        _remove_rewritten(plan, facts, path, text)
    else:
        text_blocks.remove(plan, facts, path, _name(facts))
    if _is_ours(facts):
        whole_files.remove(plan, facts, _trust_file(facts))
    return plan


def _remove_rewritten(plan: SetupPlan, facts: SetupFacts, path: str, text: str) -> None:
    """Kimi's menus rewrite the file without comments: then we recognise our hooks by their command. If
    another repository's block still has its marks, change nothing."""
    if (
        path not in facts.record.get("files", {})
        or text_blocks.marks("kimi in ")[0].partition(":")[0] in text
    ):
        return
    kept: list[str] = []
    for piece in re.split(r"(?m)^(?=\[)", text):
        if not (piece.startswith("[[hooks]]") and MARK in piece):
            kept.append(piece)
    plan.change(path, text, "".join(kept))


def _name(facts: SetupFacts) -> str:
    return f"kimi in {facts.root}"
