"""Checks run for real: trusted, in time, told with their output, and set up exactly when that is needed."""

from __future__ import annotations

import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.core.queue.checks import OUT_OF_TIME
from lineclear.host import sandbox
from lineclear.host.logs import new_log
from lineclear.settings.stated_checks import full_check, has_checks
from lineclear.wiring.checks import check_runner, repo_at
from tests.checking import Range, check, open_range
from tests.repository import TemporaryRepo
from tests.waiting import is_alive, until_there
from tests.world import refused

CALLER = {
    "LINECLEAR_AGENT": "ada",
    "LINECLEAR_TOKEN": "token-of-ada",
    "LINECLEAR_RUN": "7-abc",
    "LINECLEAR_TASK": "T-1",
    "API_TOKEN": "s3cr3t-value",
}


@pytest.fixture
def checks(repo: TemporaryRepo) -> Iterator[Range]:
    repo.commit("Base", {"a.txt": "main\n", ".gitignore": "build/\n.env\n*.made\n"})
    with open_range(repo, environment=CALLER) as found:
        yield found


def call_off_when(path: Path, cancel: threading.Event) -> threading.Thread:
    def wait() -> None:
        until_there(path)
        cancel.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    return waiting


# -- how it ends ------------------------------------------------------------------------------


def test_the_first_red_check_ends_the_level(checks: Range) -> None:
    ended = checks.run(checks.candidate({}), "echo one", "echo two; exit 3", "touch build-three; false")
    assert [(one.command, one.is_green, one.code) for one in ended] == [
        ("echo one", True, 0),
        ("echo two; exit 3", False, 3),
    ]
    assert ended[1].words == (
        "The check `echo two; exit 3` failed with exit code 3. Its last lines:\n| two\n"
    )
    assert ended[0].words == ""


def test_a_check_finds_its_place_and_not_who_called(checks: Range) -> None:
    line = checks.tail(
        checks.candidate({}),
        'echo "$LINECLEAR_CHECK $LINECLEAR_CHECK_TREE $LINECLEAR_WORKTREE $PWD"; env | grep -c ^PATH=;'
        "env | grep -E '^(LINECLEAR_(AGENT|TOKEN|RUN|TASK|GATE)|GIT_(DIR|INDEX_FILE))='; cat; exit 0",
    )
    assert line == f"1 {checks.first} {checks.first} {checks.first}\n1"


def test_a_caller_that_git_had_bound_elsewhere_binds_no_check(checks: Range) -> None:
    commit = checks.candidate({"a.txt": "candidate\n"})
    checks.environment |= {"GIT_DIR": str(checks.path / ".git"), "GIT_INDEX_FILE": "/nowhere"}
    checks.open_again()
    assert checks.tail(commit, "git rev-parse HEAD") == commit


def test_more_variables_can_be_given(checks: Range) -> None:
    (ended,) = checks.run(checks.candidate({}), "echo $LINECLEAR_SHARD", env={"LINECLEAR_SHARD": "2"})
    assert ended.tail == "2\n"


def test_what_takes_too_long_is_ended_with_all_it_started(checks: Range) -> None:
    pids = checks.path.parent / "pids"
    command = f"sleep 600 & echo $! >> {pids}; setsid sleep 600 & echo $! >> {pids}; trap '' TERM; wait"
    (ended,) = checks.run(checks.candidate({}), check(command, timeout_ms=4_000))
    assert (ended.code, ended.is_green) == (OUT_OF_TIME, False)
    assert "did not finish within 4 s" in ended.words
    assert [is_alive(int(pid)) for pid in pids.read_text().split()] == [False, False]


def test_a_check_that_is_called_off_ends_at_once_and_tells_nothing(checks: Range) -> None:
    begun, cancel = checks.path.parent / "begun", threading.Event()
    commit = checks.candidate({})
    checks.run(commit, "true")
    waiting = call_off_when(begun, cancel)
    started = time.monotonic()
    ended = checks.run(commit, "true", f"echo $$ > {begun}; sleep 600", "true", cancel=cancel)
    waiting.join()
    assert ended == []
    assert time.monotonic() - started < 60
    assert not is_alive(int(begun.read_text()))


