"""The clients by name. A new one is a module beside this file, a row here, and recorded streams in tests."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from lineclear.clients.launch import Launch, Started
    from lineclear.clients.stream_reader import Reader
    from lineclear.core.signs import Usage

    class Client(Protocol):
        """A module with these names. All functions are pure."""

        PROGRAM: str
        """What is started when the settings name no command; empty: there is none."""
        INSTALL: str
        """A command that installs it."""
        LOGIN: str
        """A command that logs in."""
        TELLS_COST: bool
        """Does its output say what it costs?"""

        def launch(self, asked: Launch) -> Started: ...

        def reader(self, worktree: str = "", before: Usage | None = None) -> Reader: ...


# name -> how people know it
CLIENTS: dict[str, str] = {
    "aider": "aider",
    "claude": "Claude Code",
    "codex": "Codex CLI",
    "copilot": "GitHub Copilot CLI",
    "gemini": "Gemini CLI",
    "goose": "goose",
    "lineclear": "any command that writes our lines of JSON",
    "opencode": "opencode",
    "plain": "any command",
    "qwen": "Qwen Code",
}


# What a client writes in a person's home: a sandbox leaves these writable, when they are there.
STATE_PATHS: dict[str, tuple[str, ...]] = {
    "aider": ("~/.aider",),
    "claude": ("~/.claude", "~/.claude.json"),
    "codex": ("~/.codex",),
    "copilot": ("~/.copilot",),
    "gemini": ("~/.gemini",),
    "goose": ("~/.config/goose", "~/.local/share/goose", "~/.local/state/goose"),
    "opencode": (
        "~/.local/share/opencode",
        "~/.local/state/opencode",
        "~/.cache/opencode",
        "~/.config/opencode",
    ),
    "qwen": ("~/.qwen",),
}


def client_named(name: str) -> Client:
    """The module; KeyError for a name that is not in the table."""
    from importlib import import_module
    from typing import cast

    if name not in CLIENTS:
        raise KeyError(name)
    return cast("Client", import_module(f"lineclear.clients.{name}.stream"))


def missing(name: str, program: str) -> str:
    """What to tell a person when the program of a client could not be found."""
    client = client_named(name)
    if not client.INSTALL or program != client.PROGRAM:
        return f"{program} is not installed, or not on the PATH"
    return f"{CLIENTS[name]} is not installed, or not on the PATH; `{client.INSTALL}` installs it"
