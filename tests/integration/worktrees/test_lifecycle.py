"""Worktrees from the reservation to the removal, with real git, a real store and several processes."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lineclear.app.ports import Caller
from lineclear.app.worktrees.lifecycle import ReadyWorktree
from lineclear.core.log.tables import WORKTREE, Worktree
from lineclear.core.words.refusals import Refusal
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.starting import init_repo
from lineclear.wiring.worktrees import sandboxed, saved_work_in, worktree_files, worktrees_in
from tests.repository import TemporaryRepo
from tests.waiting import until, until_there
from tests.world import refused

SAM = Caller("sam", is_person=True)


class Site:
    """A repository under coordination. `state` writes this clone's own settings, which need no trust."""

    def __init__(self, repo: TemporaryRepo) -> None:
        self.git = repo
        self.path = repo.path
        self.beside = repo.path.parent / "repo.worktrees"
        init_repo(str(repo.path), repo.environment)
        self.opened: Repo | None = None

    @property
    def repo(self) -> Repo:
        if self.opened is None:
            self.opened = open_repo(str(self.path), self.git.environment)
        return self.opened

    def state(self, text: str) -> None:
        (self.path / ".git/lineclear/local.toml").write_text(text)
        self.close()

    def make(self, name: str = "ada", **options: Any) -> ReadyWorktree:
        return worktrees_in(self.repo).make(SAM, name=name, **options)

    def rows(self) -> list[Worktree]:
        return self.repo.store.read(lambda view: view.scan(WORKTREE, "key"))

    def is_untouched(self) -> bool:
        """No row, no entry of git, no branch but main, nothing beside the repository."""
        trees = self.git.git("worktree", "list").splitlines()
        places = list(self.beside.iterdir()) if self.beside.exists() else []
        return (len(trees), self.git.git("branch", "--format=%(refname:short)"), self.rows(), places) == (
            1, "main", [], [],
        )  # fmt: skip

    def close(self) -> None:
        if self.opened is not None:
            self.opened.close()
            self.opened = None


@pytest.fixture
def site(repo: TemporaryRepo) -> Iterator[Site]:
    made = Site(repo)
    yield made
    made.close()


# -- making -----------------------------------------------------------------------------------


def test_a_worktree_is_ready_with_branch_ignored_files_ports_and_environment(site: Site) -> None:
    head = site.git.commit("Ignore", {".gitignore": ".env*\n"})
    (site.path / ".env").write_text("TOKEN=1")
    (site.path / ".env").chmod(0o600)
    place = site.make(agent="ada")
    path = Path(place.path)
    assert path == site.beside / "ada"
    assert (place.tree, place.branch, place.base) == ("ada", "lineclear/ada", head)
    assert site.git.git("symbolic-ref", "--short", "HEAD", at=path) == "lineclear/ada"
    assert (path / ".env").stat().st_mode & 0o777 == 0o600
    assert len(place.ports) == 10
    assert place.env["LINECLEAR_PORT"] == place.env["PORT"] == str(place.ports[0])
    assert site.git.git("status", "--porcelain", at=path) == ""


def test_a_second_one_of_a_task_has_a_branch_of_its_own(site: Site) -> None:
    site.git.git("branch", "lineclear/ada")
    assert site.make().branch == "lineclear/ada-2"


def test_a_chosen_branch_is_made_or_used_as_it_is(site: Site) -> None:
    tip = site.git.commit("More", {"b": ""})
    site.git.git("branch", "old", "HEAD~1")
    assert site.make("one", branch="new/branch").base == tip
    used = site.make("two", branch="old")
    assert (used.branch, used.base) == ("old", site.git.git("rev-parse", "old"))
    assert not (Path(used.path) / "b").exists()


