"""The queue as it is typed: every verb in words, as JSON, and with bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo
from tests.waiting import until_there

GATE = '[checks]\ngate = "echo looking; test ! -f bad"\n'
Work = Callable[..., str]


@pytest.fixture
def work(repo: TemporaryRepo) -> Work:
    """A branch of this name with a file of this name, or with these files."""

    def make(branch: str, **files: str) -> str:
        repo.git("switch", "--quiet", "--create", branch, "main")
        repo.commit(f"Work on {branch}", files or {f"{branch}.txt": f"{branch}\n"})
        repo.git("switch", "--quiet", "main")
        return branch

    return make


@pytest.fixture
def gated(line: CommandLine, repo: TemporaryRepo) -> CommandLine:
    """A repository whose main asks for a check that everybody trusts."""
    repo.commit("Ask for a check", {"lineclear.toml": GATE})
    line.ok("trust")
    return line


def reviewed(line: CommandLine, who: str) -> None:
    (line.place / ".git" / "lineclear" / "local.toml").write_text(f'[queue]\nreview = "{who}"\n')


def order(line: CommandLine) -> list[str]:
    return [row["candidate"] for row in line.json("queue", "list")["candidates"]]


# -- submit -----------------------------------------------------------------------------------


def test_with_a_check_a_landing_is_handed_in_and_says_what_is_next(gated: CommandLine, work: Work) -> None:
    work("one")
    work("two")
    assert gated.ok("land", "one").out == (
        "one was submitted as Q-1.\nNext: run `lineclear queue run --once`.\n"
    )
    data = gated.json("land", "two")
    assert {name: data[name] for name in ("result", "candidate", "position", "waits_for", "next")} == {
        "result": "submitted",
        "candidate": "Q-2",
        "position": 2,
        "waits_for": "",
        "next": "lineclear queue run --once",
    }
    assert "two is queued as Q-2, behind 1 other." in gated.ok("land", "two").out


def test_who_waits_sees_it_land(gated: CommandLine, work: Work, repo: TemporaryRepo) -> None:
    work("one")
    answer = gated.ok("land", "one", "--wait")
    assert answer.out.startswith("one is on main as ")
    assert (repo.path / "one.txt").exists()


def test_who_waits_for_what_fails_gets_it_back_with_the_reason(gated: CommandLine, work: Work) -> None:
    work("wrong", bad="x\n")
    answer = gated.run("land", "wrong", "--wait")
    assert answer.code == 6
    assert "wrong: it fails the check, by itself" in answer.out
    assert "`lineclear queue show Q-1` shows all of it." in answer.out
    assert gated.run("land", "wrong", "--wait", "--json").data["result"] == "sent back"


def test_who_waits_in_vain_is_told_for_what(gated: CommandLine, work: Work) -> None:
    reviewed(gated, "person")
    work("one")
    answer = gated.run("land", "one", "--wait", "5s")  # enough for the check, on a busy machine as well
    assert answer.code == 8
    assert "It waits for a person's review.\nNext: run `lineclear queue show Q-1 --diff`." in answer.out
    assert gated.run("land", "one", "--wait", "1s", "--json").data["result"] == "waiting"


def test_without_checks_a_landing_can_still_be_only_handed_in(line: CommandLine, work: Work) -> None:
    work("one")
    assert line.json("land", "one", "--no-wait")["result"] == "submitted"
    assert order(line) == ["Q-1"]


def test_a_branch_lands_after_the_one_it_needs(gated: CommandLine, work: Work) -> None:
    work("one")
    work("two")
    gated.ok("land", "one", "--priority", "9")
    gated.ok("land", "two", "--after", "Q-1", "--priority", "1")
    rows = gated.json("queue", "list")["candidates"]
    assert [(row["candidate"], row["waits_for"]) for row in rows] == [("Q-1", ""), ("Q-2", "waits for Q-1")]


# -- look -------------------------------------------------------------------------------------


def test_the_list_says_what_waits_and_with_all_what_ended(gated: CommandLine, work: Work) -> None:
    assert gated.ok("queue", "list").out == "Nothing is waiting to land.\n"
    work("one")
    work("two")
    gated.ok("land", "one", "--wait")
    gated.ok("land", "two")
    out = gated.ok("queue", "list", "--all").out
    assert out.splitlines()[1].split() == ["1", "Q-2", "waiting", "two", "about", "1", "s"]
    assert out.splitlines()[-1].startswith("Q-1        landed  one")
    data = gated.json("queue", "list", "--all")
    assert [row["state"] for row in data["ended"]] == ["landed"]
    assert data["candidates"][0]["eta_ms"] >= 0
    assert data["candidates"][0]["submitted_at"].endswith("Z")


def test_a_candidate_is_explained(gated: CommandLine, work: Work) -> None:
    work("wrong", bad="x\n")
    gated.run("land", "wrong", "--wait")
    out = gated.ok("queue", "show", "1").out
    assert out.startswith("Q-1 is sent back: wrong\n  by a person, priority 5, commit ")
    assert "`echo looking; test ! -f bad` failed in " in out
    assert "    > | looking" in out
    data = gated.json("queue", "show", "Q-1")
    assert next(item["event"] for item in data["history"]) == "CandidateSubmitted"
    assert "looking" in data["history"][-1]["output"]


def test_the_difference_is_the_one_that_would_land(
    gated: CommandLine, work: Work, repo: TemporaryRepo
) -> None:
    work("one")
    gated.ok("land", "one")
    repo.commit("Meanwhile", {"mine.txt": "mine\n"})
    patch = gated.ok("queue", "show", "1", "--diff").out
    assert "+++ b/one.txt" in patch
    assert "mine.txt" not in patch
    data = gated.json("queue", "show", "1", "--diff")
    assert (data["patch"], data["conflicts"]) == (patch, [])
    gated.ok("queue", "run", "--once")
    assert gated.ok("queue", "show", "1", "--diff").out == patch


def test_a_difference_that_does_not_fit_says_so(gated: CommandLine, work: Work, repo: TemporaryRepo) -> None:
    work("one", README="one\n")
    gated.ok("land", "one")
    repo.commit("Meanwhile", {"README": "mine\n"})
    answer = gated.ok("queue", "show", "1", "--diff")
    assert "warning: it conflicts with the current main: README" in answer.err
    assert "+one" in answer.out


def test_a_check_that_passes_only_when_it_is_tried_again_is_shown_to_be_flaky(
    line: CommandLine, repo: TemporaryRepo, work: Work
) -> None:
    assert line.ok("queue", "checks").out == "No check has run yet.\n"
    assert line.json("queue", "checks") == {"checks": []}
    first = repo.path.parent / "tried"
    command = f"test ! -f bad || exit 1; test -f {first} || {{ touch {first}; exit 1; }}"
    repo.commit("Ask for a check", {"lineclear.toml": f'[checks]\ngate = "{command}"\nretries = 1\n'})
    line.ok("trust")
    for branch in ("one", "two"):
        line.ok("land", work(branch))
        line.ok("queue", "run", "--once")
    line.ok("land", work("three", bad=""))
    line.ok("queue", "run", "--once")
    (found,) = line.json("queue", "checks")["checks"]
    counts = {name: found[name] for name in ("command", "runs", "failed", "flaky", "flake_rate")}
    failed = found["failed"]
    assert failed >= 1
    assert counts == {
        "command": command,
        "runs": 2 + failed,
        "failed": failed,
        "flaky": 1,
        "flake_rate": 1 / (2 + failed),
    }
    head, row = line.ok("queue", "checks").out.splitlines()
    assert head.split("  ")[0] == "CHECK"
    assert row.startswith(command)
    share = round(100 / (2 + failed))
    assert row.removeprefix(command).split()[:4] == [str(2 + failed), str(failed), "1", f"({share}%)"]


# -- run --------------------------------------------------------------------------------------


def test_run_once_lands_what_passes_and_sends_back_what_does_not(
    gated: CommandLine, work: Work, repo: TemporaryRepo
) -> None:
    for branch, files in (("one", {}), ("wrong", {"bad": "x\n"}), ("two", {})):
        work(branch, **files)
        gated.ok("land", branch)
    lines = gated.ok("queue", "run", "--once").out.splitlines()
    assert "Q-1 landed: one is on main" in lines
    assert "Q-3 landed: two is on main" in lines
    assert any(line.startswith("Q-2 sent back: wrong: it fails the check, by itself") for line in lines)
    assert lines[-1] == "2 landed, 1 sent back, 0 still waiting."
    assert (repo.path / "two.txt").exists()
    assert gated.json("audit")["findings"] == []


def test_run_once_as_data_is_one_answer(gated: CommandLine, work: Work) -> None:
    work("one")
    gated.ok("land", "one")
    answer = gated.ok("queue", "run", "--once", "--json")
    assert answer.data["events"] == [{"candidate": "Q-1", "kind": "landed", "text": "one is on main"}]
    assert (answer.data["waiting"], answer.data["is_stopped"], answer.err) == ([], False, "")


def test_run_stays_until_it_is_stopped_and_the_next_one_goes_on(
    line: CommandLine, work: Work, repo: TemporaryRepo, tmp_path: Path
) -> None:
    marker = tmp_path / "started"
    (line.place / ".git" / "lineclear" / "local.toml").write_text(
        f"[checks]\ngate = 'test -e {tmp_path}/go || {{ echo x > {marker}; exec sleep 60; }}'\n"
    )
    work("one")
    running = line.start("queue", "run", "--json")
    line.ok("land", "one", "--no-wait")
    until_there(marker)
    running.process.send_signal(signal.SIGINT)
    assert running.wait() == 130
    assert order(line) == ["Q-1"]
    assert not (repo.path / "one.txt").exists()
    (tmp_path / "go").touch()
    running = line.start("queue", "run", "--json")
    assert json.loads(running.line())["data"]["kind"] == "landed"
    running.process.send_signal(signal.SIGTERM)
    assert running.wait() == 130


LATE = """
import os, signal, sys
from lineclear.cli.main import run
from lineclear.app.queue.landings import Landings
plain = Landings.overview
def late(landings):
    os.kill(os.getpid(), signal.SIGINT)
    return plain(landings)
