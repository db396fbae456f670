"""One bad agent beside a good one: what goes wrong is noticed, named and contained, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lineclear.core.log.tables import Run
from tests.e2e.crew import Crew, Shift
from tests.repository import TemporaryRepo

BAD, GOOD = 1, 2
GOOD_WORK = "mark good; await go; commit good.txt good"
# What the bad one leaves uncommitted before it goes wrong.
HALF = "echo half >half.txt; await good"
LOOPS = """
for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    echo '{"type":"call","id":"'$number'","tool":"bash","input":{"command":"make test"}}'
    echo '{"type":"done","id":"'$number'","ok":false,"output":"error: no rule"}'
done
await never
"""


def use(tokens: int, cost: str = "0.01") -> str:
    said = f'{{"type":"usage","tokens_in":{tokens},"tokens_out":1,"cost_usd":{cost}}}'
    return f"echo '{said}'; await never"


# Enough for a busy machine to start an agent that writes a file.
SOON = "4s"
# name: (how it ends, what the reason says, script, settings of the worker or variables)
Settings = dict[str, str | int]
Case = tuple[str, str, str, Settings]
STREAM: Settings = {"client": "lineclear"}
CASES: dict[str, Case] = {
    "kills itself": ("crashed", "SIGKILL", "kill -9 $$", {}),
    "breaks": ("crashed", "SIGSEGV", "kill -SEGV $$", {}),
    "ends with an error": ("failed", "exit code 7", "exit 7", {}),
    "says that it failed": (
        "failed", "too hard", """echo '{"type":"end","ok":false,"error":"too hard"}'""", STREAM
    ),
    "takes all memory": (
        "memory", "memory", "python3 -c 'import time; a = b\"x\" * (200 << 20); time.sleep(99)'",
        {"run_memory": "100MiB"},
    ),
    "goes round in circles": ("looped", "make test", LOOPS, STREAM),
    "takes too long": ("budget", "time", "await never", {"run_time": SOON}),
    "uses too many tokens": (
        "budget", "tokens", use(5_000), STREAM | {"run_tokens": 1000}
    ),
    "costs too much": (
        "budget", "$2.50", use(5, "2.5"), STREAM | {"run_money": "1.00"}
    ),
    "floods its output": (
        "disk", "output grew", "yes 'all work and no play'", {"LINECLEAR_RUN_LOG_SIZE": "64KiB"}
    ),
    "deletes its own worktree": (
        "strayed", "worktree", 'await saved; rm -rf "$PWD"; cd /; await never', {}
    ),
    "deletes its own worktree and ends": (
        "strayed", "worktree", 'await saved; rm -rf "$PWD"; cd /; exit 0', {}
    ),
    "ignores SIGTERM": (
        "budget", "time", "trap '' TERM INT HUP; while :; do sleep 1; done",
        {"run_time": SOON},
    ),
}  # fmt: skip


@pytest.fixture
def pair(crew: Crew) -> Iterator[Crew]:
    """A bad task and a good one, which is at work for as long as the bad one is."""
    assert crew.task("The bad one", "--needs", "bad") == BAD
    assert crew.task("The good one", "--needs", "good") == GOOD
    yield crew
    assert crew.processes() == []


def start(pair: Crew, bad: str, settings: Settings | None = None, *, good: str = GOOD_WORK) -> Shift:
    """A worker of its own for each: what is set for the bad one alone is no matter of the good one."""
    settings = settings or {}
    variables = {name: str(value) for name, value in settings.items() if name.isupper()}
    own = {name: value for name, value in settings.items() if not name.isupper()}
    command = pair.script(T1=f"{HALF}\n{bad}", T2=good)
    pair.write_workers(
        bad={"client": "plain", "command": command, **own}, good={"client": "plain", "command": command}
    )
    return pair.run(command=[], env=variables)


def finish(pair: Crew, shift: Shift, how: str, words: str) -> Run:
    """The bad one has failed, the good one finishes as if nothing had been; the bad one's run."""
    pair.until(lambda: pair.row(BAD).state == "failed", shift)
    pair.mark("go")
    assert shift.code() == 1, shift.said
    [run] = pair.runs(BAD)
    assert (run.how, words in run.reason) == (how, True), (run.how, run.reason)
    assert pair.row(BAD).reason == f"given up after 1 attempt: {run.how}: {run.reason}"
    assert_undisturbed(pair)
    return run


