"""Use cases around worktrees, with git played by the test: reservations, repeats, adoption, removal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from lineclear.app import claims
from lineclear.app.ports import Caller
from lineclear.app.queue import candidates
from lineclear.app.worktrees import rows as worktrees
from lineclear.app.worktrees.rows import Wanted
from lineclear.core.claims.granting import EXCLUSIVE, INTENT, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import AGENT, WORKTREE, Worktree
from lineclear.core.words.computed.worktrees import worktree_failed
from lineclear.core.worktrees.rules import Condition
from tests.world import HOUR_MS, World, refused

SAM = Caller("sam", is_person=True)
ADA = Caller("ada")


class FakeTrees:
    """Git's side: remembers what it was asked, gives what the test says."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.state = Condition()
        self.removed: list[tuple[str, bool]] = []
        self.is_broken = False

    def add(self, row: Worktree, is_new_branch: bool, keep_fds: Sequence[int], /) -> str:
        if self.is_broken:
            raise worktree_failed(row.name, "disk full")
        return self.names.get(row.name, row.name.rpartition("/")[2])

    def condition(self, name: str, path: str, /) -> Condition:
        return self.state

    def remove(self, row: Worktree, force: bool, /) -> str:
        self.removed.append((row.name, force))
        return row.branch

    def drop_entry(self, name: str, path: str, /) -> None:
        raise AssertionError("the story above the rows asks for this")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def trees() -> FakeTrees:
    return FakeTrees()


def free(_port: int) -> bool:
    return True


def want(name: str, **options: Any) -> Wanted:
    given: dict[str, Any] = {
        "branch": f"lineclear/{name}",
        "base": "1" * 40,
        "ports": 10,
        "ports_from": 100,
        "ports_to": 149,
    }
    return Wanted(name, f"/w/{name}", **(given | options))


def make(world: World, trees: FakeTrees, wanted: Wanted, caller: Caller = SAM) -> Worktree:
    return worktrees.make(world.store, caller, trees, wanted, free)


def rows(world: World) -> list[Worktree]:
    return world.store.read(lambda view: view.scan(WORKTREE, "key"))


def remove(
    world: World, trees: FakeTrees, row: Worktree, caller: Caller = SAM, **options: Any
) -> dict[str, Any]:
    given: dict[str, Any] = {"why": "tidy", "is_saved": lambda _tree: False} | options
    return worktrees.remove(world.store, caller, trees, row, **given)


# -- making -----------------------------------------------------------------------------------


def test_a_worktree_has_its_name_branch_and_ports_before_git_acts(world: World) -> None:
    class Watching(FakeTrees):
        def add(self, row: Worktree, is_new_branch: bool, keep_fds: Sequence[int], /) -> str:
            assert [(r.name, r.port_first) for r in rows(world)] == [("ada", 100)]
            return super().add(row, is_new_branch, keep_fds)

    row = make(world, Watching(), want("ada", agent="ada"))
    assert (row.branch, row.port_first, row.port_count, row.origin) == ("lineclear/ada", 100, 10, "lineclear")
    assert world.findings() == []


def test_when_git_fails_nothing_is_left(world: World, trees: FakeTrees) -> None:
    trees.is_broken = True
    with refused("worktree.git"):
        make(world, trees, want("ada"))
    assert rows(world) == []
    trees.is_broken = False
    assert make(world, trees, want("ada")).port_first == 100


def test_two_worktrees_share_neither_name_nor_branch_nor_ports(world: World, trees: FakeTrees) -> None:
    make(world, trees, want("ada"))
    with refused("worktree.exists"):
        make(world, trees, want("ada"))
    with refused("worktree.case"):
        make(world, trees, want("Ada"))
    with refused("worktree.branch_in_use"):
        make(world, trees, want("ben", branch="lineclear/ada", is_own_branch=False))
    with refused("worktree.case"):
        make(world, trees, want("ben", branch="Lineclear/ada", is_own_branch=False))
    other = make(world, trees, want("ben", branch="lineclear/ada"))
    assert (other.branch, other.port_first) == ("lineclear/ada-2", 110)


def test_a_branch_that_git_has_gets_the_next_number(world: World, trees: FakeTrees) -> None:
    row = make(world, trees, want("ada", branches=["lineclear/ada", "lineclear/ADA-2"]))
    assert row.branch == "lineclear/ada-3"


