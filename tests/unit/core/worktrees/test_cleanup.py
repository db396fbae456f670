"""What may be cleared away: every reason to stay, one by one."""

from __future__ import annotations

import pytest

from lineclear.core.worktrees.cleanup import (
    BOND,
    PRESENCE,
    RUN_LOG,
    SCRATCH,
    BranchFacts,
    CheckTreeFacts,
    CleanupFacts,
    CleanupItem,
    CleanupPlan,
    Directory,
    File,
    Series,
    VanishedWorktree,
    WorktreeFacts,
    make_plan,
)

DAY_S = 86_400


def plan(**facts: object) -> CleanupPlan:
    return make_plan(CleanupFacts(**facts), keep=3, keep_for_s=14 * DAY_S)  # type: ignore[arg-type]


def tree(**facts: object) -> WorktreeFacts:
    return WorktreeFacts(name="w", path="/w", **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"is_landed": True}, "its work is in main"),
        ({"is_saved": True}, "its agent is gone and its work is in a snapshot"),
    ],
)
def test_a_worktree_whose_work_is_kept_elsewhere_may_go(facts: dict[str, object], why: str) -> None:
    assert plan(trees=[tree(**facts)]).removals == [CleanupItem("worktree", "w", why)]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({}, "it holds work that is neither in a snapshot nor in main"),
        ({"is_saved": True, "in_use": "ada is alive"}, "ada is alive"),
        ({"is_landed": True, "lock": "on a stick"}, "git has locked it: on a stick"),
        ({"is_landed": True, "was_used": False}, "nobody has worked in it yet"),
        ({"is_landed": True, "origin": "claude"}, "it was not made by lineclear"),
    ],
)
def test_a_worktree_with_a_reason_to_stay_stays(facts: dict[str, object], why: str) -> None:
    found = plan(trees=[tree(**facts)])
    assert (found.removals, found.kept) == ([], [CleanupItem("worktree", "w", why)])


def test_a_row_without_a_directory_goes_with_its_ports() -> None:
    found = plan(rows=[VanishedWorktree(name="w", path="/w", ports="42000-42009")])
    assert found.removals == [
        CleanupItem("vanished", "w", "there is nothing at /w; its ports 42000-42009 are free again")
    ]


def test_only_an_empty_directory_goes() -> None:
    found = plan(
        directories=[
            Directory(path="/e", is_empty=True),
            Directory(path="/f", is_empty=False),
            Directory(path="/m", is_empty=True, in_use="another process is creating it"),
        ]
    )
    assert [item.key for item in found.removals] == ["/e"]
    assert [item.why for item in found.kept] == [
        "git does not know it, and it holds files",
        "another process is creating it",
    ]


def test_only_a_merged_branch_that_nothing_needs_goes() -> None:
    found = plan(
        branches=[
            BranchFacts(name="lineclear/a", commit="1", is_merged=True),
            BranchFacts(name="lineclear/b", commit="2", is_merged=False),
            BranchFacts(name="lineclear/c", commit="3", is_merged=True, needed_by="task T-4"),
        ]
    )
    assert found.removals == [CleanupItem("branch", "lineclear/a", "all of it is in main")]
    assert [item.why for item in found.kept] == ["it holds commits that are not in main", "task T-4 needs it"]


def series(ages_s: list[int], *, rolling: bool = True, has_worktree: bool = True) -> Series:
    refs = [f"r{place}" for place in range(len(ages_s))]
    marks = [rolling] * len(ages_s)
    return Series(agent="ada", refs=refs, ages_s=ages_s, is_rolling=marks, has_worktree=has_worktree)


def test_snapshots_go_by_number_and_by_age() -> None:
    found = plan(snapshots=[series([1, 2, 3, 4, 20 * DAY_S])])
    assert found.removals == [
        CleanupItem("snapshot", "r2", "ada has more than 3"),
        CleanupItem("snapshot", "r4", "it is older than 14 d"),
    ]


def test_snapshots_that_stay_do_not_go_by_number() -> None:
    assert plan(snapshots=[series([1, 2, 3, 4, 5], rolling=False)]).removals == []


def test_the_newest_goes_only_when_the_worktree_is_gone_and_the_time_is_over() -> None:
    old = [20 * DAY_S]
    assert plan(snapshots=[series(old)]).removals == []
    assert len(plan(snapshots=[series(old, has_worktree=False)]).removals) == 1
    assert plan(snapshots=[series([13 * DAY_S], has_worktree=False)]).removals == []


def test_files_go_when_nothing_needs_them_and_those_of_the_past_after_a_while() -> None:
    found = plan(
        files=[
            File(kind=SCRATCH, name="snapshots/w.index", age_s=1),
            File(kind=BOND, name="agent-1", age_s=0),
            File(kind=RUN_LOG, name="runs/1", age_s=20 * DAY_S),
            File(kind=RUN_LOG, name="runs/2", age_s=DAY_S),
            File(kind=RUN_LOG, name="runs/3", age_s=20 * DAY_S, needed_by="run 3 is still active"),
            File(kind=PRESENCE, name="agents/ada", age_s=DAY_S),
        ]
    )
    assert [item.key for item in found.removals] == ["snapshots/w.index", "agent-1", "runs/1"]
    assert found.kept == []


def test_a_check_tree_that_no_check_needs_may_go() -> None:
    found = plan(check_trees=[CheckTreeFacts(path="/c", in_use=False, is_needed=False)])
    assert found.removals == [CleanupItem("check tree", "/c", "no check needs it")]


@pytest.mark.parametrize(
    ("in_use", "is_needed", "why"),
    [
        (True, False, "a check runs in it"),
        (True, True, "a check runs in it"),
        (False, True, "the next check starts faster in it; `lineclear gc --checks` removes it"),
    ],
)
def test_a_check_tree_that_is_used_or_needed_stays(in_use: bool, is_needed: bool, why: str) -> None:
    found = plan(check_trees=[CheckTreeFacts(path="/c", in_use=in_use, is_needed=is_needed)])
    assert (found.removals, found.kept) == ([], [CleanupItem("check tree", "/c", why)])
