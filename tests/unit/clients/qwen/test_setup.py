"""Set-up of Qwen Code."""

from __future__ import annotations

import json

from lineclear.clients.registry import setup_of
from tests.unit.clients.setup_cases import ROOT, carried_out, find, install


def test_a_users_own_handler_in_our_group_stays() -> None:
    path = f"{ROOT}/.qwen/settings.json"
    plan, after = install("qwen", {})
    said = json.loads(after[path])
    said["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "./mine.sh"})
    edited = {path: json.dumps(said).encode()}
    removed = carried_out(setup_of("qwen").plan_remove(find("qwen", edited, plan.record)), edited)
    assert json.loads(removed[path]) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}]}
    }
