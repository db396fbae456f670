"""Which refs an agent may move, and how findings are told."""

from __future__ import annotations

import pytest

from lineclear.core.queue.commit_gate import GateFinding, judge_move, pushed_refs, tell
from lineclear.core.words.refusals import refuse


@pytest.mark.parametrize(
    ("tree", "ref", "code"),
    [
        ("ada", "refs/heads/main", "gate.main"),
        ("main", "refs/heads/main", ""),
        ("clone-1/main", "refs/heads/main", ""),
        ("ada", "refs/heads/lineclear/ada", ""),
        ("main", "refs/lineclear/snapshots/ada", "gate.ref"),
    ],
)
def test_which_refs_an_agent_may_move(tree: str, ref: str, code: str) -> None:
    refusal = judge_move(tree, ref, "refs/heads/main")
    assert (refusal.code if refusal is not None else "") == code


def test_many_findings_are_told_in_one_sentence() -> None:
    findings = [
        GateFinding(f"{number}.png", refuse("write.unlocked", resource=f"file:{number}.png"))
        for number in range(7)
    ]
    text = tell(findings)
    assert text.startswith("0.png: Cannot write file:0.png without an exclusive claim; 1.png")
    assert text.endswith("; and 2 more")


def test_a_line_of_a_push_that_is_not_whole_is_passed_over() -> None:
    lines = ["refs/heads/a 1111 refs/heads/main 0000", "refs/heads/a", ""]
    assert pushed_refs(lines) == [("1111", "refs/heads/main")]
