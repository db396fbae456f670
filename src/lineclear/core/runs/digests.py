"""Digests of an agent's calls and their results, so that repetition can be noticed.

Two calls have the same digest if they differ only in things that do not matter for progress: blanks, the time
of day, a random id, the description of a command. Digests are only compared inside one run; they do not
protect secrets.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

# The prefix of the digest of a call that itself waits: it may be repeated much longer than others.
WAITING = "wait:"

# Of a long text only the head and the tail are normalised: searching all of it for times costs milliseconds.
MOST_CHARS = 16_384
_HALF_CHARS = MOST_CHARS // 2
_DEEPEST = 12

_COMMAND_KEYS = ("command", "cmd", "script", "commands")
# Next to a command, these hold the model's own remarks, which are worded differently each time.
_TALK_KEYS = frozenset(("description", "explanation", "justification", "reason", "thought", "timeout"))

# Tools of several clients that look at, or wait for, a command in the background.
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
# Times and random ids.
_MOMENTS = (
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9}|\.\d+)?\b"
)
_VOLATILE_INPUT = re.compile(_MOMENTS, re.IGNORECASE)
# A tool's answer also contains durations and memory addresses. A count ("12 of 300") is progress and stays;
# so does a duration in the input ("timeout 5s"), which is intended.
_VOLATILE_OUTPUT = re.compile(
    _MOMENTS + r"|\b0x[0-9a-f]{6,16}\b|\b\d+(?:\.\d+)? ?(?:ms|us|µs|ns|s|secs?|seconds?|minutes?)\b",
    re.IGNORECASE,
)


def normal_digest(tool: str, given: Any) -> str:
    """The digest of a call: the tool and its input, which is a text or a JSON value. Never raises."""
    if isinstance(given, dict) and any(key in given for key in _COMMAND_KEYS):
        given = {key: value for key, value in given.items() if key not in _TALK_KEYS}
    plain = _plain_all(given, _DEEPEST)
    written = plain if isinstance(plain, str) else json.dumps(plain, sort_keys=True, ensure_ascii=True)
    mark = WAITING if _waits(tool, plain) else ""
    return mark + _short(f"{tool}\n{written}")


def normal_result(text: str) -> str:
    """The digest of a result: equal for results that differ only in times, durations and random ids."""
    if len(text) > MOST_CHARS:
        # Times and durations in the middle must not matter, so only its lines are counted.
        lines = text.count("\n", _HALF_CHARS, -_HALF_CHARS)
        text = f"{text[:_HALF_CHARS]} {lines} {text[-_HALF_CHARS:]}"
    return _short(_plain(text, _VOLATILE_OUTPUT))


def _short(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _plain_input(text: str) -> str:
    """The input normalised; of a long one every character of the middle counts."""
    if len(text) <= MOST_CHARS:
        return _plain(text, _VOLATILE_INPUT)
    middle = _short(text[_HALF_CHARS:-_HALF_CHARS])
    return _plain(f"{text[:_HALF_CHARS]} {middle} {text[-_HALF_CHARS:]}", _VOLATILE_INPUT)


def _plain(text: str, volatile: re.Pattern[str]) -> str:
    return _BLANKS.sub(" ", volatile.sub("~", text)).strip()


def _plain_all(given: Any, depth: int) -> Any:
    if isinstance(given, str):
        return _plain_input(given)
    if depth == 0:
        return "..."
    if given is None or isinstance(given, int):
        # Python refuses to write a number with thousands of digits in decimal.
        return given if not given or given.bit_length() < 256 else hex(given)
    if isinstance(given, dict):
        return {str(key): _plain_all(value, depth - 1) for key, value in given.items()}
    if isinstance(given, list | tuple):
        return [_plain_all(value, depth - 1) for value in given]
    return _plain_input(repr(given))


def _waits(tool: str, given: Any) -> bool:
    """Does the call itself wait, or look at something that runs elsewhere?"""
    if tool.lower().rpartition("__")[2] in _WAITING_TOOLS:
        return True
    if isinstance(given, str):
        return _WAITING_WORDS.search(given) is not None
    commands = [given[key] for key in _COMMAND_KEYS if key in given] if isinstance(given, dict) else []
    return any(_WAITING_WORDS.search(_words_of(command)) is not None for command in commands)


def _words_of(command: Any) -> str:
    """A command may be one text or a list of words, such as ["bash", "-lc", "sleep 5"]."""
    return " ".join(map(str, command)) if isinstance(command, list) else str(command)