def test_nothing_begins_after_it_was_called_off(checks: Range) -> None:
    cancel = threading.Event()
    cancel.set()
    assert checks.run(checks.candidate({}), "true", cancel=cancel) == []
    assert not checks.first.exists()


# -- flaky ------------------------------------------------------------------------------------


def test_a_check_that_fails_first_and_then_passes_is_green_and_flaky(checks: Range) -> None:
    fail = "mkdir -p build; touch build/once left; echo x > a.txt; exit 1"
    once = f"test -e build/once || {{ {fail}; }}; cat a.txt; ls"
    (ended,) = checks.run(checks.candidate({}), check(once, retries=2))
    assert (ended.is_green, ended.is_flaky, ended.tries) == (True, True, 2)
    # What the failed try left behind is gone, but for what git ignores.
    assert ended.tail == "main\nREADME.md\na.txt\nbuild\n"


def test_a_check_that_always_fails_is_tried_so_often_and_red(checks: Range) -> None:
    counter = checks.path.parent / "count"
    (ended,) = checks.run(checks.candidate({}), check(f"echo x >> {counter}; exit 1", retries=2))
    assert (ended.is_green, ended.is_flaky, ended.tries) == (False, False, 3)
    assert counter.read_text() == "x\n" * 3
    assert "3 times in a row" in ended.words


def test_a_check_that_passes_at_once_is_run_once(checks: Range) -> None:
    (ended,) = checks.run(checks.candidate({}), check("true", retries=5))
    assert (ended.is_flaky, ended.tries) == (False, 1)


# -- logs -------------------------------------------------------------------------------------


def test_the_whole_output_is_in_a_log_for_this_user_alone(checks: Range) -> None:
    (ended,) = checks.run(checks.candidate({}), "echo out; echo err >&2")
    log = Path(ended.log)
    assert log.parent == checks.path / ".git/lineclear/checks"
    assert log.read_text() == "out\nerr\n"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_flood_is_cut_in_the_middle(checks: Range) -> None:
    (ended,) = checks.run(
        checks.candidate({}), "echo begin; head -c 9000000 /dev/zero | tr '\\0' x; echo end"
    )
    data = Path(ended.log).read_bytes()
    assert len(data) < 2 * 1024 * 1024 + 100
    assert data.startswith(b"begin\nxxx")
    assert data.endswith(b"xxxend\n")
    left_out = 9_000_010 - 2 * 1024 * 1024
    assert f"\n[... {left_out} bytes left out ...]\n".encode() in data


def test_only_so_many_logs_are_kept(tmp_path: Path) -> None:
    for number in range(1, 8):
        with new_log(str(tmp_path), most_files=3) as log:
            assert Path(log.path).name == f"{number}.log"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["5.log", "6.log", "7.log"]


def test_secrets_of_the_environment_and_of_copied_files_are_not_told(checks: Range) -> None:
    (checks.path / ".env").write_text("export DB_PASSWORD='hunter2hunter2'\nNAME=visible-name\n")
    commit = checks.candidate({})
    (ended,) = checks.run(commit, "cat .env; echo $API_TOKEN; false")
    for text in (ended.words, ended.tail):
        assert "hunter2" not in text
        assert "s3cr3t" not in text
        assert "visible-name" in text


# -- set-up -----------------------------------------------------------------------------------


def counted(checks: Range, commit: str) -> int:
    """How often the set-up has run in all, after one more run of a check."""
    counter = checks.path.parent / "count"
    (ended,) = checks.run(commit, "test -e build/ready")
    assert ended.is_green, ended.words
    return len(counter.read_text().splitlines())


