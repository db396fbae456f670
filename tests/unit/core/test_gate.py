"""Which changed paths an agent may not bring in."""

from __future__ import annotations

import pytest

from lineclear.core.claims import EXCLUSIVE, INTENT
from lineclear.core.gate import Finding, Standing, is_guarded, judge_move, judge_path, judge_place, tell
from lineclear.core.instants import Instant
from lineclear.core.refusals_values import lock_first
from lineclear.core.resources import parse_resource
from lineclear.core.strategies import ISOLATED, LOCKED, READ_ONLY, SINGLE_WRITER, Sharing
from lineclear.core.tables import Claim, Fence

NOW = Instant(1_000_000_000, "memory", 1_767_268_800 * 1_000_000_000)
ADA = Standing("ada", since=10)
LOGO = parse_resource("logo.png")


def claim(
    agent: str, text: str = "logo.png", mode: str = EXCLUSIVE, left_ms: int = 60_000, bond: str = ""
) -> Claim:
    found = parse_resource(text)
    until_ns = NOW.in_ms(left_ms)
    return Claim(agent, found.text, found.node, mode, 20, "main", "", 0, 60_000, bond, until_ns)


def mark(agent: str, fence: int, text: str = "logo.png") -> Fence:
    found = parse_resource(text)
    return Fence(found.node, found.text, fence, agent)


def judged(
    strategy: str,
    claims: list[Claim] | None = None,
    marks: list[Fence] | None = None,
    *,
    owner: str = "",
    standing: Standing = ADA,
) -> str:
    """The code of the refusal; "" when the file may come in."""
    sharing = Sharing(strategy, owner, "test")
    refusal = judge_path(standing, LOGO, sharing, claims or [], marks or [], NOW, lambda bond: bond == "dead")
    return refusal.code if refusal is not None else ""


def test_an_isolated_file_that_nobody_holds_may_come_in() -> None:
    assert judged(ISOLATED) == ""


def test_a_read_only_file_may_not_come_in_even_when_held() -> None:
    assert judged(READ_ONLY, [claim("ada")]) == "write.read_only"


def test_a_locked_file_needs_a_claim() -> None:
    assert judged(LOCKED) == "write.unlocked"


def test_a_locked_file_that_the_agent_holds_may_come_in() -> None:
    assert judged(LOCKED, [claim("ada")], [mark("ada", 20)]) == ""


def test_a_claim_on_the_directory_covers_the_file() -> None:
    assert judged(LOCKED, [claim("ada", "./")]) == ""


def test_a_lock_given_back_counts_when_nobody_took_it_since() -> None:
    assert judged(LOCKED, [], [mark("ada", 20)]) == ""


def test_a_lock_of_an_earlier_time_does_not_count() -> None:
    assert judged(LOCKED, [], [mark("ada", 9)]) == "write.unlocked"


def test_a_lock_that_somebody_else_took_later_is_stale() -> None:
    assert judged(LOCKED, [], [mark("ada", 20), mark("ben", 21, "./")]) == "fence.stale"


def test_somebody_elses_live_claim_keeps_any_file_out() -> None:
    assert judged(ISOLATED, [claim("ben")]) == "write.held"


@pytest.mark.parametrize(
    "other",
    [
        claim("ben", mode=INTENT),
        claim("ben", left_ms=0),
        claim("ben", bond="dead"),
        claim("ben", "symbol:logo.png#a"),
        claim("ada/sub"),
    ],
    ids=["an intent", "a lapsed one", "a dead one's", "one on a symbol", "a sub-agent's"],
)
def test_other_claims_keep_nobody_out(other: Claim) -> None:
    assert judged(ISOLATED, [other]) == ""


def test_a_single_writers_file_is_the_owners() -> None:
    assert judged(SINGLE_WRITER, owner="ben") == "write.not_owner"
    assert judged(SINGLE_WRITER, owner="ada") == ""


def test_without_a_named_owner_the_holder_writes() -> None:
    assert judged(SINGLE_WRITER, [claim("ada")]) == ""
    assert judged(SINGLE_WRITER, [claim("ben")]) == "write.not_owner"
    assert judged(SINGLE_WRITER) == "write.not_owner"


def test_a_fence_that_the_agent_works_under_has_to_be_the_newest() -> None:
    standing = Standing("ada", since=10, fence=20)
    assert judged(ISOLATED, [], [mark("ben", 21)], standing=standing) == "fence.stale"
    assert judged(ISOLATED, [], [mark("ben", 19)], standing=standing) == ""


def test_another_agents_worktree_is_no_place_to_commit() -> None:
    foreign = Standing("ada", tree="ben", tree_agent="ben")
    found = judge_place(foreign, ["a.py"])
    assert found is not None
    assert found.kind == "gate.foreign_tree"
    assert judge_place(foreign, []) is None
    assert judge_place(Standing("ben/sub", tree="ben", tree_agent="ben"), ["a.py"]) is None


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
    refusal = judge_move(Standing("ada", tree=tree), ref, "refs/heads/main")
    assert (refusal.code if refusal is not None else "") == code
    assert is_guarded(ref, "refs/heads/main") == ("heads/lineclear" not in ref)


def test_many_findings_are_told_in_one_sentence() -> None:
    findings = [Finding(f"{number}.png", lock_first(f"file:{number}.png")) for number in range(7)]
    text = tell(findings)
    assert text.startswith("0.png: file:0.png is shared by locking; you do not hold it; 1.png")
    assert text.endswith("; and 2 more")
