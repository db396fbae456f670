"""The rule of claims: who may hold what beside whom, who goes first, what ends, what would never end."""

from __future__ import annotations

import pytest

from lineclear.core.claims.granting import (
    EXCLUSIVE,
    INTENT,
    SHARED,
    Answer,
    Blocker,
    Request,
    decide_claim,
    find_cycle,
    has_copies,
)
from lineclear.core.claims.leases import is_over
from lineclear.core.claims.resources import parse_resource, resource_of
from lineclear.core.instants import NS_PER_MS, Instant
from lineclear.core.log.tables import Claim, Wait, join_names

NOW = Instant(5_000 * NS_PER_MS, "memory", 0)


def held(
    agent: str, text: str, mode: str = EXCLUSIVE, *, tree: str = "main", left_ms: int = 60_000, bond: str = ""
) -> Claim:
    node = parse_resource(text).node
    return Claim(
        agent, parse_resource(text).text, node, mode, 7, tree, "", 0, 60_000, bond, NOW.in_ms(left_ms)
    )


def ticket(
    number: int,
    agent: str,
    *texts: str,
    mode: str = EXCLUSIVE,
    tree: str = "main",
    left_ms: int = 15_000,
    bond: str = "",
) -> Wait:
    resources = join_names([parse_resource(text).text for text in texts])
    return Wait(number, agent, resources, mode, tree, "", 0, 60_000, bond, NOW.in_ms(left_ms))


def asking(
    agent: str, *texts: str, mode: str = EXCLUSIVE, tree: str = "main", ticket: int = 0, bond: str = ""
) -> Request:
    resources = [parse_resource(text) for text in texts]
    return Request(agent, tree, mode, resources, ttl_ms=60_000, note="why", task=3, ticket=ticket, bond=bond)


def decide(request: Request, *rows: Claim | Wait, dead: str = "") -> Answer:
    claims = [row for row in rows if isinstance(row, Claim)]
    waits = [row for row in rows if isinstance(row, Wait)]
    return decide_claim(request, claims, waits, NOW, lambda bond: bond == dead)


def blocked_by(answer: Answer) -> list[str]:
    return [blocker.agent for blocker in answer.blockers]


# -- beside whom ------------------------------------------------------------------------------

GRANTED, TELLS, WAITS = "granted", "granted, holder told", "waits"

# asked, held: the answer for (file, one tree), (file, two trees), (once, one tree), (once, two trees)
TABLE = [
    (SHARED, SHARED, GRANTED, GRANTED, GRANTED, GRANTED),
    (SHARED, INTENT, GRANTED, GRANTED, GRANTED, GRANTED),
    (SHARED, EXCLUSIVE, WAITS, WAITS, WAITS, WAITS),
    (INTENT, SHARED, GRANTED, GRANTED, GRANTED, GRANTED),
    (INTENT, INTENT, GRANTED, GRANTED, GRANTED, GRANTED),
    (INTENT, EXCLUSIVE, WAITS, WAITS, WAITS, WAITS),
    (EXCLUSIVE, SHARED, WAITS, WAITS, WAITS, WAITS),
    (EXCLUSIVE, INTENT, WAITS, TELLS, WAITS, WAITS),
    (EXCLUSIVE, EXCLUSIVE, WAITS, WAITS, WAITS, WAITS),
]
PLACES = (("src/a.py", "main"), ("src/a.py", "other"), ("row:users/42", "main"), ("row:users/42", "other"))


@pytest.mark.parametrize(
    ("asked", "standing", "text", "tree", "expected"),
    [
        (asked, standing, text, tree, expected)
        for asked, standing, *answers in TABLE
        for (text, tree), expected in zip(PLACES, answers, strict=True)
    ],
)
def test_the_table_of_modes(asked: str, standing: str, text: str, tree: str, expected: str) -> None:
    answer = decide(asking("bob", text, mode=asked), held("ann", text, standing, tree=tree))
    assert blocked_by(answer) == (["ann"] if expected == WAITS else [])
    assert [claim.agent for claim in answer.told] == (["ann"] if expected == TELLS else [])