def assert_undisturbed(pair: Crew) -> None:
    assert pair.ends(GOOD) == ["done"]
    assert pair.row(GOOD).state == "merged"
    assert pair.on_main("good.txt") == "good"
    assert pair.on_main("half.txt") is None
    assert pair.processes() == []
    assert pair.findings() == []


@pytest.mark.parametrize("name", CASES)
def test_an_agent_that(name: str, pair: Crew) -> None:
    how, words, script, settings = CASES[name]
    shift = start(pair, script, settings)
    if "await saved" in script:
        pair.until(lambda: "half.txt" in kept_files(pair), shift)
        pair.mark("saved")
    run = finish(pair, shift, how, words)
    assert pair.rescued(run.snapshot, "half.txt") == "half"


def kept_files(pair: Crew) -> str:
    refs = pair.git.git("for-each-ref", "--format=%(objectname)", "refs/lineclear/snapshots").split()
    return "\n".join(pair.git.git("ls-tree", "-r", "--name-only", ref) for ref in refs)


@pytest.mark.slow
def test_an_agent_that_does_nothing_more_is_hung(pair: Crew) -> None:
    shift = start(pair, "exec sleep 600", {"LINECLEAR_RUN_SILENCE": "10s"})
    run = finish(pair, shift, "hung", "for too long: 10 s")
    assert pair.rescued(run.snapshot, "half.txt") == "half"


@pytest.mark.parametrize(
    ("code", "how"), [(75, "limited"), (77, "login")], ids=["a rate limit", "an expired login"]
)
def test_what_is_not_the_agents_fault_waits_and_is_no_attempt(pair: Crew, code: int, how: str) -> None:
    shift = start(pair, f"exit {code}")
    pair.until(lambda: how in pair.ends(BAD), shift)
    pair.until(lambda: "retrying in 30 s" in shift.said, shift)
    pair.mark("go")
    pair.until(lambda: pair.row(GOOD).state == "merged", shift)
    assert (pair.row(BAD).state, pair.row(BAD).attempt) == ("open", 0)
    assert ("needs you:" in shift.said) == (how == "login")
    shift.interrupt()
    assert shift.code() == 130, shift.said
    assert_undisturbed(pair)
    [run] = pair.runs(BAD)
    assert pair.rescued(run.snapshot, "half.txt") == "half"


def test_a_limit_that_says_when_it_ends_is_waited_for_that_long_and_the_work_goes_on(pair: Crew) -> None:
    limited = """echo '{"type":"limited","text":"busy","retry_after_s":1}'; exit 75"""
    again = "if [ -e $marks/limited ]; then git add -A; git commit -qm all; exit 0; fi; mark limited"
    shift = start(pair, f"{again}\n{limited}", STREAM)
    pair.until(lambda: pair.row(BAD).state == "merged", shift)
    pair.mark("go")
    assert shift.code() == 0, shift.said
    assert pair.ends(BAD) == ["limited", "done"]
    assert [run.attempt for run in pair.runs(BAD)] == [1, 1]
    assert pair.on_main("half.txt") == "half"
    assert "retrying in 1 s" in shift.said


def test_a_budget_in_money_without_a_price_refuses_to_start(crew: Crew) -> None:
    crew.task("Anything")
    env = {"LINECLEAR_BUDGETS_RUN_MONEY": "1.00"}
    answer = crew.ask("run", "--json", "--", *crew.script(T1="mark started"), env=env)
    assert answer.code == 9, answer
    assert not crew.is_marked("started")
    assert crew.runs(1) == []


def test_a_task_whose_budget_is_spent_is_not_begun_again(crew: Crew) -> None:
    crew.task("Dear", "--attempts", "3")
    bad = """echo '{"type":"usage","tokens_in":600,"tokens_out":1}'; exit 3"""
    env = {"LINECLEAR_BUDGETS_TASK_TOKENS": "500"}
    shift = crew.run("-n", "1", "--stream", "lineclear", command=crew.script(T1=bad), env=env)
    shift.code()
    assert crew.ends(1) == ["budget"] or crew.ends(1) == ["failed"], shift.said
    assert "cannot start" in shift.said
    assert crew.row(1).state == "open"


