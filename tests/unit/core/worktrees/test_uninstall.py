"""What `uninstall` saves, removes and keeps."""

from __future__ import annotations

from typing import Any

from lineclear.core.worktrees.uninstall import (
    LeavingBranch,
    LeavingFacts,
    LeavingRef,
    LeavingSnapshot,
    LeavingTree,
    make_plan,
)


def told(**facts: Any) -> list[tuple[str, str, str]]:
    """(what is done, to what, the branch that keeps its work)"""
    given = LeavingFacts(branches=facts.pop("branches", {}), prefix="lineclear/", **facts)
    return [(step.do, step.name, step.branch) for step in make_plan(given)]


def tree(**more: Any) -> LeavingTree:
    return LeavingTree(name="ada", path="/w/ada", branch="lineclear/T-1-login", head="c1", **more)


def branch(name: str = "lineclear/T-1-login", *, is_merged: bool = False, place: str = "") -> LeavingBranch:
    return LeavingBranch(name=name, commit="c1", is_merged=is_merged, place=place)


def test_one_branch_keeps_the_commits_and_the_files_of_a_worktree() -> None:
    assert told(trees=[tree(is_dirty=True)], ours=[branch(place="/w/ada")]) == [
        ("save", "/w/ada", "kept/T-1-login"),
        ("remove", "/w/ada", ""),
        ("remove", "lineclear/T-1-login", ""),
    ]


def test_a_merged_branch_goes_and_an_unmerged_one_is_renamed() -> None:
    assert told(ours=[branch(), branch("lineclear/b", is_merged=True)]) == [
        ("save", "lineclear/T-1-login", "kept/T-1-login"),
        ("remove", "lineclear/T-1-login", ""),
        ("remove", "lineclear/b", ""),
    ]


def test_a_name_that_is_taken_gets_a_number_unless_it_holds_the_same() -> None:
    other, same = {"kept/T-1-login": "c9"}, {"kept/T-1-login": "c1"}
    assert told(branches=other, ours=[branch()])[0] == ("save", "lineclear/T-1-login", "kept/T-1-login-2")
    assert told(branches=same, ours=[branch()])[0] == ("save", "lineclear/T-1-login", "kept/T-1-login")
    assert told(branches={"kept": "c9"}, ours=[branch()])[0][2] == "kept-by-lineclear/T-1-login"


def test_what_cannot_be_saved_or_is_not_ours_stays_with_its_branch() -> None:
    for stays in (
        tree(is_ours=False),
        tree(lock="on a stick"),
        tree(trouble="broken"),
        tree(unsaved=[".env"], is_dirty=True),
    ):
        assert told(trees=[stays], ours=[branch(place="/w/ada")]) == [
            ("keep", "/w/ada", ""),
            ("keep", "lineclear/T-1-login", ""),
        ]


def test_refs_and_snapshots_that_no_branch_has_are_kept() -> None:
    refs = [
        LeavingRef(ref="refs/lineclear/queue/0123456789abcdef", commit="c2", is_reached=False),
        LeavingRef(ref="refs/lineclear/strayed/ada/1", commit="c3", is_reached=True),
    ]
    snapshots = [
        LeavingSnapshot(agent="ada/sub", commit="c4", is_covered=False),
        LeavingSnapshot(agent="ben", commit="c5", is_covered=True),
    ]
    assert told(refs=refs, snapshots=snapshots, snapshot_count=7) == [
        ("save", "refs/lineclear/queue/0123456789abcdef", "kept/candidate-0123456789"),
        ("save", "the last snapshot of ada/sub", "kept/ada-sub-snapshot"),
        ("remove", "refs/lineclear/queue/0123456789abcdef", ""),
        ("remove", "refs/lineclear/strayed/ada/1", ""),
        ("remove", "7 snapshots", ""),
    ]


def test_a_detached_head_that_no_branch_has_is_kept() -> None:
    loose = LeavingTree(name="ada", path="/w/ada", branch="", head="c1", is_loose=True)
    assert told(trees=[loose])[0] == ("save", "/w/ada", "kept/ada")
