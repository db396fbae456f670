"""May this agent write this, now? One rule for every door."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.core.claims.granting import EXCLUSIVE, INTENT
from lineclear.core.claims.resources import Resource, parse_resource
from lineclear.core.claims.strategies import ISOLATED, LOCKED, READ_ONLY, SINGLE_WRITER, Sharing
from lineclear.core.claims.write_rule import (
    ACCEPTANCE,
    COMMIT,
    EDIT,
    LANDING,
    VALUE_WRITE,
    Near,
    OwnedTree,
    Write,
    WriteVerdict,
    fence_from,
    judge_write,
)
from lineclear.core.instants import Instant
from lineclear.core.log.tables import Claim, Fence
from lineclear.core.queue.phases import INTEGRATE, INTEGRATOR, PARALLEL

NOW = Instant(1_000_000_000, "memory", 1_767_268_800 * 1_000_000_000)
LOGO = parse_resource("logo.png")
ACTIONS = (EDIT, COMMIT, LANDING, VALUE_WRITE, ACCEPTANCE)


def claim(
    agent: str, text: str = "logo.png", mode: str = EXCLUSIVE, left_ms: int = 60_000, bond: str = ""
) -> Claim:
    found = parse_resource(text)
    until_ns = NOW.in_ms(left_ms)
    return Claim(agent, found.text, found.node, mode, 20, "main", "", 0, 60_000, bond, until_ns)


def mark(agent: str, fence: int, text: str = "logo.png") -> Fence:
    found = parse_resource(text)
    return Fence(found.node, found.text, fence, agent)


def verdict(
    sharing: Sharing | str,
    claims: list[Claim] | None = None,
    marks: list[Fence] | None = None,
    *,
    resource: Resource = LOGO,
    agent: str = "ada",
    action: str = COMMIT,
    owner: str = "",
    phase: str = PARALLEL,
    bonds: dict[str, str] | None = None,
    **more: Any,
) -> WriteVerdict:
    """What is asked about a commit by ada, who came at position 10, unless a test says otherwise."""
    near = Near(
        claims or [], NOW, is_dead=lambda bond: bond.startswith("dead"),
        bond_of=lambda name: (bonds or {}).get(name, ""), read_phase=lambda: phase,
        read_marks=lambda: marks or [],
    )  # fmt: skip
    write = Write(resource, agent, action, since=10, **more)
    return judge_write(write, sharing if isinstance(sharing, Sharing) else Sharing(sharing, owner, "t"), near)


def judged(*facts: Any, **more: Any) -> str:
    """The code of the refusal; "" when it may be written."""
    refusal = verdict(*facts, **more).refusal
    return refusal.code if refusal is not None else ""


# -- strategies -----------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ACTIONS)
def test_an_isolated_file_that_nobody_holds_may_be_written(action: str) -> None:
    assert judged(ISOLATED, action=action) == ""


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("holder", ["ada", "ben"])
def test_read_only_comes_before_everything_else(action: str, holder: str) -> None:
    bound = Sharing(READ_ONLY, "ben", "t", INTEGRATE)
    tree = OwnedTree("ben", "ben")
    assert judged(bound, [claim(holder)], action=action, tree=tree, fence=1) == "write.read_only"


def test_read_only_and_phases_do_not_bind_a_person() -> None:
    bound = Sharing(READ_ONLY, "", "t", INTEGRATE)
    assert judged(bound, action=VALUE_WRITE, is_person=True) == ""
    assert judged(bound, [claim("ben")], action=VALUE_WRITE, is_person=True) == "write.held"


@pytest.mark.parametrize("action", [EDIT, COMMIT, LANDING, VALUE_WRITE])
def test_a_locked_file_needs_a_claim(action: str) -> None:
    assert judged(LOCKED, action=action) == "write.unlocked"
    assert judged(LOCKED, [claim("ada")], [mark("ada", 20)], action=action) == ""
    assert judged(LOCKED, [claim("ada", mode=INTENT)], action=action) == "write.unlocked"


def test_a_claim_on_the_directory_covers_the_file_and_one_on_a_symbol_does_not() -> None:
    assert judged(LOCKED, [claim("ada", "./")]) == ""
    assert judged(LOCKED, [claim("ada", "symbol:logo.png#a")]) == "write.unlocked"


@pytest.mark.parametrize("action", [COMMIT, LANDING])
def test_a_lock_given_back_counts_for_what_is_brought_in_when_nobody_took_it_since(action: str) -> None:
    assert judged(LOCKED, [], [mark("ada", 20)], action=action) == ""
    assert judged(LOCKED, [], [mark("ada", 9)], action=action) == "write.unlocked"
    assert judged(LOCKED, [], [mark("ada", 20), mark("ben", 21, "./")], action=action) == "fence.stale"


@pytest.mark.parametrize("action", [EDIT, VALUE_WRITE])
def test_a_lock_given_back_does_not_count_for_a_new_write(action: str) -> None:
    assert judged(LOCKED, [], [mark("ada", 20)], action=action) == "write.unlocked"


@pytest.mark.parametrize("action", [EDIT, COMMIT, LANDING, VALUE_WRITE])
def test_a_single_writers_file_is_the_owners(action: str) -> None:
    assert judged(SINGLE_WRITER, owner="ben", action=action) == "write.not_owner"
    assert judged(SINGLE_WRITER, owner="ada", action=action) == ""
    assert judged(SINGLE_WRITER, [claim("ben")], owner="ada", action=action) == "write.held"


@pytest.mark.parametrize("action", [EDIT, COMMIT, LANDING, VALUE_WRITE])
def test_without_a_named_owner_the_holder_writes(action: str) -> None:
    assert judged(SINGLE_WRITER, [claim("ada")], action=action) == ""
    assert judged(SINGLE_WRITER, [claim("ben")], action=action) == "write.not_owner"
    assert judged(SINGLE_WRITER, action=action) == "write.not_owner"


def test_an_acceptance_needs_neither_ownership_nor_the_lock_but_stops_at_a_stranger() -> None:
    for strategy in (SINGLE_WRITER, LOCKED):
        assert judged(strategy, action=ACCEPTANCE) == ""
        assert judged(strategy, [claim("ben")], action=ACCEPTANCE) == "write.held"
        assert judged(strategy, [claim("ben")], action=ACCEPTANCE, names=("ben",)) == ""


# -- holders --------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ACTIONS)
def test_somebody_elses_live_claim_keeps_everybody_out(action: str) -> None:
    for text in ("logo.png", "./", "*.png"):
        assert judged(ISOLATED, [claim("ben", text)], action=action) == "write.held"


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    "other",
    [
        claim("ben", mode=INTENT),
        claim("ben", left_ms=0),
        claim("ben", bond="dead-with"),
        claim("ben", "other.png"),
        claim("ada/sub"),
    ],
    ids=["an intent", "a lapsed one", "a dead one's", "one elsewhere", "a sub-agent's"],
)
def test_other_claims_keep_nobody_out(other: Claim, action: str) -> None:
    assert judged(ISOLATED, [other], action=action) == ""


@pytest.mark.parametrize("action", ACTIONS)
def test_an_agent_whose_own_process_has_died_keeps_nobody_out(action: str) -> None:
    assert judged(ISOLATED, [claim("ben")], bonds={"ben": "dead-agent"}, action=action) == ""
    assert judged(ISOLATED, [claim("ben")], bonds={"ben": "agent"}, action=action) == "write.held"
    # Its own process does not stand against the writer.
    assert judged(LOCKED, [claim("ada")], bonds={"ada": "dead-agent"}, action=action) == ""


def test_siblings_are_not_family() -> None:
    assert judged(ISOLATED, [claim("ada/one")], agent="ada/two") == "write.held"


def test_others_who_do_not_stand_against_it_are_mentioned() -> None:
    near = [
        claim("ben", mode=INTENT),
        claim("cat", left_ms=0),
        claim("ada/sub"),
        claim("dan", "./", "shared"),
    ]
    assert [other.agent for other in verdict(ISOLATED, near).others] == ["ben", "dan"]


# -- symbols --------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [EDIT, COMMIT, LANDING])
def test_a_held_symbol_refuses_what_touches_it_and_mentions_its_holder_otherwise(action: str) -> None:
    code = parse_resource("src/a.py")
    held = [claim("ben", "symbol:src/a.py#Login.check")]
    assert judged(ISOLATED, held, resource=code, action=action) == "write.held"
    inside = verdict(ISOLATED, held, resource=code, action=action, touches="Login.check".__eq__)
    assert inside.refusal is not None
    elsewhere = verdict(ISOLATED, held, resource=code, action=action, touches="Login.load".__eq__)
    assert (elsewhere.refusal, [other.agent for other in elsewhere.others]) == (None, ["ben"])


def test_a_later_grant_of_a_symbol_counts_only_where_it_is_touched() -> None:
    code = parse_resource("src/a.py")
    marks = [mark("ben", 30, "symbol:src/a.py#f")]
    assert judged(ISOLATED, [], marks, resource=code, fence=20) == "fence.stale"
    assert judged(ISOLATED, [], marks, resource=code, fence=20, touches="g".__eq__) == ""


# -- worktrees ------------------------------------------------------------------------------------


def test_another_agents_worktree_is_no_place_to_write() -> None:
    assert judged(ISOLATED, tree=OwnedTree("ben", "ben")) == "gate.foreign_tree"
    assert judged(ISOLATED, tree=OwnedTree("ben", "ben"), agent="ben/sub") == ""
    assert judged(ISOLATED, tree=OwnedTree("main", "")) == ""


# -- phases ---------------------------------------------------------------------------------------


def test_what_the_integrator_made_lands_in_any_phase() -> None:
    bound = Sharing(ISOLATED, "", "t", INTEGRATE)
    assert judged(bound, agent=INTEGRATOR, action=LANDING) == ""
    assert judged(bound, agent=INTEGRATOR, action=COMMIT) == "write.phase"
    assert judged(bound, action=LANDING) == "write.phase"


# -- fences ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([], ("", 0)),
        ([("file:src/a.py", "bob", 9)], ("bob", 9)),
        ([("file:src/", "bob", 9)], ("bob", 9)),
        ([("file:src/a.py", "bob", 4)], ("", 0)),
        ([("file:src/a.py", "bob", 5)], ("", 0)),
        ([("file:src/a.py", "ann", 9)], ("", 0)),
        ([("file:src/a.py", "ann/one", 9)], ("", 0)),
        ([("file:src/b.py", "bob", 9)], ("", 0)),
        ([("file:src/a.py", "bob", 9), ("file:src/", "cat", 12), ("file:**", "dan", 7)], ("cat", 12)),
    ],
)
def test_a_fence_is_stale_when_somebody_else_was_granted_an_overlap_later(
    marks: list[tuple[str, str, int]], expected: tuple[str, int], action: str
) -> None:
    near = [mark(agent, fence, text) for text, agent, fence in marks]
    found = verdict(
        ISOLATED, [], near, resource=parse_resource("src/a.py"), agent="ann", action=action, fence=5
    ).refusal
    told = (found.facts["holder"], found.facts["newer_fence"]) if found is not None else ("", 0)
    assert told == expected


def test_the_fence_of_with_counts_for_what_with_holds() -> None:
    inside = {"LINECLEAR_FENCE": "7", "LINECLEAR_RESOURCES": "api:mail\nfile:src/"}
    assert fence_from(inside, parse_resource("src/a.py")) == 7
    assert fence_from(inside, parse_resource("docs/a.md")) == 0
    assert fence_from({"LINECLEAR_FENCE": "7"}, parse_resource("src/a.py")) == 0
    assert fence_from({**inside, "LINECLEAR_FENCE": "seven"}, parse_resource("src/a.py")) == 0
    assert fence_from({}, parse_resource("src/a.py")) == 0


# -- without the store ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "owner", "phase", "agent", "code"),
    [
        ("isolated", "", "", "ada", None),
        ("isolated", "", "", "", None),
        ("optimistic", "", "", "ada", None),
        ("locked", "", "", "ada", "gate.unreachable"),
        ("single-writer", "ada", "", "ada", None),
        ("single-writer", "ada", "", "ada/reviewer", None),
        ("single-writer", "ada", "", "ben", "gate.unreachable"),
        ("single-writer", "ada", "", "", "gate.unreachable"),
        ("single-writer", "", "", "ada", "gate.unreachable"),
        ("isolated", "", "integrate", "ada", "gate.unreachable"),
        ("read-only", "", "", "ada", "write.read_only"),
    ],
)
@pytest.mark.parametrize("action", [EDIT, COMMIT])
def test_while_nobody_can_be_asked_copies_go_on_and_what_exists_once_does_not(
    strategy: str, owner: str, phase: str, agent: str, code: str | None, action: str
) -> None:
    write = Write(parse_resource("src/a.py"), agent, action)
    refusal = judge_write(write, Sharing(strategy, owner, "test", phase), None).refusal
    assert (refusal.code if refusal is not None else None) == code
