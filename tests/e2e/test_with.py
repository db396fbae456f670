"""`with`: resources held around a command that knows nothing of them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.commandline import CommandLine
from tests.waiting import is_alive, until, until_there


def test_the_command_runs_while_the_resource_is_held_and_gives_its_exit_code(line: CommandLine) -> None:
    inside = f"{line.shell('claim', 'db', '--as', 'other')}; echo $?; exit 41"
    answer = line.run("with", "db", "--as", "codex-1", "--", "sh", "-c", inside)
    assert answer.code == 41, answer
    assert answer.out == "3\n"
    assert line.holders("db") == []


def test_the_command_knows_its_fence_its_resources_and_who_it_is(line: CommandLine) -> None:
    inside = 'echo "$LINECLEAR_FENCE $LINECLEAR_AGENT"; echo "$LINECLEAR_RESOURCES"'
    answer = line.ok("with", "api:stripe", "row:users/4", "--as", "codex-1", "--", "sh", "-c", inside)
    told, *resources = answer.out.splitlines()
    fence, name = told.split()
    granted = [e["position"] for e in line.json("log", "--kind", "ClaimGranted")["events"]]
    assert (int(fence), name) == (max(granted), "codex-1")
    assert resources == ["api:stripe", "row:users/4"]


def test_a_persons_command_stays_a_persons(line: CommandLine) -> None:
    assert line.ok("with", "a", "--", "sh", "-c", 'echo "[$LINECLEAR_AGENT]"').out == "[]\n"


def test_a_value_is_written_under_the_fence_of_with(line: CommandLine) -> None:
    written = f"{line.shell('value', 'put', 'k', '1')} && {line.shell('value', 'put', 'free', '1')}"
    line.ok("with", "value:k", "--as", "codex-1", "--", "sh", "-c", written)
    line.ok("with", "value:k", "value:free", "--as", "codex-2", "--", "true")
    # The first holder wakes up late and writes under the fence it once had.
    late = {"LINECLEAR_FENCE": "3", "LINECLEAR_RESOURCES": "value:k", "LINECLEAR_AGENT": "codex-1"}
    answer = line.run("value", "put", "k", "2", "--json", env=late)
    assert (answer.code, answer.error["code"]) == (7, "fence.stale"), answer
    # A fence of something else is no reason to refuse, nor to allow.
    assert line.run("value", "put", "free", "2", env=late).code == 0


@pytest.mark.slow
def test_the_lease_is_renewed_for_as_long_as_the_command_runs(line: CommandLine) -> None:
    inside = f"sleep 7; exec {line.shell('claim', 'a', '--as', 'other')}"
    assert line.run("with", "a", "--ttl", "6s", "--as", "codex-1", "--", "sh", "-c", inside).code == 3


def test_a_person_who_takes_over_stops_the_command(line: CommandLine, tmp_path: Path) -> None:
    started, ended = tmp_path / "started", tmp_path / "ended"
    inside = f'trap "echo stopped > {ended}; exit 9" TERM; echo $$ > {started}; while :; do sleep 0.05; done'
    guard = line.start("with", "a", "--ttl", "12s", "--as", "codex-1", "--", "sh", "-c", inside)
    until_there(started)
    line.ok("claim", "a", "--take-over")
    assert guard.wait() == 9
    assert ended.read_text() == "stopped\n"
    assert line.holders("a") == ["person"]
    told = line.json("inbox", "--as", "codex-1")["messages"]
    assert "has taken over file:a from you" in told[0]["text"]


def test_a_command_that_ends_well_after_its_claim_was_lost_is_not_called_done(
    line: CommandLine, tmp_path: Path
) -> None:
    inside = f"{line.shell('claim', 'a', '--take-over', '--as', 'person')}; exit 0"
    # Inside an agent's command a person's verb is refused; as a person it takes the claim away.
    answer = line.run(
        "with",
        "a",
        "--ttl",
        "1h",
        "--as",
        "codex-1",
        "--",
        "env",
        "-u",
        "LINECLEAR_AGENT",
        "sh",
        "-c",
        inside,
    )
    assert answer.code == 7, answer
    assert "was lost" in answer.err


def test_killed_with_sigkill_the_resource_is_free_as_soon_as_the_command_is_gone(
    line: CommandLine, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    guard = line.start(
        "with", "a", "--as", "codex-1", "--", "sh", "-c", f"echo $$ > {started}; exec sleep 60"
    )
    until_there(started)
    child = int(started.read_text())
    guard.process.kill()
    guard.wait()
    # The command goes on unguarded, so what it may be changing is still not given to others.
    assert is_alive(child)
    assert line.run("claim", "a", "--as", "other").code == 3
    os.kill(child, signal.SIGKILL)
    until(lambda: not is_alive(child))
    line.ok("claim", "a", "--as", "other")


def test_interrupting_with_interrupts_the_command_and_frees_the_resource(
    line: CommandLine, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    guard = line.start(
        "with", "a", "--as", "codex-1", "--", "sh", "-c", f"echo $$ > {started}; exec sleep 60"
    )
    until_there(started)
    guard.process.send_signal(signal.SIGINT)
    assert guard.wait() == 128 + signal.SIGINT
    assert line.holders("a") == []


def test_a_program_that_is_not_there_is_refused_before_anything_is_claimed(line: CommandLine) -> None:
    assert line.refused("with", "a", "--as", "codex-1", code=2)["code"] == "usage"
    answer = line.run("with", "a", "--json", "--as", "codex-1", "--", "no-such-program")
    assert (answer.code, answer.error["code"]) == (5, "program.unknown")
    assert line.json("log", "--kind", "claim")["events"] == []
