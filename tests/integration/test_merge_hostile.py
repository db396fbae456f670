"""Hostile texts: the rules survive the ones we know, and the queue survives the ones that we do not know."""

from __future__ import annotations

import random

import pytest

from lineclear.host.merge_processes import MERGE_PROCESSES
from lineclear.merge import Labels, MergeResult
from lineclear.merge.lines import MARKERS
from lineclear.merge.rule_jobs import MergeJob, RuleFailure
from tests.merge_hostile import CASES, sides

LETTERS = "\x00\x0b\x0c\r\n\x85\u2028 \t\"'`{}[]()<>#-*+:=,.\\/&|\ufeff\U0001f6a2a0"


@pytest.mark.slow
def test_no_known_text_makes_a_rule_fail() -> None:
    jobs = [MergeJob(path, *sides(text), Labels()) for path, text in CASES.values()]
    answers = dict(zip(CASES, MERGE_PROCESSES.run(jobs), strict=True))
    assert {name: found.reason for name, found in answers.items() if isinstance(found, RuleFailure)} == {}
    for name, found in answers.items():
        is_marked = any(line.lstrip("\ufeff").startswith(MARKERS[0]) for line in found.text.split("\n"))
        assert found.is_clean != is_marked, name
        assert not found.is_clean, f"{name}: both sides changed one value"


@pytest.mark.slow
def test_whatever_is_in_a_text_the_answer_is_about_that_file() -> None:
    """Known texts with a few letters changed, on each side others."""
    chance = random.Random(20)
    jobs = []
    for path, text in CASES.values():
        short = text if len(text) < 4_000 else text[:1_000] + text[-1_000:]
        base, left, right = (_changed(side, chance) for side in sides(short))
        jobs.append(MergeJob(path, base, left, right, Labels()))
    for job, found in zip(jobs, MERGE_PROCESSES.run(jobs), strict=True):
        assert isinstance(found, MergeResult | RuleFailure), job.path


def _changed(text: str, chance: random.Random) -> str:
    letters = list(text)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(letters) + 1)
        letters[at : at + chance.choice((0, 1, 3))] = chance.choice(LETTERS) * chance.choice((0, 1, 2))
    return "".join(letters)
