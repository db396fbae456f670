"""Kimi Code: hooks in its own settings in the home directory, for every repository; ours end where no
lineclear is.
"""

from __future__ import annotations

import json
import tomllib

from lineclear.clients.hooking.kimi import EVENTS
from lineclear.clients.setup import blocks
from lineclear.clients.setup.json_hooks import TIMEOUT_S, find_hook
from lineclear.clients.setup.values import CannotSetUp, Found, Plan

IN_WORKTREES = False


def files(found: Found) -> list[str]:
    return [f"{found.home}/.kimi-code/config.toml"]


def plan_install(found: Found) -> Plan:
    plan, (path,) = Plan(), files(found)
    lines: list[str] = []
    for event in EVENTS:
        # Never the path of one repository: the file is read in all of them.
        command = find_hook("kimi", event)
        lines += [
            "[[hooks]]",
            f'event = "{event}"',
            f"command = {json.dumps(command)}",
            f"timeout = {TIMEOUT_S}",
        ]
    text = blocks.install(plan, found, path, "kimi", lines)
    check_toml(path, text)
    return plan


def check_toml(path: str, text: str) -> None:
    """What we would write has to be TOML, and so has what was there."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotSetUp(path, f"it would not be TOML any more ({error})") from None


def plan_remove(found: Found) -> Plan:
    plan, (path,) = Plan(), files(found)
    blocks.remove(plan, found, path, "kimi")
    return plan
