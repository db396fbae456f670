"""An agent reads the same rules for changing files, wherever it reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineclear.core.agents.conventions import ConventionFacts, write_conventions
from lineclear.core.agents.hooks import welcome
from lineclear.core.runs.first_prompt import PromptFacts, compose
from lineclear.core.words import agent_rules as rules
from lineclear.mcp.prompts import prompt_text
from lineclear.mcp.server import INSTRUCTIONS

SKILL = Path(__file__).resolve().parents[2] / "plugin/skills/lineclear/SKILL.md"
OWN = (rules.IN_OWN_WORKTREE,)
BOTH = (*OWN, rules.IN_SHARED_TREE)
BY_HAND = (rules.CLAIM_WITHOUT_HOOKS, rules.RARELY_EXCLUSIVE)
REFUSED = (rules.WHEN_REFUSED,)


def greeting(*, is_shared: bool) -> str:
    return welcome(name="ada", task="", others=(), off_limits=(), is_shared=is_shared)


READ = {
    "welcome": (greeting(is_shared=False), (*OWN, rules.HOOKS_CLAIM, *REFUSED)),
    "shared": (greeting(is_shared=True), (rules.IN_SHARED_TREE, rules.HOOKS_CLAIM, *REFUSED)),
    "mcp": (INSTRUCTIONS, (*BOTH, *BY_HAND, *REFUSED)),
    "start": (prompt_text("start_work", ""), (*BOTH, *BY_HAND)),
    "run": (compose(PromptFacts(agent="ada", task_id=1, title="a")).text, (*OWN, *BY_HAND, *REFUSED)),
    "AGENTS.md": (write_conventions(ConventionFacts()), (*BOTH, *BY_HAND, *REFUSED)),
    "skill": (SKILL.read_text(), (*BOTH, *BY_HAND, rules.WHEN_REFUSED.removesuffix("."))),
}


@pytest.mark.parametrize("place", READ)
def test_every_text_for_agents_quotes_the_rules_and_orders_no_mode_of_its_own(place: str) -> None:
    text, quoted = READ[place]
    plain = " ".join(text.split())
    for rule in quoted:
        assert rule in plain
        plain = plain.replace(rule, "")
    assert "--mode" not in plain
    assert "before you change a file" not in plain
