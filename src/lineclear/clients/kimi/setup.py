"""Kimi Code: hooks in its own settings in the home directory, which hold in every repository; ours end at
once where no lineclear is set up. Our server is in a file of the project, which Kimi reads in folders that it
trusts. Seen with 2.1.0.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib

from lineclear.app.setup.plan import CannotSetUp, Found, Plan
from lineclear.clients import json_settings, mcp_entry, text_blocks, trusted_folders, whole_files
from lineclear.clients.json_settings import MARK, TIMEOUT_S, find_hook
from lineclear.clients.kimi.hook import EVENTS

IN_WORKTREES = True
# How long a folder's name may be in the name of the file that says it is trusted.
_LONGEST_NAME = 40


def files(found: Found) -> list[str]:
    own = f"{found.root}/.kimi-code/mcp.json"
    return [_config(found), own, _trust_file(found)] if found.is_main else [own]


def _home(found: Found) -> str:
    return found.variables.get("KIMI_CODE_HOME") or f"{found.home}/.kimi-code"


def _config(found: Found) -> str:
    return f"{_home(found)}/config.toml"


def _trust_file(found: Found) -> str:
    """A file of this name says that the folder is trusted, whatever stands in it."""
    name = re.sub(r"[^a-z0-9._-]+", "-", found.root.rpartition("/")[2].lower()).strip("-")[:_LONGEST_NAME]
    name = name.strip("-")
    key = hashlib.sha256(found.root.encode()).hexdigest()[:12]
    return f"{_home(found)}/workspace-trust/wd_{name if name.strip('.') else 'workspace'}_{key}"


def plan_install(found: Found) -> Plan:
    plan = Plan()
    own = f"{found.root}/.kimi-code/mcp.json"
    if found.is_main:
        _install_hooks(plan, found)
        if found.has_server:
            _trust(plan, found)
        elif _is_ours(found):
            whole_files.remove(plan, found, _trust_file(found))
    said = mcp_entry.entry(
        mcp_entry.command(found, own),
        startupTimeoutMs=mcp_entry.START_S * 1000,
        toolTimeoutMs=mcp_entry.CALL_S * 1000,
    )
    mcp_entry.install(plan, found, own, [mcp_entry.SERVERS], said)
    return plan


def _install_hooks(plan: Plan, found: Found) -> None:
    """Every repository has a block of its own in there, so that one can go alone; Kimi runs the same words of
    several hooks once."""
    path, lines = _config(found), []
    for event, matcher in EVENTS.items():
        # Never the path of one repository: the file is read in all of them.
        lines += ["[[hooks]]", f'event = "{event}"']
        lines += [f"matcher = {json.dumps(matcher)}"] if matcher else []
        lines += [f"command = {json.dumps(find_hook('kimi', event))}", f"timeout = {TIMEOUT_S}"]
    text = text_blocks.install(plan, found, path, _name(found), lines)
    check_toml(path, text)
    plan.notes.append(
        f"Kimi reads hooks from {path} alone, in every repository; ours end at once where lineclear is not"
    )


def _trust(plan: Plan, found: Found) -> None:
    """A folder that the user trusts already is left as it is, and the trust is theirs."""
    path = _trust_file(found)
    text = json.dumps({"root": found.root, "trustedAt": 0})
    if found.text(path) is None:
        trusted_folders.tell(plan, found, "Kimi", path)
    if found.text(path) is None or _is_ours(found):
        whole_files.install(plan, found, path, text)


def _is_ours(found: Found) -> bool:
    """Is it we who said that the folder is trusted, and has nobody said it since?"""
    path = _trust_file(found)
    noted, text = found.record.get("files", {}).get(path, {}), found.text(path)
    return text is not None and json_settings.digest(text) == noted.get("sha256", "")


def check_toml(path: str, text: str) -> None:
    """What we would write has to be TOML, and so has what was there."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotSetUp(path, f"it would not be TOML any more ({error})") from None


def plan_remove(found: Found) -> Plan:
    plan = Plan()
    json_settings.remove(plan, found, f"{found.root}/.kimi-code/mcp.json")
    if not found.is_main:
        return plan
    path = _config(found)
    text = found.text(path)
    if text is not None and MARK in text and text_blocks.marks(_name(found))[0] not in text:
        _remove_rewritten(plan, found, path, text)
    else:
        text_blocks.remove(plan, found, path, _name(found))
    if _is_ours(found):
        whole_files.remove(plan, found, _trust_file(found))
    return plan


def _remove_rewritten(plan: Plan, found: Found, path: str, text: str) -> None:
    """Kimi writes the file anew, without comments, when its settings are changed in its menus: then ours are
    known by their command. Another repository's block, which still has its marks, is not touched."""
    if (
        path not in found.record.get("files", {})
        or text_blocks.marks("kimi in ")[0].partition(":")[0] in text
    ):
        return
    kept: list[str] = []
    for piece in re.split(r"(?m)^(?=\[)", text):
        if not (piece.startswith("[[hooks]]") and MARK in piece):
            kept.append(piece)
    plan.change(path, text, "".join(kept))


def _name(found: Found) -> str:
    return f"kimi in {found.root}"
