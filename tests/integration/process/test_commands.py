"""Commands that have to end in time: exit code, last words, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lineclear.process.commands import Finished, run_to_end
from tests.e2e.commandline import until


def run(command: str, cwd: Path, *, timeout_s: float = 20.0, **env: str) -> Finished:
    return run_to_end(command, cwd=str(cwd), env={"PATH": os.environ["PATH"], **env}, timeout_s=timeout_s)


def is_alive(pid: int) -> bool:
    """Not counting what has ended and waits to be reaped by somebody else."""
    done = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip()[:1] not in ("", "Z")


def until_dead(place: Path) -> None:
    until(lambda: not is_alive(int((place / "pid").read_text())))


def test_both_outputs_the_place_and_the_environment_are_the_commands_own(tmp_path: Path) -> None:
    done = run('echo "$NAME in $PWD"; echo sorry >&2; exit 3', tmp_path, NAME="ada")
    assert (done.code, done.tail) == (3, f"ada in {tmp_path}\nsorry\n")


def test_of_a_long_output_the_end_is_kept(tmp_path: Path) -> None:
    done = run("yes | head -c 300000; echo the end", tmp_path)
    assert done.code == 0
    assert len(done.tail) <= 16 * 1024
    assert done.tail.endswith("the end\n")


def test_what_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    done = run("echo begun; sleep 600 & echo $! > pid; trap '' TERM; wait", tmp_path, timeout_s=0.5)
    assert (done.code, done.tail) == (-1, "begun\n")
    until_dead(tmp_path)


def test_what_was_left_in_the_background_does_not_keep_us_waiting(tmp_path: Path) -> None:
    done = run("sleep 600 & echo $! > pid; echo done", tmp_path, timeout_s=600)
    assert (done.code, done.tail) == (0, "done\n")
    until_dead(tmp_path)


def test_a_signal_is_told_as_shells_do(tmp_path: Path) -> None:
    assert run("kill -9 $$", tmp_path).code == 137


def test_nobody_answers_questions(tmp_path: Path) -> None:
    assert run("read answer || echo none", tmp_path).tail == "none\n"


def test_a_place_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    assert run("true", tmp_path / "gone").code == 127