@pytest.mark.parametrize(
    ("text", "copies"),
    [
        ("src/a.py", True),
        ("src/", True),
        ("**/*.sql", True),
        ("symbol:src/a.py#Login", True),
        ("row:users/42", False),
        ("value:plan", False),
        ("port:3000", False),
        ("memory:notes", False),
    ],
)
def test_only_files_have_a_copy_in_each_worktree(text: str, copies: bool) -> None:
    assert has_copies(parse_resource(text)) is copies


@pytest.mark.parametrize(
    ("standing", "asked"),
    [
        ("src/", "src/a.py"),
        ("src/a.py", "src/"),
        ("**/*.py", "src/a.py"),
        ("src/a.py", "**/*.py"),
        ("src/a.py", "symbol:src/a.py#Login"),
        ("symbol:src/a.py#Login", "symbol:src/a.py#Login.check"),
        ("row:users", "row:users/42"),
    ],
)
def test_what_overlaps_is_in_the_way(standing: str, asked: str) -> None:
    assert blocked_by(decide(asking("bob", asked), held("ann", standing))) == ["ann"]


@pytest.mark.parametrize(
    ("standing", "asked"),
    [
        ("src/a.py", "src/b.py"),
        ("src/auth/", "src/authors.py"),
        ("**/*.sql", "src/a.py"),
        ("symbol:src/a.py#Login", "symbol:src/a.py#Logout"),
        ("row:users/42", "row:users/43"),
        ("row:users/42", "value:users/42"),
    ],
)
def test_what_does_not_overlap_is_free(standing: str, asked: str) -> None:
    assert blocked_by(decide(asking("bob", asked), held("ann", standing))) == []


def test_an_exclusive_claim_over_announced_work_in_other_worktrees_tells_every_holder_once() -> None:
    announced = [held("ann", "src/", INTENT, tree="w1"), held("cat", "src/b.py", INTENT, tree="w2")]
    answer = decide(asking("bob", "src/a.py", "src/b.py", tree="w3"), *announced)
    assert [(claim.agent, claim.resource) for claim in answer.told] == [
        ("ann", "file:src/"),
        ("cat", "file:src/b.py"),
    ]
    assert len(answer.grants) == 2


def test_renewing_an_exclusive_claim_tells_nobody_again() -> None:
    announced = held("ann", "src/a.py", INTENT, tree="w1")
    mine = held("bob", "src/a.py", tree="w2")
    answer = decide(asking("bob", "src/a.py", tree="w2"), announced, mine)
    assert (answer.told, answer.kept, answer.grants) == ([], [mine], [])


def test_in_a_shared_tree_an_exclusive_claim_waits_for_announced_work() -> None:
    answer = decide(asking("bob", "src/a.py"), held("ann", "src/a.py", INTENT))
    assert blocked_by(answer) == ["ann"]
    assert answer.told == []


@pytest.mark.parametrize("tree", ["main", "other"])
def test_work_is_not_announced_under_anothers_exclusive_claim(tree: str) -> None:
    answer = decide(asking("bob", "src/a.py", mode=INTENT, tree=tree), held("ann", "src/"))
    assert [(b.agent, b.resource, b.mode, b.ticket) for b in answer.blockers] == [
        ("ann", "file:src/", EXCLUSIVE, 0)
    ]


@pytest.mark.parametrize(
    ("holder", "asker", "blocked"),
    [
        ("ann", "ann", False),
        ("ann", "ann/one", False),
        ("ann/one", "ann", False),
        ("ann", "ann/one/deep", False),
        ("ann/one", "ann/two", True),
        ("ann/one", "ann/one/deep", False),
        ("ann", "anna", True),
        ("ann", "bob", True),
    ],
)
def test_a_sub_agent_shares_with_those_above_it_and_siblings_do_not(
    holder: str, asker: str, blocked: bool
) -> None:
    assert bool(decide(asking(asker, "src/a.py"), held(holder, "src/a.py")).blockers) is blocked


