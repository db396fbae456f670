"""What holds for the output of every client, however it looks: bounded, never an exception, one end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.clients.registry import STREAM, names_with, stream_of
from lineclear.clients.stream_reader import LONGEST_LINE_BYTES, StreamReader, micros_of
from lineclear.core.runs.client_events import Call, CallDone, DoneSign, RunEnd, Said, SessionSign, Sign, Usage

STREAMS = sorted(Path(__file__).parent.glob("*/streams/*.jsonl"))
LINES = sorted({line for path in STREAMS for line in path.read_bytes().splitlines()})
JSON_CLIENTS = sorted({*names_with(STREAM)} - {"aider", "plain"})

names = st.sampled_from(names_with(STREAM))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def reader_of(name: str) -> StreamReader:
    return stream_of(name).reader("/srv/shop.worktrees/ada")


def said(reader: StreamReader, *events: Mapping[str, object]) -> list[Sign]:
    return [sign for event in events for sign in reader.feed(json.dumps(event).encode())]


# -- never an exception ------------------------------------------------------------------------


@given(names, st.lists(st.binary(max_size=200), max_size=5), st.integers(-64, 255) | st.none())
def test_any_bytes_are_taken(name: str, lines: list[bytes], exit_code: int | None) -> None:
    reader = reader_of(name)
    for line in lines:
        reader.feed(line)
        reader.feed(line, is_error_output=True)
    assert not (reader.finish(exit_code).ok and exit_code not in (0, None))


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A recorded line in which one value somewhere was replaced, or that was cut."""
    line = draw(st.sampled_from(LINES))
    if not line.startswith(b"{") or draw(st.booleans()):
        return line[: draw(st.integers(0, len(line)))]
    event = json.loads(line)
    place, key = event, draw(st.sampled_from(sorted(event)))
    while isinstance(place[key], dict) and place[key] and draw(st.booleans()):
        place = place[key]
        key = draw(st.sampled_from(sorted(place)))
    place[key] = draw(json_values)
    return json.dumps(event).encode()


@given(names, st.lists(damaged(), max_size=6))
def test_damaged_events_are_taken(name: str, lines: list[bytes]) -> None:
    reader = reader_of(name)
    used = Usage()
    for line in lines:
        for sign in reader.feed(line):
            if isinstance(sign, Usage):
                assert all(now >= old for now, old in zip(_counts(sign), _counts(used), strict=True))
                used = sign
    reader.finish(1)


def _counts(usage: Usage) -> tuple[int, int, int, int]:
    return usage.tokens_in, usage.tokens_out, usage.tokens_cached, usage.cost_micros


@pytest.mark.parametrize("name", names_with(STREAM))
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"null",
        b"[]",
        b"{}",
        b'{"type":',
        b'{"type":NaN}',
        b'{"a":' * 100_000,
        b"[" * 200_000,
        b"{" + b'"n":' + b"9" * 10_000 + b"}",
        b"\x00\xff\xfe" * 1000,
        b'{"type":"assistant","message":{"content":[{"type":"text","text":"\\ud800"}]}}',
    ],
    ids=range(12),
)
def test_garbage_says_nothing(name: str, line: bytes) -> None:
    reader = reader_of(name)
    signs = [sign for sign in reader.feed(line) if not isinstance(sign, Said)]
    assert signs == []


def test_a_line_without_end_is_not_read() -> None:
    event = {"type": "assistant", "session_id": "S1", "text": "x" * LONGEST_LINE_BYTES}
    reader = reader_of("claude")
    assert said(reader, event) == []
    assert reader.finish(0).unread_lines == 1


def test_half_of_a_surrogate_pair_can_be_written_down() -> None:
    (sign,) = said(reader_of("lineclear"), {"type": "say", "text": "a\ud800b"})
    assert sign == Said("a?b")


def test_words_between_the_events_do_no_harm() -> None:
    reader = reader_of("codex")
    reader.feed(b"WARNING: something")
    assert said(reader, {"type": "thread.started", "thread_id": "S1"}) == [SessionSign("S1")]
    reader.feed(b"\x1b[31mmore\x1b[0m")
    said(reader, {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 1}})
    assert reader.finish(0) == RunEnd(True, unread_lines=2)


