"""The repository's check commands: which of them a change needs, the key of a stored verdict, and the report
of a failure. Pure; nothing is run or read here.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from lineclear.core.claims.resources import overlaps
from lineclear.core.instants import show_duration
from lineclear.core.runs.outputs import file_named
from lineclear.core.secret_masking import mask
from lineclear.core.words.refusals import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lineclear.core.claims.resources import Resource

# Exit codes of a command that we ended.
OUT_OF_TIME, CANCELLED = -1, -2

MOST_TOLD_BYTES = 4_096
_MOST_COMMAND_CHARS = 500
_SIGNALS = {1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
            9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM"}  # fmt: skip
_MOST_SIGNAL = 64

# Files that state which dependencies a tree needs, by their names in lower case.
_MANIFESTS = frozenset(
    (
        "package.json", "npm-shrinkwrap.json", "pyproject.toml", "setup.py", "setup.cfg", "pipfile",
        "go.mod", "go.sum", "cargo.toml", "gemfile", "composer.json", "pom.xml", "mix.exs", "pubspec.yaml",
        "package.swift", "package.resolved", ".gitmodules",
    )
)  # fmt: skip
_MANIFEST_BEGINNINGS = ("requirements", "build.gradle", "settings.gradle")
_SUBMODULE = "160000"
_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


class Check:
    """A command that has to succeed. `name` is for people; `where` is its place in the committed settings,
    which decides about trust: "" if a person stated it in this clone. `env` is added to its environment."""

    def __init__(
        self, command: str, *, timeout_ms: int, retries: int = 0, name: str = "", where: str = "",
        env: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.command, self.timeout_ms, self.retries = command, timeout_ms, retries
        self.name, self.where, self.env = name or command, where, env or {}


def checks_for(stated: Iterable[tuple[Check, Resource | None]], changed: Iterable[str]) -> list[Check]:
    """The checks that a change of these paths needs, each command once, in order. A check without a place is
    always needed, even if nothing has changed."""
    files = [file for path in changed if (file := file_named(path)) is not None]
    found: dict[str, Check] = {}
    for check, place in stated:
        if check.command in found:
            continue
        if place is None or any(overlaps(file, place) for file in files):
            found[check.command] = check
    return list(found.values())


def trust_places(checks: Iterable[Check], *, has_setup: bool, has_env: bool) -> list[str]:
    """The places in the committed settings that a person must have trusted before these checks run: their
    commands, and the commands and variables that prepare a tree for them."""
    places = [check.where for check in checks if check.where]
    places += ["worktrees.setup"] if has_setup else []
    places += ["worktrees.env"] if has_env else []
    return places


# -- verdicts ---------------------------------------------------------------------------------


def verdict_key(tree: str, command: str, provisioning: str) -> str:
    """The key of a verdict: equal for runs of the same command on the same files with the same set-up."""
    return digest_of(("verdict", tree, command, provisioning))


def digest_of(parts: Iterable[str]) -> str:
    """A digest of a list of texts. Each length is part of it, so that ["ab"] and ["a", "b"] differ."""
    found = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape")
        found.update(b"%d:" % len(data) + data)
    return found.hexdigest()


# -- the files that a set-up depends on -------------------------------------------------------


def is_manifest(path: str) -> bool:
    """Does this file state which dependencies are needed? So does any name with a word that begins with
    "lock" (`yarn.lock`, `package-lock.json`, `bun.lockb`), but not `clock.py` or `blocks.css`."""
    name = path.rpartition("/")[2].lower()
    if name in _MANIFESTS or name.startswith(_MANIFEST_BEGINNINGS):
        return True
    at = name.find("lock")
    while at > 0 and name[at - 1].isalnum():
        at = name.find("lock", at + 1)
    return at >= 0


def manifests_digest(entries: Iterable[tuple[str, str, str]]) -> str:
    """A digest of a tree's manifests, lock files and submodule commits; `entries` are (mode, object id,
    path)."""
    return digest_of(
        word for entry in entries if entry[0] == _SUBMODULE or is_manifest(entry[2]) for word in entry
    )


# -- the report of a failure ------------------------------------------------------------------


def tell_failure(
    command: str, code: int, tail: str, *, timeout_ms: int = 0, tries: int = 1, secrets: Sequence[str] = ()
) -> str:
    """The report for the author, at most 4 KB: the command, how it ended, and its last lines, which are
    quoted and have no control characters or secrets."""
    again = f", {tries} times in a row" if tries > 1 else ""
    shown = shorten(mask(command, secrets).replace("`", "'"), _MOST_COMMAND_CHARS)
    head = f"The check `{shown}` {how_it_ended(code, timeout_ms)}{again}."
    lines = _last_lines(mask(plain_output(tail), secrets), MOST_TOLD_BYTES - len(head.encode()) - 64)
    if not lines:
        return f"{head} It printed nothing.\n"
    return f"{head} Its last lines:\n" + "".join(f"| {line}\n" for line in lines)


def how_it_ended(code: int, timeout_ms: int = 0) -> str:
    if code == OUT_OF_TIME:
        return (
            f"did not finish within {show_duration(timeout_ms)}" if timeout_ms else "did not finish in time"
        )
    if code == CANCELLED:
        return "was cancelled"
    if 128 < code <= 128 + _MOST_SIGNAL:
        number = code - 128
        return f"was ended by signal {number}" + (f" ({_SIGNALS[number]})" if number in _SIGNALS else "")
    return f"failed with exit code {code}"


def plain_output(text: str) -> str:
    """Output as it finally looked on the screen: without colours, and only the last state of a line that was
    overwritten."""
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in _ESCAPE_SEQUENCE.sub("", text).split("\n"))
    return "\n".join("".join(ch for ch in line if ch.isprintable() or ch == "\t") for line in lines)


def _last_lines(text: str, most_bytes: int) -> list[str]:
    """As many last lines as fit with their "| " marks; if not even one fits, the end of the last one."""
    kept: list[str] = []
    left_bytes = most_bytes
    for line in reversed(text.strip("\n").split("\n") if text.strip() else []):
        data = line.rstrip().encode("utf-8", "replace")
        if len(data) + 3 > left_bytes:
            if not kept:
                kept.append("..." + data[-(left_bytes - 6) :].decode("utf-8", "ignore"))
            break
        kept.append(data.decode())
        left_bytes -= len(data) + 3
    return kept[::-1]
