"""The repository's check commands: which of them a change needs, how a verdict is known again, and how a
failure is told. Pure; nothing is run or read here.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from lineclear.core.claims.resources import overlaps
from lineclear.core.instants import show_duration
from lineclear.core.masking import mask
from lineclear.core.runs.outputs import file_named
from lineclear.core.words.refusals import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lineclear.core.claims.resources import Resource

# Exit codes of a command that was ended by us.
OUT_OF_TIME, CANCELLED = -1, -2

MOST_TOLD_BYTES = 4_096
_MOST_COMMAND_CHARS = 500
_SIGNALS = {1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
            9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM"}  # fmt: skip
_MOST_SIGNAL = 64

# What says which dependencies a tree needs, by the file's name in small letters.
_MANIFESTS = frozenset(
    (
        "package.json", "npm-shrinkwrap.json", "pyproject.toml", "setup.py", "setup.cfg", "pipfile",
        "go.mod", "go.sum", "cargo.toml", "gemfile", "composer.json", "pom.xml", "mix.exs", "pubspec.yaml",
        "package.swift", "package.resolved", ".gitmodules",
    )
)  # fmt: skip
_MANIFEST_BEGINNINGS = ("requirements", "build.gradle", "settings.gradle")
_SUBMODULE = "160000"


class Check:
    """A command that has to succeed. `name` is for people; `where` is its place in the committed settings,
    for the question of trust: "" when a person stated it in this clone. `env` is added to what it finds."""

    def __init__(
        self, command: str, *, timeout_ms: int, retries: int = 0, name: str = "", where: str = "",
        env: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.command, self.timeout_ms, self.retries = command, timeout_ms, retries
        self.name, self.where, self.env = name or command, where, env or {}


def checks_for(stated: Iterable[tuple[Check, Resource | None]], changed: Iterable[str]) -> list[Check]:
    """Those that a change of these paths needs, each command once, in their order. A check without a place
    is always needed, also when nothing has changed."""
    files = [file for path in changed if (file := file_named(path)) is not None]
    found: dict[str, Check] = {}
    for check, place in stated:
        if check.command in found:
            continue
        if place is None or any(overlaps(file, place) for file in files):
            found[check.command] = check
    return list(found.values())


def trust_places(checks: Iterable[Check], *, has_setup: bool, has_env: bool) -> list[str]:
    """Where the committed settings state what these checks run: the commands themselves, and what makes a
    tree ready for them. A person has to have seen it; the rest of the file does not matter here."""
    places = [check.where for check in checks if check.where]
    places += ["worktrees.setup"] if has_setup else []
    places += ["worktrees.env"] if has_env else []
    return places


# -- verdicts ---------------------------------------------------------------------------------


def verdict_key(tree: str, command: str, provisioning: str) -> str:
    """Equal for runs that must end alike: the same files, command and surroundings."""
    return digest_of(("verdict", tree, command, provisioning))


def digest_of(parts: Iterable[str]) -> str:
    """One name for a list of texts; another list, however cut, has another one."""
    found = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape")
        found.update(b"%d:" % len(data) + data)
    return found.hexdigest()


# -- what a set-up depends on -----------------------------------------------------------------


def is_manifest(path: str) -> bool:
    """Does this file say which dependencies are needed? A name with a word that begins with "lock" does
    (`yarn.lock`, `package-lock.json`, `bun.lockb`); `clock.py` and `blocks.css` do not."""
    name = path.rpartition("/")[2].lower()
    if name in _MANIFESTS or name.startswith(_MANIFEST_BEGINNINGS):
        return True
    at = name.find("lock")
    while at > 0 and name[at - 1].isalnum():
        at = name.find("lock", at + 1)
    return at >= 0


def manifests_digest(entries: Iterable[tuple[str, str, str]]) -> str:
    """Of all (mode, object id, path) of a tree: manifests, lock files, and the commits of submodules."""
    return digest_of(
        word for entry in entries if entry[0] == _SUBMODULE or is_manifest(entry[2]) for word in entry
    )


# -- telling ----------------------------------------------------------------------------------


def tell_failure(
    command: str, code: int, tail: str, *, timeout_ms: int = 0, tries: int = 1, secrets: Sequence[str] = ()
) -> str:
    """For the author, in at most 4 KB: the command, how it ended, its last lines. Those are
    marked as quoted, without control characters and secrets."""
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
    """Output as a person would have read it in the end: without colours, and of a line that was written
    over again and again only the last state."""
    import re

    text = re.sub(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])", "", text)
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return "\n".join("".join(ch for ch in line if ch.isprintable() or ch == "\t") for line in lines)


def _last_lines(text: str, most_bytes: int) -> list[str]:
    """As many as fit, each with the mark before it; of one that alone is too long its end."""
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
