"""The clients, one row each. All code about a client is in the folder of its name, in the modules that its
row lists as parts. A module is imported when it is needed: a hook loads only its own client's `hook`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from lineclear.app.setup.ports import SetupModule
    from lineclear.clients.launch import Launch, WorkerCommand
    from lineclear.clients.probe import Probe
    from lineclear.clients.stream_reader import StreamReader
    from lineclear.core.agents.hooks import HookAnswer, HookCall
    from lineclear.core.runs.client_events import Usage

    class HookModule(Protocol):
        """The client's hook protocol; both functions are pure."""

        EVENTS: dict[str, str]
        """The client's event -> the tools that the hook is installed for, "" for all of them."""

        def read_call(self, event: str, data: dict[str, Any], /) -> HookCall | None: ...
        def write_answer(self, event: str, answer: HookAnswer, /) -> bytes: ...

    class StartModule(Protocol):
        """The command line of a worker; pure."""

        def launch(self, asked: Launch, /) -> WorkerCommand: ...

    class StreamModule(Protocol):
        """Reads a worker's output; no I/O."""

        def reader(self, worktree: str = "", before: Usage | None = None) -> StreamReader: ...

    class ProbeModule(Protocol):
        """How `setup --check` starts the client."""

        EVENT: str
        """The hook that the probe expects to run."""

        def probe(self, url: str, /) -> Probe: ...


HOOK, SETUP, START, STREAM, PROBE = "hook", "setup", "start", "stream", "probe"

HARD, AFTER, INSTRUCTED, NO = "hard", "after the fact", "instructions only", "no"
AT_ONCE, SEARCHED = "at once", "by search"
_ONE, _REPORTED, _INVISIBLE = "one process for an edit", "reported", "not visible"
_LATER, _AT_PROMPTS = "after a tool, at the start", "after a tool, at a prompt"


class Guarantees:
    """What we can enforce with a coding agent, in the words of the reference page.

    `seen`: tried with the real program, or known only from its documentation. `tools`: how its model finds
    the tools of our MCP server; `no` if set-up does not register the server.
    """

    __slots__ = ("closed", "context", "cost", "edits", "seen", "shell", "subagents", "tools")

    def __init__(
        self, *, context: str, subagents: str, edits: str = HARD, shell: str = AFTER, cost: str = _ONE,
        closed: str = NO, seen: str = "real program", tools: str = NO,
    ) -> None:  # fmt: skip
        self.edits, self.context, self.shell, self.subagents = edits, context, shell, subagents
        self.cost, self.closed, self.seen, self.tools = cost, closed, seen, tools


class Client:
    """One row. `parts`: the modules in the client's folder.

    `program`: started if the settings name no command; may be "". `install`: a command that installs it.
    `home_paths`: what it writes in a person's home; a sandbox leaves these writable. `tells_cost`: its output
    says what a run costs. `guarantees`: None if it is not a coding agent.
    """

    __slots__ = (
        "guarantees", "home_paths", "install", "name", "parts", "program", "tells_cost", "title",
    )  # fmt: skip

    def __init__(
        self, name: str, title: str, *parts: str, program: str = "", install: str = "",
        home_paths: tuple[str, ...] = (), tells_cost: bool = False, guarantees: Guarantees | None = None,
    ) -> None:  # fmt: skip
        self.name, self.title, self.parts = name, title, parts
        self.program, self.install, self.home_paths = program, install, home_paths
        self.tells_cost, self.guarantees = tells_cost, guarantees

    @property
    def folder(self) -> str:
        return self.name.replace("-", "_")