def test_error_output_that_looks_like_an_event_is_none() -> None:
    reader = reader_of("codex")
    assert reader.feed(b'{"type":"thread.started","thread_id":"S1"}', is_error_output=True) == []
    assert reader.finish(1).unread_lines == 0


# -- the end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", JSON_CLIENTS)
def test_garbage_and_exit_code_0_is_no_good_end(name: str) -> None:
    reader = reader_of(name)
    for _ in range(100):
        reader.feed(b"all fine, trust me")
    end = reader.finish(0)
    assert end.ok == (name == "lineclear")
    assert end.unread_lines == 100
    if not end.ok:
        assert end.reason.endswith("ended without reporting a result: all fine, trust me")


def test_a_good_word_and_a_bad_exit_code_is_no_good_end() -> None:
    reader = reader_of("claude")
    said(reader, {"type": "result", "subtype": "success", "is_error": False})
    end = reader.finish(3)
    assert (end.ok, end.reason) == (False, "Claude Code ended with exit code 3")


@pytest.mark.parametrize(
    ("exit_code", "words"),
    [(-9, "was ended by signal 9"), (143, "ended with exit code 143"), (None, "how it ended is unknown")],
)
def test_the_end_of_a_killed_client_is_told(exit_code: int | None, words: str) -> None:
    end = reader_of("claude").finish(exit_code)
    assert not end.ok
    assert words in end.reason
    assert not end.is_limited
    assert not end.is_login


def test_the_last_of_several_results_counts_and_their_use_adds_up() -> None:
    reader = reader_of("claude")
    used = {"m": {"inputTokens": 10, "outputTokens": 2, "cacheReadInputTokens": 5, "costUSD": 0.001}}
    result: dict[str, object] = {
        "type": "result",
        "subtype": "success",
        "model_usage_since_last_result": used,
    }
    first = said(reader, {**result, "is_error": True, "result": "not yet"})
    second = said(reader, {**result, "is_error": False})
    assert first == [Usage(15, 2, 5, 1000), DoneSign(False, "not yet")]
    assert second == [Usage(30, 4, 10, 2000), DoneSign(True)]
    assert reader.finish(0).ok


def test_an_error_that_calls_itself_a_success_is_an_error() -> None:
    reader = reader_of("claude")
    said(reader, {"type": "result", "subtype": "success", "is_error": True, "result": "API Error: 400"})
    assert reader.finish(0) == RunEnd(False, "Claude Code ended with an error: API Error: 400")


def test_a_trouble_from_which_it_recovered_is_not_why_it_failed() -> None:
    reader = reader_of("codex")
    said(reader, {"type": "error", "message": "Reconnecting... 1/5 (status: 429 Too Many Requests)"})
    said(reader, {"type": "item.completed", "item": {"type": "agent_message", "text": "Going on."}})
    assert not reader.finish(1).is_limited


def test_words_about_a_limit_are_not_a_limit() -> None:
    reader = reader_of("codex")
    text = "I handle status 429, rate limits and 401 Unauthorized now; please run /login"
    said(reader, {"type": "item.completed", "item": {"type": "agent_message", "text": text}})
    end = reader.finish(1)
    assert (end.is_limited, end.is_login) == (False, False)


def test_how_long_to_wait_is_passed_on() -> None:
    reader = reader_of("lineclear")
    said(reader, {"type": "limited", "text": "come back later", "retry_after_s": 90})
    end = reader.finish(1)
    assert (end.is_limited, end.retry_after_s) == (True, 90)


@pytest.mark.parametrize("name", ["plain", "lineclear"])
@pytest.mark.parametrize(
    ("exit_code", "limited", "login"), [(75, True, False), (77, False, True), (1, False, False)]
)
def test_exit_codes_of_a_plain_command(name: str, exit_code: int, limited: bool, login: bool) -> None:
    reader = reader_of(name)
    reader.feed(b"error: status 429")
    end = reader.finish(exit_code)
    assert (end.ok, end.is_limited, end.is_login) == (False, limited, login)


def test_a_plain_command_is_judged_by_its_exit_code_alone() -> None:
    reader = reader_of("plain")
    assert reader.feed(b'{"type":"end","ok":false}') == []
    reader.feed(b"401 Unauthorized, 429 Too Many Requests")
    assert reader.finish(0) == RunEnd(True)