# -- all or none, again and stronger ----------------------------------------------------------


def test_every_holder_in_the_way_of_any_resource_is_named() -> None:
    answer = decide(asking("bob", "a", "b", "c"), held("ann", "a"), held("cat", "c"), held("cat", "d"))
    assert [(b.wanted.text, b.agent) for b in answer.blockers] == [("file:a", "ann"), ("file:c", "cat")]


def test_a_resource_named_twice_is_granted_once() -> None:
    answer = decide(asking("bob", "src/a.py", "./src//a.py"))
    assert [draft.subject for draft in answer.grants] == ["file:src/a.py"]


def test_a_grant_says_everything_that_a_replay_needs() -> None:
    (draft,) = decide(asking("bob", "src/", tree="w1", mode=INTENT, bond="b1")).grants
    assert (draft.kind, draft.subject) == ("ClaimGranted", "file:src/")
    assert draft.body == {
        "resource": "file:src/",
        "node": "file:/src",
        "mode": INTENT,
        "tree": "w1",
        "note": "why",
        "task": 3,
        "ttl_ms": 60_000,
        "bond": "b1",
        "until_ns": NOW.in_ms(60_000),
    }


@pytest.mark.parametrize("mode", [SHARED, INTENT, EXCLUSIVE])
@pytest.mark.parametrize("standing", [SHARED, INTENT, EXCLUSIVE])
def test_asking_again_keeps_what_is_as_strong_and_grants_what_is_stronger(mode: str, standing: str) -> None:
    order = (SHARED, INTENT, EXCLUSIVE)
    mine = held("bob", "src/a.py", standing)
    answer = decide(asking("bob", "src/a.py", mode=mode), mine)
    is_stronger = order.index(mode) > order.index(standing)
    assert answer.kept == ([] if is_stronger else [mine])
    assert len(answer.grants) == is_stronger


def test_holding_a_directory_does_not_make_a_claim_of_a_file_in_it_a_renewal() -> None:
    answer = decide(asking("bob", "src/a.py"), held("bob", "src/"))
    assert (answer.kept, len(answer.grants), answer.blockers) == ([], 1, [])


# -- first come, first served -----------------------------------------------------------------


def test_a_later_request_goes_behind_an_earlier_waiter_that_it_would_exclude() -> None:
    answer = decide(asking("cat", "src/a.py"), ticket(4, "bob", "src/"))
    assert [(b.agent, b.resource, b.ticket) for b in answer.blockers] == [("bob", "file:src/", 4)]


@pytest.mark.parametrize("mode", [SHARED, INTENT])
def test_a_compatible_waiter_is_passed(mode: str) -> None:
    waits_for_ann = ticket(4, "bob", "src/a.py", mode=mode)
    assert decide(asking("cat", "src/a.py", mode=SHARED), waits_for_ann).blockers == []


@pytest.mark.parametrize("mode", [SHARED, INTENT])
def test_a_weaker_request_does_not_pass_a_waiter_for_an_exclusive_claim(mode: str) -> None:
    waiting = ticket(4, "bob", "src/a.py")
    assert blocked_by(decide(asking("cat", "src/a.py", mode=mode), waiting)) == ["bob"]


def test_announced_work_in_another_worktree_passes_a_waiter_that_would_not_wait_for_it() -> None:
    waiting = ticket(4, "bob", "src/a.py", tree="w1")
    assert decide(asking("cat", "src/a.py", mode=INTENT, tree="w2"), waiting).blockers == []
    assert blocked_by(decide(asking("cat", "src/a.py", mode=SHARED, tree="w2"), waiting)) == ["bob"]


