"""What a client's `start` gets when a run begins (`Launch`), and what it returns (`WorkerCommand`).

Plain values; the supervisor adds the agent's identity to the environment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# edit: may edit in its own worktree, commit there, and run `lineclear` commands and the checks without
# asking. full: may do everything without asking. none: the client's own default.
EDIT, FULL, NONE = "edit", "full", "none"
PERMISSIONS = (EDIT, FULL, NONE)

# The standard input of the process: empty, or the prompt.
NO_INPUT, PROMPT_INPUT = "null", "prompt"

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=+@%")

# Commands that read and record the agent's own work, but reach no other branch and no remote.
GIT_COMMANDS = ("add", "commit", "diff", "log", "mv", "restore", "rm", "show", "status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """`command`: the client's program, or the user's own command in its place. `session`: an id that we
    chose, for clients that accept one. `git_dir`: the worktree's own part of the shared git directory
    `common_dir`.
    """

    prompt: str
    prompt_file: str = ""
    model: str = ""
    permissions: str = EDIT
    resume_session: str = ""
    session: str = ""
    worktree: str = ""
    git_dir: str = ""
    common_dir: str = ""
    command: Sequence[str] = ()
    allowed_commands: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.permissions not in PERMISSIONS:
            raise ValueError(f"permissions are one of {PERMISSIONS}, not {self.permissions!r}")


@dataclass(frozen=True, slots=True)
class WorkerCommand:
    """How to start the client. `env` is added to the inherited environment. `session`: the id of this run's
    session, if we know it before the client reports it."""

    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)
    stdin: str = PROMPT_INPUT
    session: str = ""


def shell_prefixes(launch: Launch) -> list[str]:
    """The prefixes of shell commands that an agent with `edit` may run without asking."""
    ours = [f"git {verb}" for verb in GIT_COMMANDS] + ["lineclear"]
    theirs = [_beginning(part) for command in launch.allowed_commands for part in _parts(command)]
    return list(dict.fromkeys([*ours, *filter(None, theirs)]))


def _parts(command: str) -> list[str]:
    """Split `a && b; c | d`: clients check each command separately."""
    for operator in ("&&", "||", ";", "|"):
        command = command.replace(operator, "\n")
    return command.splitlines()


def _beginning(command: str) -> str:
    """The first words, up to one with a character that has a meaning in a client's rules."""
    words: list[str] = []
    for word in command.split():
        if not _PLAIN.issuperset(word):
            break
        words.append(word)
    return " ".join(words)


def option(name: str, value: str) -> list[str]:
    return [name, value] if value else []


def in_session(argv: list[str], asked: Launch) -> WorkerCommand:
    """For clients that accept our session id, and resume with it."""
    session = asked.resume_session or asked.session
    return WorkerCommand(
        [*argv, *option("--resume" if asked.resume_session else "--session-id", session)], session=session
    )


def filled(words: Sequence[str], launch: Launch) -> list[str]:
    """A command with `{prompt}`, `{prompt_file}`, `{model}`, `{session}` and `{worktree}` replaced, in one
    pass: a prompt that contains `{model}` stays as it is."""
    places = {
        "prompt": launch.prompt,
        "prompt_file": launch.prompt_file,
        "model": launch.model,
        "session": launch.resume_session or launch.session,
        "worktree": launch.worktree,
    }
    return [_fill(word, places) for word in words]


def _fill(word: str, places: dict[str, str]) -> str:
    pieces = word.split("{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        name, brace, rest = piece.partition("}")
        out.append(places[name] + rest if brace and name in places else "{" + piece)
    return "".join(out)
