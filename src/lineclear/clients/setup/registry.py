"""The clients that `setup` knows, and what each of them can be held to: the table of the documentation."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from lineclear.clients.setup_plan import Found, Plan

    class ClientSetup(Protocol):
        """A module with these names; both plans are pure."""

        IN_WORKTREES: bool
        """Has every linked worktree its own copy of the files below the root?"""

        def files(self, found: Found, /) -> list[str]: ...
        def plan_install(self, found: Found, /) -> Plan: ...
        def plan_remove(self, found: Found, /) -> Plan: ...


HARD, AFTER, TOLD, NO = "hard", "after the fact", "told only", "no"
AT_ONCE, SEARCHED = "at once", "by search"


class Reach:
    """What holds for a client. `seen`: tried with the real program, or only read about. `tools`: how it gets
    the tools of our MCP server from set-up; `no` where it is told of them by hand, if at all."""

    __slots__ = ("closed", "context", "cost", "edits", "seen", "shell", "subagents", "title", "tools")

    def __init__(
        self, title: str, *, edits: str, context: str, shell: str, subagents: str, cost: str, closed: str,
        seen: str, tools: str = NO,
    ) -> None:  # fmt: skip
        self.title, self.edits, self.context, self.shell = title, edits, context, shell
        self.subagents, self.cost, self.closed, self.seen = subagents, cost, closed, seen
        self.tools = tools


_ONE, _NONE = "one process for an edit", "no sign of them"

_LATER = "after a tool, at the start"

CLIENTS: dict[str, Reach] = {
    "claude": Reach(
        "Claude Code", edits=HARD, context="at every tool", shell=AFTER, subagents="by name", cost=_ONE,
        closed="yes", seen="real program", tools=AT_ONCE,
    ),
    "codex": Reach(
        "Codex CLI", edits=HARD, context="at every tool", shell=AFTER, subagents="told of", cost=_ONE,
        closed="no", seen="real program", tools=SEARCHED,
    ),
    "gemini": Reach(
        "Gemini CLI", edits=HARD, context="after a tool, at a prompt", shell=AFTER, subagents=_NONE,
        cost=_ONE, closed="no", seen="real program", tools=AT_ONCE,
    ),
    "qwen": Reach(
        "Qwen Code", edits=HARD, context="at every tool", shell=AFTER, subagents=_NONE, cost=_ONE,
        closed="no", seen="real program", tools=SEARCHED,
    ),
    "opencode": Reach(
        "opencode", edits=HARD, context=_LATER, shell=AFTER, subagents=_NONE,
        cost=_ONE, closed="no", seen="real program", tools=AT_ONCE,
    ),
    "copilot": Reach(
        "GitHub Copilot CLI", edits=HARD, context="at every tool", shell=AFTER, subagents=_NONE,
        cost=_ONE, closed="no", seen="real program", tools=AT_ONCE,
    ),
    "cursor": Reach(
        "Cursor", edits=HARD, context=_LATER, shell=AFTER, subagents="told of", cost=_ONE,
        closed="yes", seen="documentation", tools=AT_ONCE,
    ),
    "droid": Reach(
        "Factory droid", edits=HARD, context=_LATER, shell=AFTER, subagents=_NONE,
        cost=_ONE, closed="no", seen="real program", tools=SEARCHED,
    ),
    "grok": Reach(
        "Grok Build", edits=HARD, context="at every tool", shell=AFTER, subagents="by name", cost=_ONE,
        closed="no", seen="real program", tools=SEARCHED,
    ),
    "kimi": Reach(
        "Kimi Code", edits=HARD, context="at a prompt; else a call is held back, once", shell=AFTER,
        subagents=_NONE, cost=_ONE, closed="no", seen="real program", tools=AT_ONCE,
    ),
    "cline": Reach(
        "Cline", edits=HARD, context="at every tool", shell=AFTER, subagents="by name",
        cost=_ONE, closed="no", seen="real program",
    ),
    "goose": Reach(
        "goose", edits="hard (1.52 and later)", context="when it wants to stop", shell=AFTER,
        subagents=AFTER, cost=_ONE, closed="yes", seen="real program", tools=AT_ONCE,
    ),
    "aider": Reach(
        "aider", edits=TOLD, context="AGENTS.md, if it is told to read it", shell=TOLD, subagents=NO,
        cost="nothing", closed="no", seen="documentation",
    ),
}  # fmt: skip


def setup_of(name: str) -> ClientSetup:
    """The module; KeyError for a name that is not in the table."""
    from importlib import import_module
    from typing import cast

    if name not in CLIENTS:
        raise KeyError(name)
    return cast("ClientSetup", import_module(f"lineclear.clients.{name}.setup"))