def test_a_program_that_is_not_installed_is_named_with_the_way_to_get_it(crew: Crew) -> None:
    crew.task("Anything", "--attempts", "1")
    shift = crew.run("-n", "1", command=["no-such-client", "--work"])
    assert shift.code() == 1, shift.said
    assert crew.ends(1) == ["missing"]
    assert crew.row(1).state == "open"  # the task cannot help it
    assert "no-such-client" in shift.said
    assert crew.findings() == []


def test_a_client_that_is_not_installed_tells_how_to_install_it(crew: Crew) -> None:
    crew.task("Anything", "--attempts", "1")
    path = crew.git.path.parent / "bin"
    path.mkdir()
    for program in ("git", "sh"):
        found = subprocess.run(["which", program], capture_output=True, text=True, check=True).stdout
        (path / program).symlink_to(found.strip())
    shift = crew.run("-n", "1", "--client", "codex", command=[], env={"PATH": str(path)})
    assert shift.code() == 1, shift.said
    assert crew.ends(1) == ["missing"]
    assert "npm install" in crew.runs(1)[0].reason


def test_garbage_instead_of_json_fails_and_is_said(pair: Crew) -> None:
    program = pair.git.path.parent / "codex"
    program.write_text(
        "#!/bin/sh\n"
        + Path(pair.script(T1=f"{HALF}\nhead -c 3000 /dev/urandom; exit 0", T2=GOOD_WORK)[1])
        .read_text()
        .replace("cat >/dev/null", "")
    )
    program.chmod(0o755)
    command = pair.script(T2=GOOD_WORK)
    pair.write_workers(bad={"client": "codex"}, good={"client": "plain", "command": command})
    env = {"PATH": f"{program.parent}:{pair.environ['PATH']}"}
    finish(pair, pair.run(command=[], env=env), "failed", "")


@pytest.mark.parametrize(
    "daemon",
    [
        "setsid sleep 9700 &",
        "nohup sleep 9700 >/dev/null 2>&1 &",
        "(setsid sh -c 'sleep 9700 & sleep 9701' >/dev/null 2>&1 &) &",
        "setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' &",
    ],
    ids=["setsid", "nohup", "forked twice", "one that ignores SIGTERM"],
)
def test_daemons_that_it_left_behind_are_stopped_and_its_work_lands(pair: Crew, daemon: str) -> None:
    shift = start(pair, f"rm half.txt\n{daemon}\ncommit bad.txt fine")
    pair.until(lambda: pair.row(BAD).state == "merged", shift)
    assert len(pair.processes()) <= 3  # of the good one: the noting shell, its own, a sleep
    pair.mark("go")
    assert shift.code() == 0, shift.said
    assert pair.on_main("bad.txt") == "fine"
    notes = [str(entry.body) for entry in pair.events("TaskNoted", BAD)]
    assert any("left behind" in note for note in notes), notes
    assert_undisturbed(pair)


def test_daemons_of_an_agent_that_is_stopped_are_stopped_with_it(pair: Crew) -> None:
    bad = "setsid sleep 9700 &\n(setsid sh -c 'sleep 9701' &) &\nawait never"
    shift = start(pair, bad, {"run_time": SOON})
    finish(pair, shift, "budget", "time")


COMMIT = "git add -A; git commit -qm half"
MAIN_MOVES = {
    "by plumbing, from its own worktree": f"{COMMIT}; git update-ref refs/heads/main HEAD",
    "by a fetch, from its own worktree": f"{COMMIT}; git fetch -qu . HEAD:main",
    "by a commit in the main tree": "cd {root}; echo x >stray.txt; git add stray.txt; git commit -qm stray",
    "by a reset in the main tree": f"{COMMIT}; git tag mine; cd {{root}}; git reset -q --hard mine",
}  # fmt: skip