def test_a_set_up_runs_again_exactly_when_something_it_depends_on_has_changed(checks: Range) -> None:
    counter = checks.path.parent / "count"
    setup = f"mkdir -p build; touch build/ready; echo x >> {counter}"
    checks.state(f'[worktrees]\nsetup = ["{setup}"]\n')
    plain = checks.candidate({})
    assert counted(checks, plain) == 1
    assert counted(checks, plain) == 1
    assert counted(checks, checks.candidate({"a.txt": "other\n", "clock.py": ""})) == 1
    locked = checks.candidate({"web/package-lock.json": "{}\n"})
    assert counted(checks, locked) == 2
    assert counted(checks, locked) == 2
    assert counted(checks, plain) == 3
    (checks.path / ".env").write_text("A=1\n")
    assert counted(checks, plain) == 4
    (checks.path / ".env").write_text("A=2\n")
    assert counted(checks, plain) == 5
    assert counted(checks, plain) == 5
    checks.state(f'[worktrees]\nsetup = ["{setup}", "true"]\n')
    assert counted(checks, plain) == 6
    checks.state(f'[worktrees]\nsetup = ["{setup}", "true"]\nenv = {{ A = "1" }}\n')
    assert counted(checks, plain) == 7
    assert counted(checks, plain) == 7


def test_a_set_up_that_failed_is_told_as_a_red_check_and_runs_again(checks: Range) -> None:
    go = checks.path.parent / "go"
    checks.state(
        f'[worktrees]\nsetup = ["mkdir -p build", "test -e {go} || {{ echo no network; exit 7; }}"]\n'
    )
    commit = checks.candidate({})
    (ended,) = checks.run(commit, "touch build/ran")
    assert (ended.is_set_up, ended.is_green, ended.code) == (True, False, 7)
    assert "| no network" in ended.words
    assert not (checks.first / "build/ran").exists()
    go.touch()
    (ended,) = checks.run(commit, "touch build/ran")
    assert (ended.is_set_up, ended.is_green) == (False, True)


def test_a_set_up_whose_result_git_would_clean_away_runs_every_time(checks: Range) -> None:
    checks.state('[worktrees]\nsetup = ["cp a.txt config.txt"]\n')
    commit = checks.candidate({})
    for _ in range(2):
        assert checks.tail(commit, "cat config.txt") == "main"


def test_a_set_up_that_was_ended_midway_counts_for_no_candidate(checks: Range) -> None:
    begun, cancel = checks.path.parent / "begun", threading.Event()
    slow = f"test ! -e package.json || {{ rm -f build/ready; echo x > {begun}; sleep 600; }}"
    checks.state(f'[worktrees]\nsetup = ["mkdir -p build; {slow}; touch build/ready"]\n')
    plain, slowly = checks.candidate({}), checks.candidate({"package.json": "{}\n"})
    assert checks.run(plain, "test -e build/ready")[0].is_green
    waiting = call_off_when(begun, cancel)
    assert checks.run(slowly, "true", cancel=cancel) == []
    waiting.join()
    assert checks.run(plain, "test -e build/ready")[0].is_green


# -- settings and trust -----------------------------------------------------------------------

TOML = """
[checks]
gate = "echo gate of main"
full = "echo all"
retries = 1

[[checks.paths]]
match = "web/"
command = "echo web of main"
retries = 3
"""


def test_the_settings_that_main_has_committed_count(checks: Range) -> None:
    before = checks.git.git("rev-parse", "main")
    checks.git.commit("Checks", {"lineclear.toml": TOML})
    candidate = checks.candidate({"lineclear.toml": '[checks]\ngate = "echo candidate"\n', "web/a": ""})
    (checks.path / "lineclear.toml").write_text('[checks]\ngate = "echo not committed"\n')
    checks.open_again()
    at_main = repo_at(checks.repo, "main")
    runner = check_runner(at_main)
    found = runner.checks(["web/a"])
    assert [(one.name, one.command, one.retries) for one in found] == [
        ("gate", "echo gate of main", 1),
        ("paths[0]", "echo web of main", 3),
    ]
    full = full_check(at_main.settings)
    assert full is not None
    assert full.command == "echo all"
    assert not has_checks(repo_at(checks.repo, before).settings)
    assert repo_at(checks.repo, candidate).settings.checks_gate == "echo candidate"


