"""Rules of worktrees: names, branches, places, ports, room, and when one may go."""

from __future__ import annotations

import pytest

from lineclear.core.worktrees import rules
from lineclear.core.worktrees.rules import Condition
from tests.world import refused


@pytest.mark.parametrize("name", ["ada", "codex-2", "T-12", "a.b_c", "X" * 64])
def test_a_plain_name_is_kept(name: str) -> None:
    assert rules.worktree_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "a b", "../x", "a/b", "-x", ".git", "a..b", "a.", "x.lock", "main", "MAIN", "X" * 65, "é"]
)
def test_a_name_that_git_would_change_or_take_for_something_else_is_refused(name: str) -> None:
    with refused("input.bad"):
        rules.worktree_name(name)


@pytest.mark.parametrize(
    ("agent", "task", "name"),
    [
        ("ada", 0, "ada"),
        ("ada/tests/ui", 3, "ada-tests-ui"),
        ("", 12, "T-12"),
        ("a" * 64 + "/b", 0, "a" * 64),
    ],
)
def test_without_a_chosen_name_it_is_the_agents_or_the_tasks(agent: str, task: int, name: str) -> None:
    assert rules.name_for(agent, task) == name


@pytest.mark.parametrize(
    ("task", "title", "branch"),
    [
        (0, "", "lineclear/ada"),
        (12, "Login form", "lineclear/T-12-login-form"),
        (12, "Fix: it's `broken` (again)!", "lineclear/T-12-fix-it-s-broken-again"),
        (12, "日本語", "lineclear/T-12"),
        (12, "word " * 30, "lineclear/T-12-word-word-word-word-word-word-word-word"),
        (12, "x" * 90, "lineclear/T-12"),
    ],
)
def test_a_branch_is_named_after_the_agent_or_the_task(task: int, title: str, branch: str) -> None:
    assert rules.branch_for("lineclear/", "ada", task, title) == branch
    assert rules.branch_name(branch) == branch


@pytest.mark.parametrize(
    ("branch", "task", "ours"),
    [
        ("lineclear/ada", 0, True),
        ("lineclear/ada-2", 0, True),
        ("lineclear/adam", 0, False),
        ("lineclear/T-12-login", 12, True),
        ("lineclear/T-12", 12, True),
        ("lineclear/T-123-x", 12, False),
        ("feat/ada", 0, False),
    ],
)
def test_a_branch_is_ours_when_we_chose_its_name(branch: str, task: int, ours: bool) -> None:
    assert rules.is_own_branch(branch, "lineclear/", "ada", task) is ours


@pytest.mark.parametrize(
    "branch",
    ["", "-x", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a.lock", "x/.y", "/a", "a/",
     "a//b", "a.", "@", "HEAD", "a@{1}", "a\nb", "x" * 201],
)  # fmt: skip
def test_a_branch_that_git_would_not_take_is_refused(branch: str) -> None:
    with refused("input.bad"):
        rules.branch_name(branch)


def test_names_that_differ_only_in_case_are_refused() -> None:
    with refused("worktree.case"):
        rules.check_clash("worktree", "Ada", ["ben", "ada"])
    rules.check_clash("worktree", "ada", ["ada", "adam"])


@pytest.mark.parametrize("other", ["a", "a/b/c/d"])
def test_a_branch_cannot_be_file_and_directory(other: str) -> None:
    with refused("worktree.branch_blocked"):
        rules.check_room_for_ref("a/b/c", [other])
    rules.check_room_for_ref("a/b/c", ["a/b/d", "a/b/cc", "ab"])


def test_a_taken_name_gets_the_next_number() -> None:
    assert rules.next_free("x", []) == "x"
    assert rules.next_free("x", ["X", "x-2", "x-4"]) == "x-3"


# -- places -----------------------------------------------------------------------------------

TREES = {"main": "/srv/shop", "ada": "/srv/shop.worktrees/ada"}


@pytest.mark.parametrize("path", ["/srv/shop.worktrees/ben", "/srv/shopping", "/elsewhere"])
def test_beside_the_repository_there_is_room(path: str) -> None:
    rules.check_place(path, "/srv/shop/.git", TREES)


@pytest.mark.parametrize(
    "path",
    ["/srv/shop/.git/trees/x", "/srv/shop/sub/x", "/srv/shop", "/srv", "/srv/shop.worktrees/ada/x", "/"],
)
def test_a_place_inside_or_around_a_worktree_is_refused(path: str) -> None:
    with refused("worktree.place"):
        rules.check_place(path, "/srv/shop/.git", TREES)


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("/srv/shop/.claude/worktrees/feat", "claude"),
        ("/home/sam/.codex/worktrees/a1b2/shop", "codex"),
        ("/home/sam/.codex-old/worktrees/x", "git"),
        ("/srv/other", "git"),
    ],
)
def test_where_a_worktree_lies_tells_who_made_it(path: str, origin: str) -> None:
    assert rules.origin_of(path, "/home/sam/.codex") == origin