Landings.overview = late
sys.exit(run(["queue", "run", "--once", "--json"]))
"""


def test_a_ctrl_c_that_comes_when_all_is_done_takes_no_answer_away(gated: CommandLine, work: Work) -> None:
    gated.ok("land", work("one"))
    done = subprocess.run(
        [sys.executable, "-c", LATE], cwd=gated.place, env=gated.environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    data = json.loads(done.stdout)["data"]
    assert [event["kind"] for event in data["events"]] == ["landed"]
    assert data["is_stopped"] is False


def test_a_second_runner_is_refused_and_told_where_it_lands(line: CommandLine, work: Work) -> None:
    running = line.start("queue", "run", "--json")
    work("one")
    line.ok("land", "one", "--no-wait")
    running.line()
    assert line.refused("queue", "run", "--once", code=3)["code"] == "queue.running"
    work("two")
    data = line.json("land", "two")
    assert data["result"] == "landed"


def test_a_paused_queue_lands_nothing_and_says_so(line: CommandLine, work: Work) -> None:
    assert "nothing lands until" in line.ok("queue", "pause", "--why", "release day").out
    work("one")
    answer = line.run("land", "one")
    assert answer.code == 8
    assert answer.out.endswith("Next: run `lineclear queue resume`.\n")
    refusal = line.refused("queue", "run", "--once", code=8)
    assert (refusal["code"], refusal["message"]) == (
        "queue.paused",
        f"The queue is paused; nothing lands. {refusal['agent']} paused it: release day.",
    )
    assert "The queue is paused by" in line.ok("queue", "list").out
    assert "The queue is paused by" in line.ok("status").out
    assert line.json("queue", "pause") == {"queue": "paused"}
    assert line.ok("queue", "resume").out == "The queue is running again.\n"
    assert line.json("queue", "resume") == {"queue": "open"}
    assert line.ok("queue", "run", "--once").out.endswith("1 landed, 0 sent back, 0 still waiting.\n")


def test_who_waits_hears_that_it_was_dropped(line: CommandLine, work: Work, tmp_path: Path) -> None:
    marker = tmp_path / "started"
    (line.place / ".git" / "lineclear" / "local.toml").write_text(
        f"[checks]\ngate = 'echo x > {marker}; exec sleep 60'\n"
    )
    work("one")
    waiting = line.start("land", "one", "--wait", "--json")
    until_there(marker)
    line.ok("queue", "drop", "1")
    assert json.loads(waiting.line())["data"]["result"] == "dropped"
    assert waiting.wait() == 6


# -- review -----------------------------------------------------------------------------------


def test_nothing_lands_before_a_person_has_approved_it(line: CommandLine, work: Work) -> None:
    reviewed(line, "person")
    work("one")
    line.ok("land", "one")
    assert "Q-1 waits for your review: one" in line.ok("status").out
    assert line.json("status")["needs_you"][0]["next"] == "lineclear queue show Q-1 --diff"
    assert "1 still waiting" in line.ok("queue", "run", "--once").out
    assert "has waited" in line.ok("queue", "show", "1").out
    assert line.refused("queue", "approve", "1", "--as", "ada", code=4)["code"] == "person.only"
    approved = line.ok("queue", "approve", "Q-1", "--note", "fine").out
    assert approved.startswith("Q-1 (one at ")
    assert approved.endswith(") was approved.\n")
    assert line.json("status")["needs_you"] == []
    assert "1 landed" in line.ok("queue", "run", "--once").out
    assert "> fine" in line.ok("queue", "show", "1").out


def test_a_rejected_candidate_goes_back_with_the_note(line: CommandLine, work: Work) -> None:
    reviewed(line, "person")
    work("one")
    line.ok("land", "one")
    assert "was rejected and goes back" in line.ok("queue", "reject", "1", "--note", "needs a test").out
    data = line.json("queue", "show", "1")
    assert (data["state"], data["kind"], data["why"].partition(" ")[2]) == (
        "sent back",
        "review",
        "rejected it: needs a test",
    )
    assert line.refused("queue", "approve", "1", code=4)["code"] == "queue.ended"


def test_another_agent_than_the_author_may_review_where_that_is_wanted(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    reviewed(line, "agent")
    place = Path(line.json("worktree", "add", "desk", "--agent", "ada")["path"])
    repo.commit("Work", {"a.txt": "a\n"}, at=place)
    line.at(place).ok("land", "--as", "ada")
    assert line.refused("queue", "approve", "1", "--as", "ada", code=4)["code"] == "queue.own"
    data = line.json("queue", "approve", "1", "--as", "ben")
    assert (data["review"], data["reviewer"], len(data["tip"])) == ("approved", "ben", 40)


def test_a_command_of_the_repositorys_choice_reviews_while_the_queue_runs(
    line: CommandLine, work: Work
) -> None:
    (line.place / ".git" / "lineclear" / "local.toml").write_text(
        "[queue]\nreview = 'agent'\nreviewer = '! grep eval $LINECLEAR_DIFF'\n"
    )
    for branch, files in (("one", {}), ("two", {"b.py": "eval(x)\n"})):
        work(branch, **files)
        line.ok("land", branch)
    lines = line.ok("queue", "run", "--once").out.splitlines()
    assert "Q-1 landed: one is on main" in lines
    assert "Q-2 sent back: two: reviewer rejected it: +eval(x)" in lines
    assert "approved by reviewer" in line.ok("queue", "show", "1").out
    assert "> +eval(x)" in line.ok("queue", "show", "2").out


# -- order ------------------------------------------------------------------------------------


def test_what_is_held_stands_still_until_it_is_set_free(line: CommandLine, work: Work) -> None:
    work("one")
    line.ok("land", "one", "--no-wait")
    assert "Q-1 is held" in line.ok("queue", "hold", "1", "--why", "the release").out
    assert "held: the release" in line.ok("queue", "list").out
    assert "1 still waiting" in line.ok("queue", "run", "--once").out
    assert line.json("queue", "retry", "1")["state"] == "waiting"
    assert line.refused("queue", "retry", "1", code=4)["code"] == "queue.not_held"
    assert "1 landed" in line.ok("queue", "run", "--once").out
    assert line.json("queue", "show", "1")["state"] == "landed"


def test_a_person_orders_the_queue(line: CommandLine, work: Work) -> None:
    for branch in ("one", "two", "three"):
        work(branch)
        line.ok("land", branch, "--no-wait")
    assert line.ok("queue", "move", "3", "--before", "1").out == "The order is now Q-3, Q-1, Q-2\n"
    assert line.json("queue", "move", "Q-2", "--first")["order"] == ["Q-2", "Q-3", "Q-1"]
    assert line.json("queue", "move", "2", "--last")["order"] == ["Q-3", "Q-1", "Q-2"]
    assert order(line) == ["Q-3", "Q-1", "Q-2"]
    assert line.refused("queue", "move", "1", "--last", "--as", "ada", code=4)["code"] == "person.only"


def test_what_builds_on_another_cannot_come_before_it(line: CommandLine, work: Work) -> None:
    work("one")
    work("two")
    line.ok("land", "one", "--no-wait")
    line.ok("land", "two", "--no-wait", "--after", "1")
    assert line.refused("queue", "move", "2", "--first", code=2)["code"] == "queue.order"


def test_a_dropped_candidate_keeps_its_branch(line: CommandLine, work: Work, repo: TemporaryRepo) -> None:
    work("one")
    line.ok("land", "one", "--no-wait")
    assert line.ok("queue", "drop", "1", "--why", "not wanted").out == (
        "Q-1 was dropped; the branch one stays.\n"
    )
    assert repo.git("rev-parse", "one")
    assert line.refused("queue", "drop", "1", code=4)["code"] == "queue.ended"
    work("two")
    line.ok("land", "two", "--no-wait")
    assert line.json("queue", "drop", "2")["state"] == "dropped"
    assert line.json("queue", "list", "--all")["candidates"] == []


# -- check and undo ---------------------------------------------------------------------------


def test_a_look_whether_a_branch_would_land(gated: CommandLine, work: Work, repo: TemporaryRepo) -> None:
    work("one")
    assert gated.ok("check", "one").out == "one merges cleanly into main (fast-forward, 1 file).\n"
    assert "  `echo looking; test ! -f bad` passed\n" in gated.ok("check", "one", "--run").out
    data = gated.json("check", "one", "--run")
    assert (data["fits"], data["findings"], data["checks"][0]["result"]) == (True, [], "passed before")
    work("wrong", bad="x\n")
    failed = gated.run("check", "wrong", "--run")
    assert failed.code == 6
    assert failed.out.startswith("wrong merges cleanly into main, but its checks fail:\n")
    assert "| looking" in failed.out
    work("other", README="other\n")
    repo.commit("Meanwhile", {"README": "mine\n"})
    answer = gated.run("check", "other", "--json")
    assert (answer.code, answer.data["findings"][0]["path"]) == (6, "README")
    sides = answer.data["findings"][0]["sides"]
    assert [hand["subject"] for side in ("left", "right") for hand in sides[side]] == [
        "Meanwhile",
        "Work on other",
    ]
    lines = gated.run("check", "other").out.splitlines()
    assert lines[0] == "other conflicts with the current main:"
    assert [line.split()[0] for line in lines[1:]] == ["README", "main:", "other:"]
    assert order(gated) == []


def test_a_landing_is_taken_back(line: CommandLine, work: Work, repo: TemporaryRepo) -> None:
    work("one")
    work("two")
    for branch in ("one", "two"):
        line.ok("land", branch)
    answer = line.ok("undo", "Q-1")
    assert answer.err == "lineclear/undo-Q-1 undoes Q-1 (one).\n"
    assert answer.out.startswith("lineclear/undo-Q-1 is on main as ")
    assert sorted(path.name for path in repo.path.glob("*.txt")) == ["two.txt"]
    assert line.refused("undo", "1", code=5)["code"] == "queue.undone"
    data = line.json("undo")
    assert (data["undoes"], data["result"]) == ("Q-2", "landed")
    assert line.refused("undo", code=5)["code"] == "queue.nothing_to_undo"


def test_with_a_check_taking_back_is_handed_in_like_anything_else(gated: CommandLine, work: Work) -> None:
    work("one")
    gated.ok("land", "one", "--wait")
    assert "lineclear/undo-Q-1 was submitted as Q-2" in gated.ok("undo").out
    assert "1 landed" in gated.ok("queue", "run", "--once").out


def test_what_others_built_on_is_not_taken_back(line: CommandLine, work: Work, repo: TemporaryRepo) -> None:
    work("one", shared="one\n")
    line.ok("land", "one")
    repo.commit("On top", {"shared": "two\n"})
    refusal = line.refused("undo", code=6)
    assert (refusal["code"], refusal["conflicts"][0]["path"]) == ("queue.undo_conflicts", "shared")


# -- pull requests ----------------------------------------------------------------------------


def test_a_pull_request_instead_of_a_landing(
    line: CommandLine, work: Work, repo: TemporaryRepo, tmp_path: Path
) -> None:
    repo.git("init", "--quiet", "--bare", str(tmp_path / "there.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "there.git"))
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "gh"
    tool.write_text(f"#!{sys.executable}\nimport sys\nif sys.argv[1:3] == ['pr', 'create']: "
                    "print('https://example.invalid/pull/7')\n")  # fmt: skip
    tool.chmod(0o755)
    line.environment["PATH"] = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    work("one")
    assert line.ok("land", "one", "--pr").out == (
        "one was pushed to origin; its pull request is open: https://example.invalid/pull/7\n"
    )
    data = line.json("land", "one", "--pr")
    assert (data["result"], data["remote"], data["tool"]) == ("pull request", "origin", "gh")
    assert order(line) == []
    assert repo.git("ls-remote", "origin", "one").startswith(repo.git("rev-parse", "one"))
    repo.commit("Meanwhile", {"one.txt": "mine\n"})
    answer = line.ok("land", "one", "--pr")
    assert "warning: it conflicts with the current main: one.txt" in answer.err


# -- bad input --------------------------------------------------------------------------------

BAD: list[tuple[tuple[str, ...], int]] = [
    (("queue", "show", "x"), 2),
    (("queue", "show", "Q-0"), 2),
    (("queue", "show", "99"), 5),
    (("queue", "show", "99", "--diff"), 5),
    (("queue", "approve"), 2),
    (("queue", "approve", "99"), 5),
    (("queue", "hold", "99"), 5),
    (("queue", "drop", "-1"), 2),
    (("queue", "retry", "99"), 5),
    (("queue", "move", "1"), 2),
    (("queue", "move", "99", "--first"), 5),
    (("queue", "move", "1", "--first", "--last"), 2),
    (("queue", "pause", "--as", "ada"), 4),
    (("queue", "resume", "--as", "ada"), 4),
    (("queue", "run", "now"), 2),
    (("undo", "x"), 2),
    (("undo", "99"), 5),
    (("check", "nowhere"), 5),
    (("check", "main"), 2),
    (("land", "nowhere", "--pr"), 5),
    (("land", "--after", "x"), 2),
    (("land", "--priority", "0"), 2),
    (("land", "--wait", "soon"), 2),
]


@pytest.mark.parametrize(("words", "code"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input_is_refused_with_a_next_step(line: CommandLine, words: tuple[str, ...], code: int) -> None:
    answer = line.run(*words)
    assert (answer.code, answer.out) == (code, ""), answer
    assert answer.err.splitlines()[-1].startswith("Next: run `"), answer


def test_what_is_typed_can_be_completed(line: CommandLine, work: Work) -> None:
    work("one")
    line.ok("land", "one", "--no-wait")
    assert "Q-1" in line.ok("completion", "--words", "--", "queue", "show", "").out.split()
    assert "approve" in line.ok("completion", "--words", "--", "queue", "a").out.split()