def test_a_waiter_for_something_else_is_passed() -> None:
    assert decide(asking("cat", "src/a.py"), ticket(4, "bob", "src/b.py", "docs/")).blockers == []


def test_a_waiter_for_several_resources_is_in_the_way_of_each() -> None:
    answer = decide(asking("cat", "docs/a.md"), ticket(4, "bob", "src/b.py", "docs/"))
    assert [(b.agent, b.resource) for b in answer.blockers] == [("bob", "file:docs/")]


def test_a_ticket_stands_behind_lower_ones_only() -> None:
    line = [ticket(3, "ann", "src/a.py"), ticket(5, "bob", "src/a.py"), ticket(9, "cat", "src/a.py")]
    assert blocked_by(decide(asking("bob", "src/a.py", ticket=5), *line)) == ["ann"]
    assert blocked_by(decide(asking("ann", "src/a.py", ticket=3), *line)) == []
    assert blocked_by(decide(asking("dan", "src/a.py"), *line)) == ["ann", "bob", "cat"]


def test_family_does_not_queue_behind_family() -> None:
    waiting = ticket(4, "ann", "src/a.py")
    assert decide(asking("ann/one", "src/a.py"), waiting).blockers == []
    assert blocked_by(decide(asking("ann/one", "src/a.py"), ticket(4, "ann/two", "src/a.py"))) == ["ann/two"]


@pytest.mark.parametrize("mode", [SHARED, EXCLUSIVE])
def test_a_held_claim_is_renewed_past_a_waiter(mode: str) -> None:
    mine = held("bob", "src/a.py", mode)
    answer = decide(asking("bob", "src/a.py", mode=mode), mine, ticket(4, "cat", "src/a.py"))
    assert (answer.kept, answer.blockers) == ([mine], [])


@pytest.mark.parametrize(
    ("text", "tree", "makes_way"),
    [
        ("src/a.py", "main", True),
        ("src/a.py", "other", False),
        ("row:users/42", "main", True),
        ("row:users/42", "other", True),
    ],
)
def test_announced_work_makes_way_for_an_exclusive_waiter_that_must_wait_for_it(
    text: str, tree: str, makes_way: bool
) -> None:
    mine = held("bob", text, INTENT)
    answer = decide(asking("bob", text, mode=INTENT), mine, ticket(4, "cat", text, tree=tree))
    assert blocked_by(answer) == (["cat"] if makes_way else [])


def test_a_claim_is_not_made_stronger_past_a_waiter() -> None:
    mine = held("bob", "src/a.py", SHARED)
    answer = decide(asking("bob", "src/a.py"), mine, ticket(4, "cat", "src/a.py"))
    assert blocked_by(answer) == ["cat"]


# -- what ends --------------------------------------------------------------------------------


def test_a_lease_ends_at_its_last_instant_and_not_before() -> None:
    assert is_over(NOW.tick_ns, NOW)
    assert not is_over(NOW.tick_ns + 1, NOW)


def test_an_expired_claim_ends_as_an_event_and_is_not_in_the_way() -> None:
    answer = decide(asking("bob", "src/a.py"), held("ann", "src/", left_ms=0))
    assert [(d.kind, d.subject, d.body) for d in answer.ended] == [
        ("ClaimExpired", "file:src/", {"agent": "ann", "resource": "file:src/"})
    ]
    assert (answer.blockers, len(answer.grants)) == ([], 1)


def test_ones_own_expired_claim_ends_too_and_is_granted_anew() -> None:
    answer = decide(asking("bob", "src/a.py"), held("bob", "src/a.py", left_ms=-1))
    assert [draft.kind for draft in answer.ended + answer.grants] == ["ClaimExpired", "ClaimGranted"]
    assert answer.kept == []


def test_the_claim_of_a_dead_process_ends_and_that_of_a_live_one_stays() -> None:
    dead, live = held("ann", "a", bond="b1"), held("cat", "b", bond="b2")
    answer = decide(asking("bob", "a", "b"), dead, live, dead="b1")
    assert [(d.kind, d.body) for d in answer.ended] == [
        ("ClaimReleased", {"agent": "ann", "resource": "file:a", "why": "gone"})
    ]
    assert blocked_by(answer) == ["cat"]