def test_when_somebody_takes_the_ports_in_between_others_are_found(world: World, trees: FakeTrees) -> None:
    asked: list[int] = []

    def is_free(port: int) -> bool:
        if not asked:  # after our look, before our transaction
            asked.append(port)
            make(world, trees, want("fast"))
        return True

    row = worktrees.make(world.store, SAM, trees, want("slow"), is_free)
    assert [r.port_first for r in rows(world)] == [100, 110]
    assert row.port_first == 110


def test_when_no_ports_are_left_it_is_refused(world: World, trees: FakeTrees) -> None:
    for number in range(5):
        make(world, trees, want(f"w{number}"))
    with refused("worktree.ports"):
        make(world, trees, want("late"))
    assert make(world, trees, want("quiet", ports=0)).port_first == 0


def test_the_row_follows_the_name_that_git_gave(world: World, trees: FakeTrees) -> None:
    trees.names["ada"] = "ada1"
    row = make(world, trees, want("ada", agent="ada"))
    assert [r.name for r in rows(world)] == [row.name] == ["ada1"]
    assert row.port_first == 100
    assert world.store.read(lambda view: view.get(AGENT, ("ada",))).tree == "ada1"  # type: ignore[union-attr]
    assert world.findings() == []


def test_its_agent_is_at_home_in_it(world: World, trees: FakeTrees) -> None:
    make(world, trees, want("ada", agent="ada"))
    agent = world.store.read(lambda view: view.get(AGENT, ("ada",)))
    assert agent is not None
    assert (agent.kind, agent.tree) == ("agent", "ada")


def test_a_task_has_to_be_there(world: World, trees: FakeTrees) -> None:
    with refused("task.unknown"):
        make(world, trees, want("ada", task=7))
    assert rows(world) == []


def test_a_repeat_finds_what_the_first_time_made(world: World, trees: FakeTrees) -> None:
    caller, wanted = Caller("ada", op="k-1"), want("ada")
    assert worktrees.made_before(world.store, caller, wanted.asked) is None
    row = make(world, trees, wanted, caller)
    again = worktrees.made_before(world.store, caller, wanted.asked)
    assert again is not None
    assert again.as_dict() == row.as_dict()
    with refused("operation.differs"):
        worktrees.made_before(world.store, caller, want("ben").asked)


def test_what_failed_is_tried_again_under_the_same_operation(world: World, trees: FakeTrees) -> None:
    caller, wanted = Caller("ada", op="k-1"), want("ada")
    trees.is_broken = True
    with refused("worktree.git"):
        make(world, trees, wanted, caller)
    assert worktrees.made_before(world.store, caller, wanted.asked) is None


def test_clones_of_a_team_have_names_of_their_own_but_no_ports_in_common(
    world: World, trees: FakeTrees
) -> None:
    first = make(world, trees, want("ada", scope="clone-1/"))
    second = make(world, trees, want("ada", scope="clone-2/"))
    assert (first.name, second.name) == ("clone-1/ada", "clone-2/ada")
    assert (first.port_first, second.port_first) == (100, 110)
    assert second.branch == "lineclear/ada-2"  # they meet at the remote


# -- adopting and listing ---------------------------------------------------------------------


def adopted(name: str, agent: str = "") -> Wanted:
    return want(name, branch=f"worktree-{name}", origin="claude", agent=agent, is_own_branch=False)


def test_a_worktree_is_adopted_once(world: World) -> None:
    row, is_new = worktrees.adopt(world.store, SAM, adopted("feat"), free)
    assert (is_new, row.origin, row.branch, row.port_first) == (True, "claude", "worktree-feat", 100)
    assert worktrees.adopt(world.store, SAM, adopted("feat"), free) == (rows(world)[0], False)


def test_the_agent_of_an_adopted_worktree_can_be_told_later(world: World) -> None:
    worktrees.adopt(world.store, SAM, adopted("feat"), free)
    row, is_new = worktrees.adopt(world.store, ADA, adopted("feat", "claude-1"), free)
    assert (is_new, row.agent, row.port_first) == (False, "claude-1", 100)
    with refused("worktree.not_yours"):
        worktrees.adopt(world.store, ADA, adopted("feat", "ada"), free)
    assert worktrees.adopt(world.store, SAM, adopted("feat", "ada"), free)[0].agent == "ada"
    assert world.findings() == []