@pytest.mark.parametrize("ends", ["and goes on", "and ends"])
@pytest.mark.parametrize("way", MAIN_MOVES)
def test_an_agent_that_moves_main_is_stopped_and_main_put_back(pair: Crew, way: str, ends: str) -> None:
    before = pair.git.git("rev-parse", "main")
    move = MAIN_MOVES[way].format(root=pair.git.path)
    last = "await never" if ends == "and goes on" else "exit 0"
    shift = start(pair, f"{move}\ngit rev-parse main >$marks/moved\n{last}")
    run = finish(pair, shift, "strayed", "moved main itself")
    moved = (pair.marks / "moved").read_text().strip()
    assert moved != before
    kept = pair.git.git("for-each-ref", "--contains", moved, "--format=%(refname)").split()
    assert kept, "the agent's commit is lost"
    assert "refs/heads/main" not in kept
    assert pair.git.git("status", "--porcelain") == ""
    assert run.snapshot


def test_an_agent_that_checks_out_another_branch_has_its_work_kept(pair: Crew) -> None:
    bad = f"git switch -q -c elsewhere; {COMMIT}; git switch -q --orphan nowhere; echo x >x.txt"
    run = finish(pair, start(pair, bad), "strayed", "nowhere")
    assert pair.git.git("show", "elsewhere:half.txt") == "half"
    assert pair.rescued(run.snapshot, "x.txt") == "x"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, where that can be had."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


RESERVE = {"LINECLEAR_WORKTREES_DISK_RESERVE": "40MiB"}


@contextmanager
def opened_on(disk: Path, repo: TemporaryRepo) -> Iterator[Crew]:
    crew = Crew(TemporaryRepo.create(disk / "repo", repo.environment))
    try:
        crew.task("The bad one", "--needs", "bad")
        crew.task("The good one", "--needs", "good", "--attempts", "3")
        yield crew
    finally:
        crew.close()


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs is Linux's")
def test_who_fills_the_disk_is_stopped_and_the_other_one_lands(
    small_disk: Path, repo: TemporaryRepo
) -> None:  # fmt: skip
    with opened_on(small_disk, repo) as crew:
        shift = start(crew, "head -c 57000000 /dev/zero >big.bin; await never", {**RESERVE})
        run = finish(crew, shift, "disk", "MiB of disk space are left")
        assert crew.rescued(run.snapshot, "half.txt") == "half"


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs is Linux's")
def test_after_a_disk_was_full_the_next_run_puts_everything_right(
    small_disk: Path, repo: TemporaryRepo
) -> None:  # fmt: skip
    with opened_on(small_disk, repo) as crew:
        shift = start(crew, "cat /dev/zero >big.bin; mark full; await never", {**RESERVE})
        crew.until_marked("full", shift)
        crew.until(lambda: b"cat" not in b"".join(map(command_of, crew.processes())))
        crew.mark("go")
        shift.code()
        assert crew.processes() == []
        (crew.tree_of("bad-1") / "big.bin").unlink(missing_ok=True)
        second = crew.run(command=[], env=dict(RESERVE))
        second.code()
        assert crew.row(GOOD).state == "merged", second.said
        assert crew.on_main("good.txt") == "good"
        assert crew.findings() == []


def test_the_next_attempt_is_told_why_the_last_one_stopped(crew: Crew) -> None:
    crew.task("Hard", "--attempts", "2")
    second = "cp $LINECLEAR_PROMPT $marks/prompt; commit a.txt a"
    bad = f"if [ -e $marks/first ]; then {second}; else mark first; exit 7; fi"
    crew.run_whole("-n", "1", command=crew.script(T1=bad))
    assert crew.ends(1) == ["failed", "done"]
    assert "exit code 7" in (crew.marks / "prompt").read_text()
    assert crew.on_main("a.txt") == "a"


def test_what_a_failed_attempt_had_committed_can_be_had_back(crew: Crew) -> None:
    crew.task("Hard", "--attempts", "2")
    bad = "if [ -e $marks/first ]; then commit b.txt b; else mark first; commit a.txt a; kill -9 $$; fi"
    crew.run_whole("-n", "1", command=crew.script(T1=bad))
    assert crew.ends(1) == ["crashed", "done"]
    assert crew.rescued(crew.runs(1)[0].snapshot, "a.txt") == "a"
