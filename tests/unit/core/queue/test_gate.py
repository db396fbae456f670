"""Which refs an agent may move, and how findings are told."""

from __future__ import annotations

import pytest

from lineclear.core.queue.gate import Finding, is_guarded, judge_move, tell
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
    assert is_guarded(ref, "refs/heads/main") == ("heads/lineclear" not in ref)


def test_many_findings_are_told_in_one_sentence() -> None:
    findings = [
        Finding(f"{number}.png", refuse("write.unlocked", resource=f"file:{number}.png"))
        for number in range(7)
    ]
    text = tell(findings)
    assert text.startswith("0.png: Cannot write file:0.png without an exclusive claim; 1.png")
    assert text.endswith("; and 2 more")
