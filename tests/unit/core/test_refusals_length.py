"""However long the names, paths and words that others chose: a refusal stays a few lines."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from lineclear.core.claims.resources import parse_resource
from lineclear.core.claims.rules import EXCLUSIVE, Blocker, Request
from lineclear.core.instants import Instant
from lineclear.core.log.tables import Claim
from lineclear.core.refusals import Refusal
from lineclear.core.runs.budgets import Amount, Breach
from lineclear.core.trust import Stated
from tests.wording import refusing_functions

NOW = Instant(1_000_000_000, "memory", 1_767_268_800 * 1_000_000_000)
UNTIL_NS = NOW.in_ms(12 * 60_000)

LONG_NAME = "/".join(["a" * 64] * 4)
LONG_PATH = "src/" + "/".join(["directory with spaces"] * 90) + "/it's.py"
LONG_TEXT = "x" * 5_000
MANY = ["x" * 100] * 50
HUGE = 10**15 - 1

LONG = parse_resource(LONG_PATH)
HELD = Claim(LONG_NAME, LONG.text, LONG.node, EXCLUSIVE, HUGE, "main", "n" * 500, HUGE, 720_000, "", UNTIL_NS)

# What the longest input that is let through can be, by the name of the parameter.
HOSTILE: dict[str, Any] = {
    "age_minutes": 30,
    "agent": LONG_NAME,
    "base": HUGE,
    "branch": "b" * 250,
    "breach": Breach("task", "tokens", Amount(HUGE, 1), HUGE),
    "blocker": Blocker(LONG, HELD, LONG.text, 0),
    "busy": HUGE,
    "by": LONG_NAME,
    "claim": HELD,
    "close": "proposal accept",
    "command": "lineclear proposal accept",
    "conflicts": [{"key": "k" * 200, "pointer": "/p" * 300}] * 9,
    "copy": "c" * 40,
    "count": HUGE,
    "error": LONG_TEXT,
    "fence": HUGE,
    "file_system": "fuse.sshfs",
    "first": HUGE,
    "found": HUGE,
    "given": HUGE,
    "handed": "b" * 250,
    "holder": LONG_NAME,
    "inside": ["file:" + LONG_PATH] * 9,
    "key": "k" * 200,
    "kind": "proposal",
    "known": [f"scheme-{number}" for number in range(20)],
    "limit": "$" + "9" * 40,
    "limit_s": 86_400.0,
    "lock": LONG_PATH + ".agent-lock",
    "main": "b" * 250,
    "message": LONG_TEXT,
    "missing": ["x" * 40] * 50,
    "mode": EXCLUSIVE,
    "model": LONG_TEXT,
    "name": LONG_NAME,
    "needed": HUGE,
    "newer": HUGE,
    "newest": HUGE,
    "next_": "lineclear proposal list",
    "now": NOW,
    "number": HUGE,
    "other": LONG_NAME,
    "owner": LONG_NAME,
    "path": "/" + LONG_PATH,
    "place": "lineclear/app/claims.py:123",
    "ready": HUGE,
    "reason": LONG_TEXT,
    "refs": MANY,
    "repo_id": "r" * 200,
    "request": Request(LONG_NAME, "main", EXCLUSIVE, [LONG] * 50, ttl_ms=1_000),
    "resource": "file:" + LONG_PATH,
    "root": "/" + LONG_PATH,
    "scheme": LONG_TEXT,
    "setting": "budgets.task_money",
    "state": "handed over",
    "stated": [Stated("workers." + "w" * 64 + ".env." + "V" * 100, LONG_TEXT)] * 5_000,
    "task": f"T-{HUGE}",
    "text": LONG_TEXT,
    "ticket": HUGE,
    "typed": LONG_TEXT,
    "until_at": "2026-01-01T12:12:00Z",
    "until_ns": UNTIL_NS,
    "verb": "handedover",
    "version": HUGE,
    "waited_ms": 86_399_000,
    "waited_s": 86_400,
    "waiting": HUGE,
    "waits_for": [f"T-{HUGE}"] * 50,
    "wanted": "file:" + LONG_PATH,
    "what": "take over a claim",
    "words": LONG_TEXT,
    "worker": LONG_NAME,
    "why": "each level is 1 to 64 of A-Z a-z 0-9, a letter or digit first",
}


# Parameters that mean something else in one function.
PARTICULAR: dict[str, dict[str, Any]] = {
    "bad_arguments": {"tool": "value_put", "example": 'call {"resources": ["login.py"]}'},
    "bad_value": {"name": "number of resources"},
    "claim_deadlock": {"cycle": [HOSTILE["blocker"]] * 9},
    "no_branch": {"place": "/" + LONG_PATH},
    "other_branch": {"given": "b" * 250},
    "store_newer": {"known": HUGE},
    "task_cycle": {"cycle": [HUGE] * 50},
    "task_is_same": {"other": f"T-{HUGE}"},
}


def hostile_call(name: str) -> Refusal:
    function = refusing_functions()[name]
    given = HOSTILE | PARTICULAR.get(name, {})
    return function(*(given[parameter] for parameter in inspect.signature(function).parameters))


@pytest.mark.parametrize("name", sorted(refusing_functions()))
def test_hostile_input_does_not_make_a_long_refusal(name: str) -> None:
    text = str(hostile_call(name))
    assert len(text) <= 300
    assert len(text.splitlines()) <= 3