def test_a_claim_without_a_bond_is_never_taken_for_dead() -> None:
    assert blocked_by(decide(asking("bob", "a"), held("ann", "a"), dead="")) == ["ann"]


@pytest.mark.parametrize(("left_ms", "dead"), [(0, ""), (15_000, "b1")])
def test_a_silent_or_dead_waiter_leaves_the_line(left_ms: int, dead: str) -> None:
    waiting = ticket(4, "cat", "src/a.py", left_ms=left_ms, bond="b1")
    answer = decide(asking("bob", "src/a.py"), waiting, dead=dead)
    assert [(d.kind, d.body) for d in answer.ended] == [("WaitEnded", {"ticket": 4, "why": "gone"})]
    assert answer.blockers == []


def test_ones_own_late_ticket_is_not_ended_by_its_owner() -> None:
    mine = ticket(4, "bob", "src/a.py", left_ms=-1)
    assert decide(asking("bob", "src/a.py", ticket=4), mine).ended == []


# -- what would never end ---------------------------------------------------------------------


def in_the_way(*steps: tuple[str, str]) -> list[Blocker]:
    """(holder, what is wanted of it) for each blocker."""
    return [Blocker(parse_resource(text), held(agent, text), "file:" + text, 0) for agent, text in steps]


def cycle_of(asker: str, first: list[Blocker], line: dict[str, list[Blocker]]) -> list[str]:
    """Names along the cycle, for waiters who each wait for the given blockers."""
    waits = [ticket(number, agent, "x") for number, agent in enumerate(line, 1)]
    found = find_cycle(asking(asker, "x"), first, waits, lambda wait: line[wait.agent])
    return [step.agent for step in found]


def test_two_who_would_wait_for_each_other_are_a_cycle() -> None:
    assert cycle_of("ann", in_the_way(("bob", "b")), {"bob": in_the_way(("ann", "a"))}) == ["bob", "ann"]


def test_a_cycle_of_three_is_found_beside_other_waits() -> None:
    line = {
        "bob": in_the_way(("eve", "e"), ("cat", "c")),
        "cat": in_the_way(("ann", "a")),
        "eve": in_the_way(("fay", "f")),
    }
    assert cycle_of("ann", in_the_way(("dan", "d"), ("bob", "b")), line) == ["bob", "cat", "ann"]


@pytest.mark.parametrize(
    ("asker", "end", "expected"),
    [
        ("ann/one", "ann", ["bob", "ann"]),
        ("ann", "ann/one", ["bob", "ann/one"]),
        ("ann/one", "ann/two", []),
    ],
)
def test_a_cycle_closes_through_the_family_and_not_through_a_sibling(
    asker: str, end: str, expected: list[str]
) -> None:
    assert cycle_of(asker, in_the_way(("bob", "b")), {"bob": in_the_way((end, "a"))}) == expected


def test_a_holder_who_does_not_wait_closes_no_cycle() -> None:
    assert cycle_of("ann", in_the_way(("bob", "b")), {"cat": in_the_way(("ann", "a"))}) == []


def test_a_cycle_of_others_is_not_ours_and_is_not_walked_for_ever() -> None:
    line = {"bob": in_the_way(("cat", "c")), "cat": in_the_way(("bob", "b"))}
    assert cycle_of("ann", in_the_way(("bob", "b")), line) == []


# -- stored texts -----------------------------------------------------------------------------


def test_a_stored_text_is_read_once_whatever_scheme_the_repository_declared() -> None:
    first = resource_of("ticket:SUPPORT-7")
    assert (first.scheme, first.path) == ("ticket", "SUPPORT-7")
    assert resource_of("ticket:SUPPORT-7") is first