@pytest.mark.parametrize(
    "pattern", ["", "/etc/passwd", "~/x", "../x", "a/../../x", ".git/config", "x/.GIT/y"]
)
def test_a_pattern_that_leaves_the_repository_is_refused(pattern: str) -> None:
    with refused("input.bad"):
        rules.check_pattern("worktrees.copy", pattern)


# -- ports ------------------------------------------------------------------------------------


def choose(
    taken: list[tuple[int, int]], busy: set[int], *, count: int = 3, low: int = 100, high: int = 112
) -> int:
    return rules.choose_ports(taken, count=count, low=low, high=high, is_free=lambda port: port not in busy)


@pytest.mark.parametrize(
    ("taken", "busy", "first"),
    [
        ([], set(), 100),
        ([(100, 3)], set(), 103),
        ([(102, 3)], set(), 105),
        ([(103, 3)], set(), 100),
        ([], {101}, 102),
        ([(103, 3)], {100}, 106),
        ([(0, 0), (100, 10)], set(), 110),
        ([(90, 11)], set(), 101),
    ],
)
def test_the_first_ports_are_given_that_nobody_has_and_nothing_listens_on(
    taken: list[tuple[int, int]], busy: set[int], first: int
) -> None:
    assert choose(taken, busy) == first


def test_the_last_possible_range_is_given_and_no_later_one() -> None:
    assert choose([(100, 10)], set()) == 110
    with refused("worktree.ports"):
        choose([(100, 11)], set())
    with refused("worktree.ports"):
        choose([], set(range(100, 113)))


def test_who_wants_no_ports_gets_none() -> None:
    assert choose([], set(), count=0) == 0


@pytest.mark.parametrize(("first", "meets"), [(97, False), (98, True), (102, True), (103, False)])
def test_ranges_meet_when_they_share_a_port(first: int, meets: bool) -> None:
    assert rules.ports_meet(first, 3, [(100, 3), (0, 0)]) is meets


def test_the_environment_names_place_and_ports_and_fills_in_what_is_stated() -> None:
    stated = {"URL": "http://localhost:{port}/{name}", "JSON": '{"port": 1}', "PORT": "1"}
    env = rules.environment(name="ada", path="/w/ada", port_first=42_010, port_count=10, stated=stated)
    assert env == {
        "LINECLEAR_WORKTREE": "/w/ada",
        "LINECLEAR_PORT": "42010",
        "LINECLEAR_PORTS": "42010-42019",
        "PORT": "1",
        "URL": "http://localhost:42010/ada",
        "JSON": '{"port": 1}',
    }


def test_without_ports_no_variable_speaks_of_them() -> None:
    env = rules.environment(name="ada", path="/w", port_first=0, port_count=0, stated={})
    assert env == {"LINECLEAR_WORKTREE": "/w"}


# -- room and removal -------------------------------------------------------------------------


def test_what_has_to_stay_free_stays_free() -> None:
    rules.check_room(count=3, each_bytes=10, free_bytes=130, reserve_bytes=100)
    with refused("worktree.disk") as caught:
        rules.check_room(count=3, each_bytes=10, free_bytes=129, reserve_bytes=100)
    assert caught.value.facts["needed_bytes"] == 30


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        (Condition(changed=2), "worktree.dirty"),
        (Condition(loose_commits=1), "worktree.unmerged"),
        (Condition(lock="claude"), "worktree.locked"),
    ],
)
def test_what_would_be_lost_is_not_removed(condition: Condition, code: str) -> None:
    with refused(code):
        rules.check_removal("ada", "/w/ada", condition, is_saved=lambda: False, force=False)
    rules.check_removal("ada", "/w/ada", condition, is_saved=lambda: False, force=True)


def test_what_a_snapshot_holds_may_go_but_not_what_is_locked() -> None:
    both = Condition(changed=2, loose_commits=1)
    rules.check_removal("ada", "/w/ada", both, is_saved=lambda: True, force=False)
    with refused("worktree.locked"):
        rules.check_removal("ada", "/w", Condition(changed=1, lock="x"), is_saved=lambda: True, force=False)


def test_snapshots_are_asked_only_when_it_matters() -> None:
    def never() -> bool:
        raise AssertionError

    rules.check_removal("ada", "/w/ada", Condition(), is_saved=never, force=False)