_ROWS = (
    Client(
        "claude", "Claude Code", HOOK, SETUP, START, STREAM, PROBE,
        program="claude", install="npm install -g @anthropic-ai/claude-code",
        home_paths=("~/.claude", "~/.claude.json"), tells_cost=True,
        guarantees=Guarantees(context="at every tool", subagents="by name", closed="yes", tools=AT_ONCE),
    ),
    Client(
        "codex", "Codex CLI", HOOK, SETUP, START, STREAM, PROBE,
        program="codex", install="npm install -g @openai/codex", home_paths=("~/.codex",),
        guarantees=Guarantees(context="at every tool", subagents=_REPORTED, tools=SEARCHED),
    ),
    Client(
        "gemini", "Gemini CLI", HOOK, SETUP, START, STREAM, PROBE,
        program="gemini", install="npm install -g @google/gemini-cli", home_paths=("~/.gemini",),
        guarantees=Guarantees(context=_AT_PROMPTS, subagents=_INVISIBLE, tools=AT_ONCE),
    ),
    Client(
        "qwen", "Qwen Code", HOOK, SETUP, START, STREAM, PROBE,
        program="qwen", install="npm install -g @qwen-code/qwen-code", home_paths=("~/.qwen",),
        guarantees=Guarantees(context=_AT_PROMPTS, subagents="by name", tools=SEARCHED),
    ),
    Client(
        "opencode", "opencode", HOOK, SETUP, START, STREAM, PROBE,
        program="opencode", install="npm install -g opencode-ai", tells_cost=True,
        home_paths=(
            "~/.local/share/opencode", "~/.local/state/opencode", "~/.cache/opencode", "~/.config/opencode",
        ),
        guarantees=Guarantees(context=_LATER, subagents="as agents of their own", tools=AT_ONCE),
    ),
    Client(
        "copilot", "GitHub Copilot CLI", HOOK, SETUP, START, STREAM, PROBE,
        program="copilot", install="npm install -g @github/copilot", home_paths=("~/.copilot",),
        guarantees=Guarantees(context="at every tool", subagents="by name", tools=AT_ONCE),
    ),
    Client(
        "cursor", "Cursor", HOOK, SETUP, program="cursor-agent",
        guarantees=Guarantees(
            context=_LATER, subagents=_REPORTED, closed="yes", seen="documentation", tools=AT_ONCE,
        ),
    ),
    Client(
        "droid", "Factory droid", HOOK, SETUP, PROBE, program="droid",
        guarantees=Guarantees(context=_LATER, subagents=_INVISIBLE, tools=SEARCHED),
    ),
    Client(
        "grok", "Grok Build", HOOK, SETUP, PROBE, program="grok",
        guarantees=Guarantees(context="at every tool", subagents="by name", tools=SEARCHED),
    ),
    Client(
        "kimi", "Kimi Code", HOOK, SETUP, PROBE, program="kimi",
        guarantees=Guarantees(
            context="at a prompt; otherwise a call is stopped once", subagents=_INVISIBLE, tools=AT_ONCE,
        ),
    ),
    Client(
        "cline", "Cline", HOOK, SETUP, PROBE, program="cline",
        guarantees=Guarantees(context="at every tool", subagents="by name"),
    ),
    Client(
        "goose", "goose", HOOK, SETUP, START, STREAM, PROBE,
        program="goose", install="npm install -g @aaif/goose",
        home_paths=("~/.config/goose", "~/.local/share/goose", "~/.local/state/goose"),
        guarantees=Guarantees(
            edits="hard (1.52 and later)", context="when it wants to stop", subagents=AFTER, closed="yes",
            tools=AT_ONCE,
        ),
    ),
    Client(
        "aider", "aider", SETUP, START, STREAM,
        program="aider", install="pipx install aider-chat", home_paths=("~/.aider",),
        guarantees=Guarantees(
            edits=INSTRUCTED, context="AGENTS.md, if configured to read it", shell=INSTRUCTED, subagents=NO,
            cost="nothing", seen="documentation",
        ),
    ),
    Client("plain", "any command", START, STREAM),
    Client("lineclear", "any command that writes lineclear's JSON lines", START, STREAM, tells_cost=True),
    Client("git", "git's own hooks: commit, push, main", SETUP),
    Client("git-merge", "git's merge driver and mergetool", SETUP),
)  # fmt: skip

CLIENTS: dict[str, Client] = {row.name: row for row in _ROWS}


def names_with(part: str) -> list[str]:
    """The clients that have this part, in the order of the table."""
    return [row.name for row in _ROWS if part in row.parts]


def coding_agents() -> list[tuple[Client, Guarantees]]:
    """The clients on the reference page and in `setup --list`."""
    return [(row, row.guarantees) for row in _ROWS if row.guarantees is not None]


def hook_of(name: str) -> HookModule | None:
    """None for an unknown client, or one without hooks."""
    row = CLIENTS.get(name)
    if row is None or HOOK not in row.parts:
        return None
    module: HookModule = _module(name, HOOK)
    return module


def setup_of(name: str) -> SetupModule:
    """Raises KeyError if the client does not have this part; so do the functions below."""
    module: SetupModule = _module(name, SETUP)
    return module


def start_of(name: str) -> StartModule:
    module: StartModule = _module(name, START)
    return module


def stream_of(name: str) -> StreamModule:
    module: StreamModule = _module(name, STREAM)
    return module


def probe_of(name: str) -> ProbeModule:
    module: ProbeModule = _module(name, PROBE)
    return module


def _module(name: str, part: str) -> Any:
    row = CLIENTS[name]
    if part not in row.parts:
        raise KeyError(name)
    # `__import__`, since importlib would cost as much as the hook's module itself.
    return __import__(f"lineclear.clients.{row.folder}.{part}", fromlist=[part])


def why_missing(name: str, program: str) -> str:
    """The message for a person when a client's program is missing."""
    row = CLIENTS[name]
    if not row.install or program != row.program:
        return f"{program} is not installed or not on the PATH"
    return f"{row.title} is not installed or not on the PATH; `{row.install}` installs it"
