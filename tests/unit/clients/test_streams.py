"""Recorded output of the real clients, and what our readers understand of it.

A file in the folder `streams` of a client is one run: its exit code, the lines of its output, and after `! `
those of its error output. Beside it lies what we expect, one sign a line.
`python -m tests.unit.clients.test_streams` writes that again: read the difference before you keep it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lineclear.clients.registry import STREAM, names_with, stream_of
from lineclear.core.runs.client_events import (
    Call,
    CallDone,
    DoneSign,
    Limited,
    Model,
    NotLoggedIn,
    RunEnd,
    Said,
    SessionSign,
    Sign,
    Usage,
)

STREAMS = sorted(Path(__file__).parent.glob("*/streams/*.jsonl"))
WORKTREE = "/srv/shop.worktrees/ada"
# What the run before had used, in the recordings of a session that goes on.
BEFORE = Usage(15500, 300, 0, 68000)


def written(sign: Sign) -> str:
    """Without digests: they may change, and say nothing to a reader."""
    match sign:
        case SessionSign(id=id):
            return f"session {id}"
        case Model(name=name):
            return f"model {name}"
        case Call():
            marks = " [edit]" * sign.is_edit + " [shell]" * sign.is_shell
            return f"call {sign.tool}{marks} ({', '.join(sign.paths)}) {sign.summary}"
        case CallDone(ok=ok):
            return "done" if ok else "done, failed"
        case Said(text=text):
            return f"said {text}"
        case Usage():
            cost = f", {sign.cost_micros} micros" if sign.cost_micros >= 0 else ""
            return f"used {sign.tokens_in} in, {sign.tokens_out} out, {sign.tokens_cached} cached{cost}"
        case Limited():
            return f"limited ({sign.retry_after_s} s) {sign.text}"
        case NotLoggedIn(text=text):
            return f"login {text}"
        case DoneSign(ok=ok, reason=reason):
            return "ended well" if ok else f"ended: {reason}"
        case RunEnd():
            kind = "limited" if sign.is_limited else "login" if sign.is_login else "failed"
            return "END well" if sign.ok else f"END {kind}: {sign.reason}"
    raise AssertionError(sign)


def client_of(path: Path) -> str:
    return path.parents[1].name


def run_of(path: Path) -> str:
    return f"{client_of(path)}.{path.stem}"


def understood(path: Path) -> str:
    before = BEFORE if path.stem == "resumed" else None
    reader = stream_of(client_of(path)).reader(WORKTREE, before)
    first, *lines = path.read_bytes().splitlines()
    signs: list[Sign] = []
    for line in lines:
        is_error_output = line.startswith(b"! ")
        signs += reader.feed(line.removeprefix(b"! "), is_error_output=is_error_output)
    signs.append(reader.finish(int(first.removeprefix(b"exit "))))
    return "".join(f"{written(sign)}\n" for sign in signs)


def scenes(name: str) -> list[Path]:
    return [path for path in STREAMS if path.stem == name]


@pytest.mark.parametrize("path", STREAMS, ids=run_of)
def test_a_recorded_stream_is_understood(path: Path) -> None:
    assert understood(path) == path.with_suffix(".signs").read_text()


def test_every_client_with_a_stream_of_its_own_is_recorded() -> None:
    recorded = {client_of(path) for path in scenes("ok")}
    assert recorded == {*names_with(STREAM)} - {"lineclear", "plain"}


@pytest.mark.parametrize("path", scenes("ok"), ids=run_of)
def test_work_that_went_well_ends_well(path: Path) -> None:
    assert understood(path).endswith("END well\n")


@pytest.mark.parametrize("path", scenes("401") + scenes("nologin"), ids=run_of)
def test_a_login_that_is_missing_is_named(path: Path) -> None:
    assert understood(path).splitlines()[-1].startswith("END login: ")


@pytest.mark.parametrize("path", scenes("429") + scenes("529") + scenes("refused"), ids=run_of)
def test_a_limit_or_an_outage_is_named(path: Path) -> None:
    assert understood(path).splitlines()[-1].startswith("END limited: ")


@pytest.mark.parametrize("path", scenes("400"), ids=run_of)
def test_a_wrong_request_is_neither(path: Path) -> None:
    assert understood(path).splitlines()[-1].startswith("END failed: ")


@pytest.mark.parametrize("path", scenes("retry"), ids=run_of)
def test_a_trouble_that_passed_is_no_end(path: Path) -> None:
    told = understood(path)
    assert told.endswith("END well\n")
    # Codex repeats a failed request without a word.
    assert ("limited (" in told) == (client_of(path) != "codex")


@pytest.mark.parametrize("path", scenes("resumed"), ids=run_of)
def test_a_resumed_session_does_not_count_the_earlier_runs_again(path: Path) -> None:
    used = [line for line in understood(path).splitlines() if line.startswith("used ")]
    # Qwen Code has asked the model a second time, for a title.
    expected = "used 1500 in, 55 out" if client_of(path) == "qwen" else "used 500 in, 5 out"
    assert used[-1].startswith(expected)


@pytest.mark.parametrize("path", STREAMS, ids=run_of)
def test_nothing_of_a_machine_is_in_a_recording(path: Path) -> None:
    text = path.read_text()
    assert not any(place in text for place in ("/root/", "/tmp/h", "/tmp/lab", "/home/runner", "/Users/"))


if __name__ == "__main__":
    for stream in STREAMS:
        stream.with_suffix(".signs").write_text(understood(stream))
    sys.exit(0)
