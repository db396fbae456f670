"""Commands that have to end in time: exit code, last words, and nothing left behind."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from lineclear.host.commands import Finished, capture, run_to_end, session
from lineclear.host.logs import new_log
from tests.integration.host.programs import interrupted_at_start
from tests.waiting import is_alive, until, until_there


def run(command: str, cwd: Path, *, timeout_s: float = 20.0, **env: str) -> Finished:
    return run_to_end(command, cwd=str(cwd), env={"PATH": os.environ["PATH"], **env}, timeout_s=timeout_s)


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
    done = run("echo begun; sleep 600 & echo $! > pid; trap '' TERM; wait", tmp_path, timeout_s=4)
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


def test_words_are_run_as_they_are(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"]}
    done = run_to_end(["printf", "%s|", "a b", "$HOME"], cwd=str(tmp_path), env=env, timeout_s=20)
    assert (done.code, done.tail) == (0, "a b|$HOME|")


def test_a_log_gets_what_the_tail_has_lost(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"]}
    with new_log(str(tmp_path / "logs")) as log:
        command = "echo begin; yes | head -c 300000; echo the end"
        done = run_to_end(command, cwd=str(tmp_path), env=env, timeout_s=20, log=log)
    data = Path(log.path).read_bytes()
    assert len(data) == 300_014
    assert data.startswith(b"begin\n")
    assert data.endswith(done.tail.encode())


def test_a_command_that_floods_us_can_be_called_off(tmp_path: Path) -> None:
    """And all that it started is gone with it."""
    cancel = threading.Event()

    def call_off() -> None:
        until_there(tmp_path / "pid")
        cancel.set()

    waiting = threading.Thread(target=call_off)
    waiting.start()
    env, started = {"PATH": os.environ["PATH"]}, time.monotonic()
    done = run_to_end(
        "sleep 600 & echo $! > pid; exec yes", cwd=str(tmp_path), env=env, timeout_s=600, cancel=cancel
    )
    waiting.join()
    assert done.code == -2
    assert time.monotonic() - started < 60
    until_dead(tmp_path)


def test_a_command_that_ended_by_itself_was_not_called_off(tmp_path: Path) -> None:
    cancel, env = threading.Event(), {"PATH": os.environ["PATH"]}
    assert run_to_end("exit 5", cwd=str(tmp_path), env=env, timeout_s=20, cancel=cancel).code == 5


def test_ctrl_c_while_the_command_starts_leaves_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted_at_start(monkeypatch, lambda: until_there(tmp_path / "pid"))
    with pytest.raises(KeyboardInterrupt):
        run("echo $$ > pid; exec sleep 600", tmp_path)
    until_dead(tmp_path)


# -- all of the output ------------------------------------------------------------------------


def test_both_outputs_are_captured_apart_and_whole(tmp_path: Path) -> None:
    words = ["sh", "-c", "head -c 300000 /dev/zero; echo no >&2; exit 3"]
    code, output, errors = capture(words, cwd=str(tmp_path), env=os.environ, timeout_s=30)
    assert (code, len(output), errors) == (3, 300_000, b"no\n")


def test_a_program_that_cannot_be_started_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    code, output, errors = capture(["/no/such/program"], cwd=str(tmp_path), env={}, timeout_s=30)
    assert (code, output) == (127, b"")
    assert b"/no/such/program" in errors


def test_a_captured_program_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    words = ["sh", "-c", f"sleep 600 & echo $! >{pids}; wait"]
    begun = time.monotonic()
    code, output, _ = capture(words, cwd=str(tmp_path), env=os.environ, timeout_s=2)
    assert (code, output) == (127, b"")
    assert time.monotonic() - begun < 60
    until(lambda: not is_alive(int(pids.read_text())))


def test_what_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    text = f"trap '' TERM; echo $$ >{pids}; while :; do sleep 0.1; done"
    with session(["sh", "-c", text], cwd="/", env=os.environ, grace_s=0.2):
        until_there(pids)
    until(lambda: not is_alive(int(pids.read_text())))