def test_this_clones_own_settings_and_variables_count_on_top(checks: Range) -> None:
    checks.git.commit("Checks", {"lineclear.toml": TOML})
    checks.state('[checks]\ngate = "echo mine"\n[[checks.paths]]\nmatch = "web/"\ncommand = "echo my web"\n')
    checks.environment["LINECLEAR_CHECKS_RETRIES"] = "4"
    for name in CALLER:  # an agent's variables would not count
        checks.environment.pop(name, None)
    checks.open_again()
    found = check_runner(repo_at(checks.repo, "main")).checks(["web/a"])
    assert [(one.command, one.retries, one.where) for one in found] == [
        ("echo mine", 4, "checks.gate"),
        ("echo web of main", 3, "checks.paths[0]"),
        ("echo my web", 4, ""),
    ]


def test_a_link_in_place_of_the_settings_is_refused(checks: Range) -> None:
    (checks.path / "lineclear.toml").symlink_to("/etc/passwd")
    checks.git.git("add", "lineclear.toml")
    checks.git.git("commit", "--quiet", "--message=Link")
    with refused("settings.unreadable"):
        repo_at(checks.repo, "main")


def test_settings_that_are_too_large_are_refused(checks: Range) -> None:
    checks.git.commit("Large", {"lineclear.toml": "# large\n" * 40_000})
    with refused("settings.size"):
        repo_at(checks.repo, "main")


def test_what_nobody_trusts_does_not_run_and_only_what_is_needed_is_asked_for(checks: Range) -> None:
    other = '[workers.x]\nclient = "codex"\ncommand = ["evil"]\n'
    checks.git.commit("Checks", {"lineclear.toml": TOML + other})
    checks.open_again()
    commit = checks.candidate({"web/a": ""})
    with refused("trust.missing") as refusal:
        checks.run(commit, *check_runner(repo_at(checks.repo, "main")).checks(["web/a"]))
    assert refusal.value.facts["where"] == ["checks.gate", "checks.paths[0].command"]
    with refused("trust.missing") as refusal:
        checks.run(commit, *check_runner(repo_at(checks.repo, "main")).checks(["b"]))
    assert refusal.value.facts["where"] == ["checks.gate"]
    assert not checks.first.exists()
    checks.trust_all()
    ended = checks.run(commit, *check_runner(repo_at(checks.repo, "main")).checks(["web/a"]))
    assert [one.tail for one in ended] == ["gate of main\n", "web of main\n"]


def test_what_a_candidate_runs_in_a_check_is_no_person(checks: Range) -> None:
    checks.git.commit("Checks", {"lineclear.toml": '[checks]\ngate = "evil"\n'})
    (ended,) = checks.run(checks.candidate({}), f"{sys.executable} -m lineclear trust")
    assert ended.code == 4
    assert "person" in ended.tail
    with refused("trust.missing"):
        checks.run(checks.candidate({}), *check_runner(repo_at(checks.repo, "main")).checks([]))


def test_set_up_commands_and_variables_of_the_committed_file_need_trust_too(checks: Range) -> None:
    text = '[worktrees]\nsetup = ["mkdir build"]\nenv = { A = "1" }\n'
    checks.git.commit("Set-up", {"lineclear.toml": text})
    commit = checks.candidate({})
    with refused("trust.missing") as refusal:
        checks.run(commit, "true")
    assert refusal.value.facts["where"] == ["worktrees.setup[0]", "worktrees.env.A"]
    checks.trust_all()
    assert checks.tail(commit, "ls -d build; echo $A") == "build\n1"


# -- sandbox ----------------------------------------------------------------------------------


@pytest.mark.skipif(bool(sandbox.why_unavailable()), reason="no sandbox can be made here")
def test_in_the_sandbox_a_check_writes_to_its_tree_only(checks: Range) -> None:
    outside = checks.path / "written-by-a-check"
    checks.state(f'[worktrees]\nsandbox = "bwrap"\nsetup = ["mkdir -p build; touch {outside} || true"]\n')
    commit = checks.candidate({})
    (ended,) = checks.run(commit, f"ls -d build; touch build/ok /tmp/x && ! touch {outside}")
    assert ended.is_green, ended.words
    assert not outside.exists()
    assert (checks.first / "build/ok").exists()