def test_a_base_can_be_any_commit(site: Site) -> None:
    first = site.git.git("rev-parse", "HEAD")
    site.git.commit("More", {"b": ""})
    site.git.git("tag", "v1", first)
    for number, base in enumerate(("v1", first, "HEAD~1")):
        assert site.make(f"w{number}", base=base).base == first


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"branch": "main"}, "worktree.branch_in_use"),
        ({"branch": "taken", "base": "main"}, "worktree.branch_exists"),
        ({"branch": "TAKEN"}, "worktree.case"),
        ({"branch": "taken/below"}, "worktree.branch_blocked"),
        ({"branch": "deep"}, "worktree.branch_blocked"),
        ({"branch": "a b"}, "input.bad"),
        ({"base": "nope"}, "worktree.base"),
        ({"base": "--help"}, "worktree.base"),
        ({"path": "sub/x"}, "worktree.place"),
        ({"path": ".git/x"}, "worktree.place"),
        ({"path": "link/x"}, "worktree.place"),
        ({"path": "../full"}, "worktree.place_taken"),
        ({"path": "../file"}, "worktree.place_taken"),
        ({"path": "../a\nb"}, "input.bad"),
        ({"task": 77}, "task.unknown"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(site: Site, options: dict[str, Any], code: str) -> None:
    for name in ("taken", "deep/er"):
        site.git.git("branch", name)
    outside = site.path.parent
    (outside / "full").mkdir()
    (outside / "full" / "x").write_text("")
    (outside / "file").write_text("")
    (outside / "link").symlink_to(site.path)
    (site.path / "link").symlink_to(site.path)
    with refused(code):
        site.make(**options)
    assert (site.rows(), site.beside.exists()) == ([], False)
    assert site.git.git("branch", "--format=%(refname:short)").split() == ["deep/er", "main", "taken"]


def test_before_the_first_commit_there_is_nothing_to_begin_from(tmp_path: Path, repo: TemporaryRepo) -> None:
    empty = TemporaryRepo(tmp_path / "empty", repo.environment)
    empty.path.mkdir()
    empty.git("init", "--quiet", "--initial-branch=main")
    init_repo(str(empty.path), repo.environment)
    opened = open_repo(str(empty.path), repo.environment)
    with refused("worktree.unborn"):
        worktrees_in(opened).make(SAM, name="ada")
    opened.close()


def test_when_git_fails_its_branch_is_taken_back(site: Site) -> None:
    blocked = site.path.parent / "blocked"
    blocked.write_text("a file where a directory is needed")
    with refused("worktree.git"):
        site.make(path="../blocked/x")
    assert site.is_untouched()


def test_uncommitted_work_of_the_main_worktree_is_warned_about(site: Site) -> None:
    worktrees = worktrees_in(site.repo)
    assert worktrees.base_warning(site.make("one")) == ""
    (site.path / "README.md").write_text("changed")
    warning = f"1 uncommitted change in {site.path} is not in the new worktree."
    assert worktrees.base_warning(site.make("two")) == warning


def test_a_sparse_checkout_is_taken_over(site: Site) -> None:
    site.git.commit("Add", {"in/a": "", "out/b": ""})
    site.git.git("sparse-checkout", "set", "in")
    path = Path(site.make().path)
    assert sorted(child.name for child in path.iterdir()) == [".git", "README.md", "in"]


def test_submodules_and_lfs_are_told_of(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.git.commit("Add", {".gitmodules": "", ".gitattributes": "*.bin filter=lfs\n"})
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    submodules, lfs, *_ = site.make().notes
    assert "git submodule update --init" in submodules
    assert "pointers" in lfs


def test_where_git_demands_lfs_and_has_it_not_it_is_refused(site: Site) -> None:
    site.git.commit("Add", {".gitattributes": "*.bin filter=lfs\n"})
    site.git.commit("Add", {"x.bin": "x"})
    site.git.git("config", "filter.lfs.required", "true")
    site.git.git("config", "filter.lfs.smudge", "no-such-git-lfs smudge -- %f")
    with refused("worktree.lfs"):
        site.make()
    assert site.is_untouched()


def test_a_worktree_inside_another_repository_is_told_of(site: Site) -> None:
    site.git.git("init", "--quiet", str(site.path.parent))
    assert site.make().notes[0].startswith(f"It is inside another repository, {site.path.parent}, ")


def test_no_room_on_the_disk_is_refused_before_anything_is_made(site: Site) -> None:
    site.state('[worktrees]\ndisk_reserve = "90TiB"\n')
    with refused("worktree.disk"):
        site.make()
    with refused("worktree.disk") as caught:
        worktree_files(site.repo).require_room(8)
    assert caught.value.facts["needed_bytes"] == 8 * 4_096
    assert site.is_untouched()


# -- provisioning -----------------------------------------------------------------------------


def test_a_linked_directory_is_ignored_like_the_real_one(site: Site) -> None:
    site.git.commit("Ignore", {".gitignore": "node_modules/\n"})
    (site.path / "node_modules").mkdir()
    (site.path / "node_modules" / "x").write_text("shared")
    site.state('[worktrees]\nlink = ["node_modules"]\n')
    for name in ("one", "two"):
        path = Path(site.make(name).path)
        assert (path / "node_modules" / "x").read_text() == "shared"
        assert site.git.git("status", "--porcelain", at=path) == ""
    assert (site.path / ".git/info/exclude").read_text().count("/node_modules\n") == 1


def test_what_was_copied_is_ignored_also_on_a_branch_that_does_not_ignore_it(site: Site) -> None:
    old = site.git.git("rev-parse", "HEAD")
    site.git.commit("Ignore", {".gitignore": ".env\n"})
    (site.path / ".env").write_text("TOKEN=1")
    path = Path(site.make(base=old).path)
    assert (path / ".env").exists()
    assert site.git.git("status", "--porcelain", at=path) == ""


def test_set_up_commands_run_in_the_worktree_with_its_environment(site: Site) -> None:
    site.state(
        '[worktrees]\nsetup = ["pwd > where", "echo $PORT:$URL >> where"]\n'
        '[worktrees.env]\nURL = "localhost:{port}/{name}"\n'
    )
    place = site.make()
    port = place.ports[0]
    assert (Path(place.path) / "where").read_text() == f"{place.path}\n{port}:localhost:{port}/ada\n"


@pytest.mark.parametrize(
    ("setup", "how"), [("echo almost; false", "ended with 1"), ("exec sleep 60", "did not finish in time")]
)
def test_a_set_up_that_fails_takes_the_worktree_back(site: Site, setup: str, how: str) -> None:
    site.state(f'[worktrees]\nsetup = ["touch begun", "{setup}", "touch never"]\nsetup_timeout = "1s"\n')
    with refused("worktree.setup") as caught:
        site.make()
    assert caught.value.facts["how"] == how
    assert site.is_untouched()


def test_what_the_committed_file_asks_for_needs_trust(site: Site) -> None:
    site.git.commit("Settings", {"lineclear.toml": '[worktrees]\nsetup = ["touch ran"]\n'})
    with pytest.raises(Refusal) as caught:
        site.make()
    assert (caught.value.exit_code, caught.value.next) == (4, "lineclear trust")
    assert site.is_untouched()
    assert not (Path(site.make(run_setup=False).path) / "ran").exists()


@pytest.mark.parametrize("pattern", ["../secret", "/etc/passwd", ".git/config"])
def test_a_pattern_that_leaves_the_repository_is_refused(site: Site, pattern: str) -> None:
    site.state(f'[worktrees]\ncopy = ["{pattern}"]\n')
    with refused("input.bad"):
        site.make()
    assert site.is_untouched()


# -- once more --------------------------------------------------------------------------------


def test_the_same_operation_makes_one_worktree(site: Site) -> None:
    caller = Caller("sam", is_person=True, op="k-1")
    first = worktrees_in(site.repo).make(caller, name="ada")
    again = worktrees_in(site.repo).make(caller, name="ada")
    assert (first.is_new, again.is_new, again.path) == (True, False, first.path)


def test_a_worktree_that_vanished_is_made_anew(site: Site) -> None:
    old = site.make()
    shutil.rmtree(old.path)
    assert worktrees_in(site.repo).vanished() == ["ada"]
    assert len(site.make().ports) == len(old.ports)
    shutil.rmtree(old.path)
    assert worktrees_in(site.repo).forget_vanished(SAM) == ["ada"]
    assert site.is_untouched()


def test_one_that_was_moved_is_still_the_same(site: Site) -> None:
    place, there = site.make(agent="ada"), site.path.parent / "there"
    site.git.git("worktree", "move", place.path, str(there))
    assert worktrees_in(site.repo).vanished() == []
    assert worktrees_in(site.repo).overview()[0]["path"] == str(there)
    assert worktrees_in(site.repo).find("ada").env["LINECLEAR_WORKTREE"] == str(there)
    with refused("worktree.exists"):
        site.make()
    remove(site)
    assert not there.exists()


def test_one_of_the_same_name_that_somebody_else_made_is_not_ours(site: Site) -> None:
    shutil.rmtree(site.make(agent="ada").path)
    site.git.git("worktree", "prune")
    other = site.path.parent / "elsewhere" / "ada"
    site.git.git("worktree", "add", "--quiet", "-b", "other", str(other))
    with refused("worktree.exists"):
        prepare(site)
    assert other.exists()


def test_one_that_git_was_killed_in_is_made_anew(site: Site) -> None:
    old = site.make()
    (site.path / ".git/worktrees/ada/locked").write_text("initializing")
    (Path(old.path) / "README.md").unlink()
    assert worktrees_in(site.repo).overview()[0]["state"] == "half made"
    assert (Path(site.make().path) / "README.md").exists()


def test_a_reservation_of_a_living_process_is_not_forgotten(site: Site) -> None:
    shutil.rmtree(site.make().path)
    with_bond = site.repo.bonds.hold("worktree-ada")
    assert worktrees_in(site.repo).forget_vanished(SAM) == []
    with refused("worktree.busy"):
        site.make()
    with_bond.release()
    assert worktrees_in(site.repo).forget_vanished(SAM) == ["ada"]


def make_slowly(path: str, environ: dict[str, str]) -> None:
    worktrees_in(open_repo(path, environ)).make(SAM, name="ada")


def test_when_we_are_killed_git_goes_on_and_nobody_comes_between(site: Site) -> None:
    hook, place = site.path / ".git/hooks/post-checkout", site.path.parent
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho $$ > {place}/begun\nread go < {place}/go\n")
    hook.chmod(0o755)
    os.mkfifo(place / "go")
    maker = multiprocessing.get_context("spawn").Process(
        target=make_slowly, args=(str(site.path), site.git.environment)
    )
    maker.start()
    until_there(place / "begun")
    maker.kill()
    maker.join()
    with refused("worktree.busy"):
        site.make()
    hook.unlink()
    (place / "go").write_text("go\n")
    until(lambda: not site.repo.bonds.is_held("worktree-ada"))
    (row,) = site.rows()
    assert row.port_count == 10
    remove(site)
    assert (Path(site.make().path) / "README.md").exists()


def test_a_name_that_git_keeps_for_somebody_else_is_refused(site: Site) -> None:
    site.git.git("worktree", "add", "--quiet", "-b", "x", str(site.path.parent / "elsewhere" / "ada"))
    with refused("worktree.exists"):
        site.make()
    shutil.rmtree(site.path.parent / "elsewhere")
    assert site.make().tree == "ada1"  # git numbers it: the old entry is still there


def try_to_make(path: str, environ: dict[str, str], names: list[str], mouth: Any) -> None:
    repo = open_repo(path, environ)
    for name in names:
        try:
            place = worktrees_in(repo).make(Caller(f"p{os.getpid()}"), name=name)
            mouth.send((name, place.ports[0]))
        except Refusal as refusal:
            mouth.send((name, refusal.code))
    repo.close()
    mouth.send(None)


def race(site: Site, *lists: list[str]) -> list[tuple[str, Any]]:
    """What each process got, all in one list."""
    context = multiprocessing.get_context("spawn")
    runs = []
    for names in lists:
        ear, mouth = context.Pipe(duplex=False)
        process = context.Process(
            target=try_to_make, args=(str(site.path), site.git.environment, names, mouth)
        )
        process.start()
        mouth.close()
        runs.append((ear, process))
    found = [item for ear, _ in runs for item in iter(ear.recv, None)]
    for _, process in runs:
        process.join()
    return found


def test_processes_at_once_never_get_the_same_name_or_ports(site: Site) -> None:
    same = [f"same{number}" for number in range(4)]
    found = race(site, [*same, "a1", "a2"], [*same, "b1", "b2"], [*same, "c1"])
    won = {name: got for name, got in found if isinstance(got, int)}
    lost = [got for _, got in found if isinstance(got, str)]
    assert sorted(won) == sorted([*same, "a1", "a2", "b1", "b2", "c1"])
    assert len(set(won.values())) == len(won)
    assert len(lost) == 8
    assert set(lost) <= {"worktree.exists", "worktree.busy"}
    assert all(row.name in won for row in site.rows())
    assert {tree["state"] for tree in worktrees_in(site.repo).overview()} == {"ready"}


# -- the supervisor's ways --------------------------------------------------------------------


def prepare(site: Site, **options: Any) -> ReadyWorktree:
    return worktrees_in(site.repo).prepare(Caller("ada"), agent="ada", **options)


def test_an_agent_begins_anew_in_a_fresh_worktree(site: Site) -> None:
    first = prepare(site)
    site.git.commit("Work", {"work": "x"}, at=Path(first.path))
    second = prepare(site)
    assert (second.path, second.branch) == (first.path, "lineclear/ada-2")
    assert not (Path(second.path) / "work").exists()
    assert "Work" in site.git.git("log", "--format=%s", first.branch)


def test_unsaved_work_of_before_is_not_thrown_away(site: Site) -> None:
    place = prepare(site)
    (Path(place.path) / "work").write_text("x")
    with refused("worktree.dirty"):
        prepare(site)
    assert (Path(place.path) / "work").exists()
    assert (
        saved_work_in(site.repo).take(agent="ada", tree=place.tree, path=place.path, why="test") is not None
    )
    assert not (Path(prepare(site).path) / "work").exists()


def test_a_place_is_found_again(site: Site) -> None:
    made = prepare(site)
    found = worktrees_in(site.repo).find("ada")
    assert (found.path, found.env, found.base) == (made.path, made.env, made.base)


def test_a_sandbox_can_write_only_to_paths_that_are_there(site: Site) -> None:
    place = prepare(site)
    site.state('[worktrees]\nwritable = ["/no/such/place"]\n')
    with pytest.raises(Refusal) as caught:
        sandboxed(site.repo, place.path, ["true"], tmp="/tmp")
    assert caught.value.code in ("sandbox.path", "sandbox.missing")


# -- adopting ---------------------------------------------------------------------------------


def test_worktrees_of_clients_are_adopted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    claude = site.path / ".claude/worktrees/feat"
    site.git.git("worktree", "add", "--quiet", "-b", "worktree-feat", str(claude))
    codex = Path(site.git.environment["HOME"]) / ".codex/worktrees/a1b2/repo"
    site.git.git("worktree", "add", "--quiet", "--detach", str(codex))
    (claude / "sub").mkdir()
    assert worktrees_in(site.repo).adopt(SAM, str(claude / "sub"), agent="claude-1").branch == "worktree-feat"
    assert worktrees_in(site.repo).adopt(SAM, str(codex)).branch == ""
    assert {row.name: (row.origin, row.agent) for row in site.rows()} == {
        "feat": ("claude", "claude-1"),
        "repo": ("codex", ""),
    }
    assert not worktrees_in(site.repo).adopt(SAM, str(codex)).is_new


def test_the_main_worktree_and_what_is_none_cannot_be_adopted(site: Site, tmp_path: Path) -> None:
    with refused("worktree.main"):
        worktrees_in(site.repo).adopt(SAM, str(site.path))
    with refused("worktree.unknown"):
        worktrees_in(site.repo).adopt(SAM, str(tmp_path))
    with refused("worktree.unknown"):
        worktrees_in(site.repo).adopt(SAM, str(site.path / "not there"))


# -- looking and removing ---------------------------------------------------------------------


def test_the_list_tells_what_is_new_in_each(site: Site) -> None:
    path = Path(site.make(agent="ada").path)
    site.git.commit("Work", {"work": ""}, at=path)
    (path / "new").write_text("")
    site.git.commit("Elsewhere", {"other": ""})
    (found,) = worktrees_in(site.repo).overview()
    assert [found[key] for key in ("state", "ahead", "behind", "changed", "agent")] == [
        "ready",
        1,
        1,
        1,
        "ada",
    ]


def test_looking_does_not_touch_the_agents_index(site: Site) -> None:
    path = Path(site.make().path)
    index = site.path / ".git/worktrees/ada/index"
    os.utime(path / "README.md", ns=(1, 1))
    before = index.read_bytes()
    worktrees_in(site.repo).overview()
    assert index.read_bytes() == before


def remove(site: Site, name: str = "ada", **options: Any) -> dict[str, Any]:
    return worktrees_in(site.repo).remove(SAM, name, **options)


def test_a_merged_branch_goes_with_its_worktree_and_another_stays(site: Site) -> None:
    site.make()
    assert remove(site)["branch"] == ""
    assert site.is_untouched()
    site.git.commit("Work", {"work": ""}, at=Path(site.make().path))
    assert remove(site)["branch"] == "lineclear/ada"
    assert site.git.git("log", "-1", "--format=%s", "lineclear/ada") == "Work"


def test_a_branch_that_was_there_before_stays(site: Site) -> None:
    site.git.git("branch", "old")
    site.make(branch="old")
    assert remove(site)["branch"] == "old"
    assert site.git.git("branch", "--list", "old").strip() == "old"


def test_dirty_work_is_removed_by_force_only(site: Site) -> None:
    path = Path(site.make().path)
    (path / "new").write_text("x")
    with refused("worktree.dirty"):
        remove(site)
    assert (path / "new").exists()
    remove(site, force=True)
    assert not path.exists()


def test_what_a_snapshot_holds_can_be_removed(site: Site) -> None:
    place = site.make(agent="ada")
    (Path(place.path) / "new").write_text("x")
    with refused("worktree.dirty"):
        remove(site)
    assert (
        saved_work_in(site.repo).take(agent="ada", tree=place.tree, path=place.path, why="test") is not None
    )
    assert remove(site)["saved"] is True


@pytest.mark.postgres
def test_clones_of_a_team_share_no_ports_and_know_of_each_other(
    repo: TemporaryRepo, fresh_postgres: Callable[[], str]
) -> None:
    init_repo(str(repo.path), repo.environment, fresh_postgres())
    repo.git("add", "lineclear.toml")
    repo.git("commit", "--quiet", "--message=Team")
    other = repo.path.parent / "other"
    repo.git("clone", "--quiet", str(repo.path), str(other))
    shutil.copytree(
        repo.path / ".git/lineclear", other / ".git/lineclear", ignore=lambda *_: ["clone", "bells"]
    )
    here, there = (open_repo(str(path), repo.environment) for path in (repo.path, other))
    first, second = (worktrees_in(one).make(SAM, name="ada") for one in (here, there))
    assert first.tree.endswith("/ada")
    assert first.tree != second.tree
    assert not set(first.ports) & set(second.ports)
    assert sorted(tree["state"] for tree in worktrees_in(here).overview()) == ["elsewhere", "ready"]
    assert worktrees_in(here).forget_vanished(SAM) == []
    assert worktrees_in(here).remove(SAM, "ada")["name"] == first.tree
    with refused("worktree.unknown"):
        worktrees_in(here).remove(SAM, second.tree)
    for one in (here, there):
        one.close()


def test_commits_on_no_branch_are_not_removed(site: Site) -> None:
    path = Path(site.make().path)
    site.git.git("switch", "--quiet", "--detach", at=path)
    site.git.commit("Loose", {"work": ""}, at=path)
    with refused("worktree.unmerged"):
        remove(site)


def test_what_git_has_locked_stays(site: Site) -> None:
    path = site.make().path
    site.git.git("worktree", "lock", "--reason", "on a stick", path)
    with refused("worktree.locked"):
        remove(site)
    shutil.rmtree(path)
    assert worktrees_in(site.repo).forget_vanished(SAM) == []
    assert worktrees_in(site.repo).overview()[0]["state"] == "missing"


def test_one_that_nobody_adopted_can_be_removed(site: Site) -> None:
    site.git.add_worktree("feature")
    assert remove(site, "feature")["branch"] == "feature"
    with refused("worktree.unknown"):
        remove(site, "feature")
    with refused("worktree.main"):
        remove(site, "main")
    with refused("worktree.unknown"):
        remove(site, "../x")