def test_the_list_joins_what_we_know_with_what_git_says(world: World, trees: FakeTrees) -> None:
    make(world, trees, want("ada", agent="ada"))
    make(world, trees, want("gone"))
    make(world, trees, want("far", scope="clone-2/"))
    truth = {
        "ada": {"path": "/w/ada", "branch": "other", "state": "ready", "changed": 2, "ahead": 1, "behind": 0},
        "feat": {"path": "/w/feat", "branch": "feat", "state": "locked", "changed": 0},
    }
    found = world.store.read(lambda view: worktrees.list_worktrees(view, "", truth))
    assert [(tree["name"], tree["state"], tree["branch"], tree["changed"]) for tree in found] == [
        ("ada", "ready", "other", 2),
        ("clone-2/far", "elsewhere", "lineclear/far", None),
        ("gone", "missing", "lineclear/gone", None),
        ("feat", "not adopted", "feat", 0),
    ]
    assert found[0]["ports"] == "100-109"


# -- removing ---------------------------------------------------------------------------------


def test_a_removed_worktree_frees_its_name_and_ports(world: World, trees: FakeTrees) -> None:
    row = make(world, trees, want("ada"))
    assert remove(world, trees, row)["branch"] == "lineclear/ada"
    assert (rows(world), trees.removed) == ([], [("ada", False)])
    assert make(world, trees, want("ben")).port_first == 100


@pytest.mark.parametrize("is_waiting", [False, True])
def test_what_was_announced_in_a_removed_worktree_is_over_unless_its_branch_is_yet_to_land(
    world: World, trees: FakeTrees, is_waiting: bool
) -> None:
    row = make(world, trees, want("ada", agent="ada"))
    for mode in (INTENT, EXCLUSIVE):
        request = Request("ada", "ada", mode, [parse_resource(f"{mode}.py")], ttl_ms=HOUR_MS)
        claims.ask(world.store, world.liveness, ADA, request)
    if is_waiting:
        candidates.submit(
            world.store, SAM, candidates.SubmittedBranch(row.branch, "2" * 40, "1" * 40), agent="ada"
        )
    worktrees.remove(world.store, SAM, trees, row, why="done", is_saved=lambda _: True)
    held = world.store.read(lambda view: claims.holders(view, parse_resource("./")))
    kept = ["file:exclusive.py", "file:intent.py"] if is_waiting else ["file:exclusive.py"]
    assert sorted(claim.resource for claim in held) == kept
    assert world.findings() == []


def test_dirty_work_stays_unless_a_snapshot_holds_it(world: World, trees: FakeTrees) -> None:
    row = make(world, trees, want("ada"))
    trees.state = Condition(changed=3)
    with refused("worktree.dirty"):
        remove(world, trees, row)
    assert (len(rows(world)), trees.removed) == (1, [])
    assert remove(world, trees, row, is_saved=lambda tree: tree == "ada")["saved"] is True
    assert trees.removed == [("ada", True)]


def test_only_a_person_removes_by_force(world: World, trees: FakeTrees) -> None:
    row = make(world, trees, want("ada", agent="ada"))
    trees.state = Condition(changed=3)
    with refused("person.only"):
        remove(world, trees, row, ADA, force=True)
    remove(world, trees, row, SAM, force=True)
    assert rows(world) == []


def test_an_agent_removes_its_own_worktree_and_no_other(world: World, trees: FakeTrees) -> None:
    mine, free_one = make(world, trees, want("ada", agent="ada")), make(world, trees, want("x"))
    with refused("worktree.not_yours"):
        remove(world, trees, mine, Caller("ben"))
    with refused("worktree.not_yours"):
        remove(world, trees, free_one, ADA)
    remove(world, trees, mine, Caller("ada/tests"))
    assert [row.name for row in rows(world)] == ["x"]


def test_a_worktree_with_a_live_run_is_in_use(world: World, trees: FakeTrees) -> None:
    row = make(world, trees, want("ada", agent="ada"))
    run = Draft(
        "RunStarted", "run", agent="ada", task=1, attempt=1, client="codex", model="", tree="ada", branch="b",
        base="", bond="", token_hash="",
    )  # fmt: skip
    world.store.transact(ADA, lambda tx: tx.append(run))
    with refused("worktree.in_use"):
        remove(world, trees, row, ADA)
    with refused("worktree.in_use"):
        remove(world, trees, row, SAM)
    remove(world, trees, row, SAM, force=True)


def test_a_repeated_removal_has_the_same_answer(world: World, trees: FakeTrees) -> None:
    caller = Caller("sam", is_person=True, op="k-9")
    done = remove(world, trees, make(world, trees, want("ada")), caller)
    assert worktrees.removed_before(world.store, caller, "ada") == done | {"replayed": True}
    with refused("worktree.unknown"):
        worktrees.removed_before(world.store, SAM, "ada")
