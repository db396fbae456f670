"""Check trees with real git: warm between runs, right after every death, and nobody's place to work."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lineclear.wiring import doctor, setup
from lineclear.wiring.checks import check_runner, check_trees, repo_at
from lineclear.wiring.gc import cleanup_in
from lineclear.wiring.mirroring import live_trees
from lineclear.wiring.ports import check_ports
from lineclear.wiring.worktrees import worktrees_in
from tests.checking import SAM, Range, is_clean, kill, open_range
from tests.repository import TemporaryRepo
from tests.waiting import is_alive, until, until_there
from tests.world import refused


@pytest.fixture
def checks(repo: TemporaryRepo) -> Iterator[Range]:
    repo.commit("Base", {"a.txt": "main\n", ".gitignore": "build/\n.env\n*.made\n"})
    with open_range(repo) as found:
        yield found


# -- the commit -------------------------------------------------------------------------------


def test_a_candidate_is_checked_in_a_tree_of_its_own_that_is_on_no_branch(checks: Range) -> None:
    commit = checks.candidate({"a.txt": "candidate\n"})
    assert checks.tail(commit, "cat a.txt; pwd") == f"candidate\n{checks.first}"
    assert is_clean(checks.git, checks.first, commit)
    assert checks.git.git("branch", "--show-current", at=checks.first) == ""
    assert (checks.path / "a.txt").read_text() == "main\n"


def test_a_warm_tree_keeps_what_git_ignores_and_nothing_else_of_the_last_candidate(checks: Range) -> None:
    one = checks.candidate({"a.txt": "one\n", "only/one.txt": "1\n"})
    leave = "mkdir build sub && echo warm > build/cache && touch sub/left left && echo x >> a.txt"
    leave += " && git init -q nested"
    assert checks.run(one, leave)[0].is_green
    two = checks.candidate({"b.txt": "two\n"})
    assert checks.tail(two, "cat build/cache && ls") == "warm\nREADME.md\na.txt\nb.txt\nbuild"
    assert is_clean(checks.git, checks.first, two)


def test_a_check_that_moved_the_tree_to_a_branch_moves_no_branch_with_it(checks: Range) -> None:
    one = checks.candidate({"a.txt": "one\n"})
    checks.run(one, "git checkout -q -b mine && git commit -q --allow-empty -m mine")
    mine = checks.git.git("rev-parse", "mine")
    two = checks.candidate({"a.txt": "two\n"})
    assert checks.tail(two, "cat a.txt") == "two"
    assert checks.git.git("rev-parse", "mine") == mine


def test_hooks_of_the_repository_are_not_run(checks: Range) -> None:
    hooks = {"hooks/post-checkout": "#!/bin/sh\ntouch ../../hook-ran\n"}
    commit = checks.candidate(hooks)
    checks.git.git("config", "core.hooksPath", "hooks")
    one = checks.candidate({**hooks, "c": ""})
    for each in (commit, one, commit):
        assert checks.run(each, "chmod +x hooks/post-checkout")[0].is_green
    assert not (checks.beside / "hook-ran").exists()
    assert not (checks.beside / ".checks/hook-ran").exists()


def git_dir_of(tree: Path) -> Path:
    return Path((tree / ".git").read_text().removeprefix("gitdir: ").strip())


def _without_directory(tree: Path) -> None:
    shutil.rmtree(tree)


def _without_link(tree: Path) -> None:
    (tree / ".git").unlink()


def _with_locks(tree: Path) -> None:
    git_dir = git_dir_of(tree)
    (git_dir / "index.lock").write_text("")
    (git_dir / "HEAD.lock").write_text("")


def _with_broken_index(tree: Path) -> None:
    git_dir = git_dir_of(tree)
    (git_dir / "index").write_text("no index")


def _with_broken_head(tree: Path) -> None:
    git_dir = git_dir_of(tree)
    (git_dir / "HEAD").write_text("")


def _half_made(tree: Path) -> None:
    git_dir = git_dir_of(tree)
    (git_dir / "locked").write_text("initializing")
    (git_dir / "index").unlink()
    (tree / "a.txt").unlink()


def _without_entry(tree: Path) -> None:
    shutil.rmtree(git_dir_of(tree))


def _as_a_file(tree: Path) -> None:
    shutil.rmtree(tree)
    tree.write_text("in the way")


@pytest.mark.parametrize(
    "damage",
    [
        _without_directory, _without_link, _with_locks, _with_broken_index, _with_broken_head, _half_made,
        _without_entry, _as_a_file,
    ],
)  # fmt: skip
def test_a_tree_that_was_left_broken_is_right_again(checks: Range, damage: Callable[[Path], None]) -> None:
    checks.run(checks.candidate({"a.txt": "one\n", "x.txt": ""}), "touch left")
    damage(checks.first)
    commit = checks.candidate({"a.txt": "two\n"})
    assert checks.tail(commit, "cat a.txt && ls") == "two\nREADME.md\na.txt"
    assert is_clean(checks.git, checks.first, commit)
    assert len(checks.git.git("worktree", "list").splitlines()) == 2


def test_a_warm_tree_is_not_thrown_away_for_a_commit_that_is_not_there(checks: Range) -> None:
    checks.run(checks.candidate({}), "mkdir build")
    with refused("commit.unknown"):
        checks.run("1" * 40, "true")
    assert (checks.first / "build").exists()


# -- processes --------------------------------------------------------------------------------


def test_two_processes_have_two_trees_and_no_port_in_common(checks: Range) -> None:
    commit = checks.candidate({})
    go_on = checks.path.parent / "go-on"
    command = (
        f'echo "$LINECLEAR_PORTS" > ../$(basename $PWD).ports; until test -e {go_on}; do sleep 0.02; done'
    )
    first, second = checks.start(commit, command), checks.start(commit, command)
    try:
        written = [checks.first.parent / f"check-{number}.ports" for number in (1, 2)]
        until(lambda: all(path.exists() and path.read_text().strip() for path in written))
    finally:
        go_on.touch()
    out = sorted(str(child.communicate()[0]).strip() for child in (first, second))
    assert out == ["check-1 0", "check-2 0"]
    ranges = [path.read_text().strip().split("-") for path in written]
    ports = [set(range(int(low), int(high) + 1)) for low, high in ranges]
    assert len(ports[0]) == len(ports[1]) == 10
    assert not ports[0] & ports[1]


def test_whoever_finds_all_trees_taken_waits_until_one_is_free(checks: Range) -> None:
    held = check_trees(checks.repo).hold_any(1)
    assert held is not None
    child = checks.start(checks.candidate({}), "true", count=1)
    with pytest.raises(Exception, match="timed out"):
        child.communicate(timeout=0.7)
    held.release()
    assert child.communicate(timeout=60)[0] == "check-1 0\n"


def test_who_waits_for_a_tree_can_be_called_off(checks: Range) -> None:
    trees, cancel = check_trees(checks.repo), threading.Event()
    with trees.hold_any(1) or pytest.fail("it is free"):
        found: list[object] = []
        waiting = threading.Thread(target=lambda: found.append(trees.hold_any(1, cancel)))
        waiting.start()
        cancel.set()
        waiting.join(60)
    assert found == [None]


def test_after_a_kill_in_a_check_the_next_run_is_alone_in_the_tree_and_right(checks: Range) -> None:
    commit = checks.candidate({"a.txt": "one\n"})
    pid_file = checks.path.parent / "pid"
    writes = f"setsid sh -c 'echo $$ > {pid_file}; while :; do date > a.txt; sleep 0.01; done'"
    child = checks.start(commit, f"touch left; rm -f README.md; {writes}")
    until_there(pid_file)
    until(lambda: pid_file.read_text().strip() != "")
    kill(child)
    assert is_alive(int(pid_file.read_text()))
    other = checks.candidate({"a.txt": "two\n"})
    assert checks.tail(other, "cat a.txt; ls") == "two\nREADME.md\na.txt"
    assert not is_alive(int(pid_file.read_text()))
    assert is_clean(checks.git, checks.first, other)


@pytest.mark.parametrize("is_warm", [False, True])
def test_after_a_kill_in_the_middle_of_a_checkout_the_next_run_is_right(checks: Range, is_warm: bool) -> None:
    begun = checks.path.parent / "begun"
    if is_warm:
        checks.run(checks.candidate({"a.txt": "before\n"}), "mkdir build")
    files = {".gitattributes": "*.slow filter=slow\n", "a.txt": "new\n", "z.slow": "z\n", "zz.txt": "zz\n"}
    commit = checks.candidate(files)
    checks.git.git("config", "filter.slow.smudge", f"echo x > {begun}; sleep 600")
    child = checks.start(commit, "true")
    until_there(begun)
    kill(child, with_all=True)  # git with it, in the middle of its work
    checks.git.git("config", "filter.slow.smudge", "cat")
    until(lambda: not checks.repo.bonds.is_held("check-1"))
    assert checks.tail(commit, "cat a.txt z.slow zz.txt") == "new\nz\nzz"
    assert is_clean(checks.git, checks.first, commit)
    assert (checks.first / "build").exists() == is_warm


def test_git_that_outlives_us_keeps_the_tree_until_it_is_done(checks: Range) -> None:
    begun, go_on = checks.path.parent / "begun", checks.path.parent / "go-on"
    commit = checks.candidate({".gitattributes": "*.slow filter=slow\n", "z.slow": "z\n"})
    wait = f"echo x > {begun}; until test -e {go_on}; do sleep 0.02; done; cat"
    checks.git.git("config", "filter.slow.smudge", wait)
    child = checks.start(commit, "true")
    until_there(begun)
    kill(child)
    try:
        assert check_trees(checks.repo).hold("check-1") is None
    finally:
        go_on.touch()
    until(lambda: not checks.repo.bonds.is_held("check-1"))
    assert checks.tail(commit, "cat z.slow") == "z"


# -- ports ------------------------------------------------------------------------------------


def test_an_agent_and_a_check_tree_never_get_the_same_ports(checks: Range) -> None:
    checks.state("[worktrees]\nports_from = 43000\nports_to = 43100\n")
    before = worktrees_in(checks.repo).make(SAM, name="ada")
    low, high = checks.tail(checks.candidate({}), "echo $LINECLEAR_PORTS").split("-")
    after = worktrees_in(checks.repo).make(SAM, name="ben")
    ours = set(range(int(low), int(high) + 1))
    assert len(ours | set(before.ports) | set(after.ports)) == 30


def test_ports_stay_with_a_tree_as_long_as_they_are_free(checks: Range) -> None:
    commit = checks.candidate({})
    first = checks.tail(commit, "echo $PORT $LINECLEAR_PORT")
    assert checks.tail(commit, "echo $PORT $LINECLEAR_PORT") == first
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(first.split()[0]) + 3))
        taken.listen()
        other = checks.tail(commit, "echo $PORT $LINECLEAR_PORT")
    begin = int(other.split()[0])
    assert int(first.split()[0]) + 3 not in range(begin, begin + 10)


def test_ports_of_an_agent_that_came_first_after_all_are_given_up(checks: Range) -> None:
    commit = checks.candidate({})
    first = int(checks.tail(commit, "echo $PORT"))
    record = checks.path / ".git/lineclear/checks/ports"
    text = record.read_text()
    record.write_text("")
    checks.state(f"[worktrees]\nports_from = {first}\n")
    ada = worktrees_in(checks.repo).make(SAM, name="ada")
    record.write_text(text)
    assert first in ada.ports
    assert int(checks.tail(commit, "echo $PORT")) not in ada.ports


# -- nobody's place ---------------------------------------------------------------------------


def test_a_check_tree_is_no_agents_place(checks: Range) -> None:
    checks.run(checks.candidate({}), "true")
    assert worktrees_in(checks.repo).overview() == []
    with refused("checks.not_a_workplace"):
        worktrees_in(checks.repo).adopt(SAM, str(checks.first))
    with refused("checks.not_a_workplace"):
        worktrees_in(checks.repo).remove(SAM, "check-1", force=True)
    told = doctor.examine(str(checks.path), checks.environment, fix=False)
    assert not any("check-1" in finding["text"] for finding in told)
    assert [tree.path for tree in live_trees(checks.repo)] == [str(checks.path)]
    assert setup.clone_of(checks.repo.layout, checks.environment).roots == [str(checks.path)]
    assert checks.first.exists()


def test_an_agent_that_is_called_like_a_check_tree_has_its_own_worktree(checks: Range) -> None:
    place = worktrees_in(checks.repo).make(SAM, name="check-1", agent="check-1")
    checks.run(checks.candidate({}), "true")
    assert Path(place.path) == checks.beside / "check-1"
    assert [row["name"] for row in worktrees_in(checks.repo).overview()] == ["check-1"]
    assert checks.first.exists()


def test_gc_lets_check_trees_go_when_told_or_when_there_are_no_checks(checks: Range) -> None:
    checks.state('[checks]\ngate = "true"\n')
    checks.run(checks.candidate({}), "mkdir -p build")
    kept = cleanup_in(checks.repo).plan()
    assert [(item.kind, item.key) for item in kept.kept] == [("check tree", str(checks.first))]
    assert kept.removals == []
    told = cleanup_in(checks.repo).plan(checks=True)
    assert [(item.kind, item.key) for item in told.removals] == [("check tree", str(checks.first))]
    port = int(checks.tail(checks.candidate({}), "echo $PORT"))
    assert not check_ports(checks.repo).free_for_agents()(port)
    with check_trees(checks.repo).hold("check-1") or pytest.fail("it is free"):
        assert [item.why for item in cleanup_in(checks.repo).apply(SAM, told).kept] == ["a check runs in it"]
    checks.state("")
    gone = cleanup_in(checks.repo).apply(SAM, cleanup_in(checks.repo).plan())
    assert [item.key for item in gone.removals if item.kind == "check tree"] == [str(checks.first)]
    assert not (checks.beside / ".checks").exists()
    assert len(checks.git.git("worktree", "list").splitlines()) == 1
    assert check_ports(checks.repo).free_for_agents()(port)


# -- provisioning -----------------------------------------------------------------------------


def test_ignored_files_are_brought_and_follow_the_main_worktree(checks: Range) -> None:
    env = checks.path / ".env"
    env.write_text("A=1\n")
    commit = checks.candidate({})
    assert checks.tail(commit, "cat .env; echo B=2 >> .env") == "A=1"
    assert checks.tail(commit, "cat .env") == "A=1"
    env.write_text("A=3\n")
    assert checks.tail(commit, "cat .env") == "A=3"
    env.unlink()
    assert checks.tail(commit, "ls -A") == ".git\n.gitignore\nREADME.md\na.txt"


def test_a_link_that_is_not_asked_for_any_more_is_gone(checks: Range) -> None:
    (checks.path / "build").mkdir()
    (checks.path / "build/shared").write_text("precious")
    checks.state('[worktrees]\nlink = ["build"]\n')
    commit = checks.candidate({})
    assert checks.tail(commit, "test -L build && cat build/shared") == "precious"
    checks.state("")
    assert checks.run(commit, "test ! -e build && mkdir build")[0].is_green
    checks.state('[worktrees]\ncopy = ["build"]\n')
    assert checks.tail(commit, "test ! -L build && cat build/shared && rm build/shared") == "precious"
    assert (checks.path / "build/shared").read_text() == "precious"


def test_a_candidate_that_tracks_such_a_file_is_checked_with_its_own(checks: Range) -> None:
    (checks.path / ".env").write_text("A=1\n")
    assert checks.tail(checks.candidate({}), "cat .env") == "A=1"
    kept = (checks.path / ".env").read_text()
    commit = checks.candidate({".env": "tracked\n"})
    (checks.path / ".env").write_text(kept)
    assert checks.tail(commit, "cat .env") == "tracked"


def test_nothing_is_removed_through_a_link_that_a_candidate_brings(checks: Range) -> None:
    outside = checks.path.parent / "outside"
    outside.mkdir()
    (outside / "precious.made").write_text("precious")
    (checks.path / "dir").mkdir()
    (checks.path / "dir/precious.made").write_text("1")
    checks.state('[worktrees]\ncopy = ["dir/*.made"]\n')
    checks.run(checks.candidate({}), "true")
    checks.git.git("checkout", "--quiet", "--detach")
    shutil.rmtree(checks.path / "dir")
    (checks.path / "dir").symlink_to(outside)
    checks.git.git("add", "dir")
    checks.git.git("commit", "--quiet", "--message=Link")
    commit = checks.git.git("rev-parse", "HEAD")
    checks.git.git("checkout", "--quiet", "main")
    (checks.path / "dir").mkdir()
    (checks.path / "dir/precious.made").write_text("2")
    checks.run(commit, "true")
    assert (outside / "precious.made").read_text() == "precious"


def test_the_digest_of_the_provisioning_changes_with_all_that_it_brings(checks: Range) -> None:
    seen = {check_trees(checks.repo).provisioning_digest()}
    (checks.path / ".env").write_text("A=1\n")
    seen.add(check_trees(checks.repo).provisioning_digest())
    (checks.path / ".env").write_text("A=2\n")
    seen.add(check_trees(checks.repo).provisioning_digest())
    for text in ('setup = ["true"]', 'setup = ["true", "false"]', 'env = { A = "1" }', 'env = { A = "2" }'):
        checks.state(f"[worktrees]\n{text}\n")
        seen.add(check_trees(checks.repo).provisioning_digest())
    assert len(seen) == 7
    assert check_runner(repo_at(checks.repo, "main")).provisioning() in seen
