"""Which level comes of which work, with a git that only pretends."""

from __future__ import annotations

import pytest

from lineclear.app.queue.stacking import Level, Submission, put_on
from lineclear.core.queue.landing_results import LINEAR, MERGE, Author
from tests.pretended_git import Ground, RulesHere
from tests.world import refused


@pytest.fixture
def ground() -> Ground:
    return Ground()


def put(ground: Ground, tip: str, style: str = MERGE, **more: str) -> Level:
    return put_on(ground, RulesHere(), "m0", Submission("side", tip, id=7, **more), style=style)


def test_a_merge_has_both_sides_as_parents_and_says_whose_work_it_is(ground: Ground) -> None:
    level = put(ground, "a1", task="T-3", title="Login", agent="ada")
    assert (level.how, level.commit, level.tree, level.files) == ("merge", "a-landed", "tree", ["f"])
    assert (level.fits, level.conflicts, level.commands) == (True, [], [])
    assert ground.parents == [["m0", "a1"]]
    assert ground.committed == ["Land T-3: Login\n\nTask: T-3\nAgent: ada\n"]


def test_a_linear_history_has_one_parent_and_the_same_words_and_authors(ground: Ground) -> None:
    ground.others = [Author("Ben", "ben@x"), Author("Cid", "cid@x")]
    levels = [put(ground, "a1", style, task="T-3", title="Login", agent="ada") for style in (MERGE, LINEAR)]
    assert [level.how for level in levels] == ["merge", "linear"]
    assert ground.parents[1] == ["m0"]
    assert ground.committed[0] == ground.committed[1]
    assert ground.committed[1].endswith("Co-authored-by: Ben <ben@x>\nCo-authored-by: Cid <cid@x>\n")
    assert [author.name for author in ground.written if author] == ["Ada", "Ada"]


@pytest.mark.parametrize("style", [MERGE, LINEAR])
def test_what_is_contained_already_adds_nothing(ground: Ground, style: str) -> None:
    level = put(ground, "m-1", style, task="T-3")
    assert (level.how, level.commit, level.tree, level.files) == ("nothing", "m0", "tree of m0", [])
    assert ground.committed == []


def test_a_linear_history_takes_no_commit_that_changes_nothing(ground: Ground) -> None:
    ground.trees.tree = "tree of m0"
    assert put(ground, "a1", LINEAR, task="T-3").how == "nothing"
    assert put(ground, "a1", MERGE, task="T-3").how == "merge"
    assert len(ground.committed) == 1


def test_only_work_of_no_task_is_taken_as_it_is(ground: Ground) -> None:
    level = put(ground, "ahead")
    assert (level.how, level.commit, level.tree) == ("fast-forward", "ahead", "tree of ahead")
    assert put(ground, "ahead", task="T-3").how == "merge"
    assert put(ground, "ahead", LINEAR).how == "linear"


def test_a_conflict_is_told_and_nothing_is_committed(ground: Ground) -> None:
    ground.trees.conflict = "logo.png"
    level = put(ground, "a1")
    assert (level.fits, level.commit, level.tree) == (False, "", "tree")
    assert [conflict["path"] for conflict in level.conflicts] == ["logo.png"]
    assert ground.committed == []


def test_names_that_are_one_file_here_do_not_fit(ground: Ground) -> None:
    ground.paths = ["Readme", "README"]
    assert [conflict["kind"] for conflict in put(ground, "a1").conflicts] == ["case"]


@pytest.mark.parametrize(("tip", "code"), [("f", "land.unrelated"), ("?", "branch.unknown")])
def test_what_cannot_be_merged_at_all_is_refused(ground: Ground, tip: str, code: str) -> None:
    with refused(code):
        put(ground, tip)