def test_the_reason_names_the_line_that_tells_most() -> None:
    reader = reader_of("codex")
    for line in (b"starting", b"Error: no such model", b"bye"):
        reader.feed(line, is_error_output=True)
    assert reader.finish(2).reason == "Codex ended with exit code 2: Error: no such model"


# -- signs -------------------------------------------------------------------------------------


def test_our_own_lines_say_everything_that_a_client_can_say() -> None:
    signs = said(
        reader_of("lineclear"),
        {"type": "session", "id": "S1"},
        {"type": "call", "id": "1", "tool": "edit", "input": {"path": "/srv/shop.worktrees/ada/a.py"}},
        {"type": "done", "id": "1", "ok": True, "output": "fine"},
        {"type": "usage", "tokens_in": 10, "tokens_out": 2, "cost_usd": 0.5},
        {"type": "end", "ok": False, "error": "gave up"},
    )
    session, call, done, usage, ended = signs
    assert isinstance(call, Call)
    assert isinstance(done, CallDone)
    assert (session, usage) == (SessionSign("S1"), Usage(10, 2, -1, 500_000))
    assert (call.tool, call.paths, call.is_edit, call.is_shell) == ("edit", ("a.py",), True, False)
    assert done.input_digest == call.input_digest
    assert ended == DoneSign(False, "gave up")


def test_the_same_call_has_the_same_digest_whatever_the_order_of_its_input() -> None:
    reader = reader_of("lineclear")
    one, other, third = said(
        reader,
        {"type": "call", "tool": "shell", "input": {"command": "make", "cwd": "."}},
        {"type": "call", "tool": "shell", "input": {"cwd": ".", "command": "make"}},
        {"type": "call", "tool": "shell", "input": {"cwd": "..", "command": "make"}},
    )
    assert isinstance(one, Call)
    assert one == other
    assert one != third
    assert (one.summary, one.is_shell) == ("make", True)


def test_edits_of_which_only_the_path_is_told_are_never_the_same() -> None:
    change = {"type": "file_change", "changes": [{"path": "a.py", "kind": "update"}]}
    started = [{"type": "item.started", "item": {**change, "id": str(number)}} for number in range(3)]
    calls = [sign for sign in said(reader_of("codex"), *started) if isinstance(sign, Call)]
    assert [call.paths for call in calls] == [("a.py",)] * 3
    assert len({call.input_digest for call in calls}) == 3


def test_a_session_and_its_model_are_told_once() -> None:
    event = {"type": "system", "subtype": "init", "session_id": "S1", "model": "m-1"}
    reader = reader_of("claude")
    assert len(said(reader, event)) == 2
    assert said(reader, event) == []


def test_totals_of_a_resumed_session_do_not_hold_the_earlier_run() -> None:
    reader = stream_of("codex").reader(before=Usage(100, 10, 50))
    usage = {"input_tokens": 130, "output_tokens": 12, "cached_input_tokens": 60}
    assert said(reader, {"type": "turn.completed", "usage": usage})[0] == Usage(30, 2, 10)


def test_a_price_of_nothing_is_unknown() -> None:
    part = {"tokens": {"input": 10, "output": 1}, "cost": 0, "reason": "stop"}
    assert said(reader_of("opencode"), {"type": "step_finish", "part": part})[0] == Usage(10, 1, 0, -1)


@pytest.mark.parametrize(
    ("dollars", "micros"),
    [
        (0, 0),
        (0.0442, 44_200),
        (1, 1_000_000),
        (0.0000001, 1),
        (-1, -1),
        ("1", -1),
        (None, -1),
        (True, -1),
        (float("nan"), -1),
        (float("inf"), -1),
    ],
)
def test_money_is_whole_micros(dollars: object, micros: int) -> None:
    assert micros_of(dollars) == micros


def test_what_is_long_is_cut() -> None:
    reader = reader_of("lineclear")
    (spoken,) = said(reader, {"type": "say", "text": "word " * 10_000})
    (call,) = said(reader, {"type": "call", "tool": "t" * 500, "input": {"command": "x" * 10_000}})
    said(reader, {"type": "end", "ok": False, "error": "e" * 10_000})
    assert isinstance(spoken, Said)
    assert isinstance(call, Call)
    assert max(len(spoken.text), len(call.summary), len(call.tool), len(reader.finish(1).reason)) <= 400
