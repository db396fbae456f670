"""Short names for what an agent called and what it got back, so that doing the same again can be seen.

Two calls have one digest when they differ only in what carries no meaning for progress: blanks, the
time of day, a random id, the words that describe a command. Never a secret's hiding place: a digest
is for comparing, and only inside one run.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

# A call that itself waits may be repeated much longer than others; the mark travels inside its digest.
WAITING = "wait:"

# Only head and tail of a long text are made plain: looking for times in all of it costs milliseconds.
MOST_CHARS = 16_384
_HALF_CHARS = MOST_CHARS // 2
_DEEPEST = 12

_COMMAND_KEYS = ("command", "cmd", "script", "commands")
# Beside a command these say what the model thinks of it, each time in other words.
_TALK_KEYS = frozenset(("description", "explanation", "justification", "reason", "thought", "timeout"))

# Tools of several clients that look at, or wait for, a command that runs in the background.
_WAITING_TOOLS = frozenset(
    (
        "await", "bashoutput", "check_background", "command_status", "monitor", "poll", "process_output",
        "read_bash", "read_process", "sleep", "taskoutput", "wait", "wait_for", "write_stdin",
    )
)  # fmt: skip
_WAITING_WORDS = re.compile(
    r"(?:^|[\s;&|(])(?:sleep|wait|until|watch|inotifywait|tail -f)(?:\s|$|;)|--wait\b"
)

_BLANKS = re.compile(r"\s+")
# What differs each time a clock is read or an id is drawn.
_MOMENTS = (
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9}|\.\d+)?\b"
)
_PASSING_IN = re.compile(_MOMENTS, re.IGNORECASE)
# A tool's answer also says how long it took and where things lay in memory. A count ("12 of 300") is
# progress and stays; so does a duration that was put in ("timeout 5s"), which is meant.
_PASSING_OUT = re.compile(
    _MOMENTS + r"|\b0x[0-9a-f]{6,16}\b|\b\d+(?:\.\d+)? ?(?:ms|us|µs|ns|s|secs?|seconds?|minutes?)\b",
    re.IGNORECASE,
)


def normal_digest(tool: str, given: Any) -> str:
    """Of a call: the tool and its input, a text or what JSON can hold; never raises on those."""
    meant = _without_talk(given)
    mark = WAITING if _waits(tool, meant) else ""
    return mark + _short(f"{tool}\n{_written(meant)}")


def normal_result(text: str) -> str:
    """Of what came back: equal for two answers that differ only in times, durations and random ids."""
    if len(text) > MOST_CHARS:
        # Times and durations in the middle must not matter, so no more than its lines are counted.
        lines = text.count("\n", _HALF_CHARS, -_HALF_CHARS)
        text = f"{text[:_HALF_CHARS]} {lines} {text[-_HALF_CHARS:]}"
    return _short(_plain(text, _PASSING_OUT))


def _short(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _plain_input(text: str) -> str:
    """What is put in is meant, to the last letter; only its ends are looked at for what is not."""
    if len(text) <= MOST_CHARS:
        return _plain(text, _PASSING_IN)
    middle = _short(text[_HALF_CHARS:-_HALF_CHARS])
    return _plain(f"{text[:_HALF_CHARS]} {middle} {text[-_HALF_CHARS:]}", _PASSING_IN)


def _plain(text: str, passing: re.Pattern[str]) -> str:
    return _BLANKS.sub(" ", passing.sub("~", text)).strip()


def _written(given: Any) -> str:
    """One text for one meaning: keys in order, texts made plain."""
    return given if isinstance(given, str) else json.dumps(given, sort_keys=True, ensure_ascii=True)


def _without_talk(given: Any) -> Any:
    if isinstance(given, dict) and any(key in given for key in _COMMAND_KEYS):
        given = {key: value for key, value in given.items() if key not in _TALK_KEYS}
    return _plain_all(given, _DEEPEST)


def _plain_all(given: Any, depth: int) -> Any:
    if isinstance(given, str):
        return _plain_input(given)
    if depth == 0:
        return "..."
    if given is None or isinstance(given, int):
        # Python refuses to write a number of thousands of digits in the usual way.
        return given if not given or given.bit_length() < 256 else hex(given)
    if isinstance(given, dict):
        return {str(key): _plain_all(value, depth - 1) for key, value in given.items()}
    if isinstance(given, list | tuple):
        return [_plain_all(value, depth - 1) for value in given]
    return _plain_input(repr(given))


def _waits(tool: str, given: Any) -> bool:
    """Does the call itself pass time, or look at something that goes on elsewhere?"""
    if tool.lower().rpartition("__")[2] in _WAITING_TOOLS:
        return True
    if isinstance(given, str):
        return _WAITING_WORDS.search(given) is not None
    commands = [given[key] for key in _COMMAND_KEYS if key in given] if isinstance(given, dict) else []
    return any(_WAITING_WORDS.search(_words_of(command)) is not None for command in commands)


def _words_of(command: Any) -> str:
    """A command is one text or a list of words; `bash -lc "sleep 5"` is the latter."""
    return " ".join(map(str, command)) if isinstance(command, list) else str(command)
