"""Which coding agents' hooks we can answer; the module of one is loaded when it calls."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from lineclear.core.hooks import HookAnswer, HookCall

    class Hooking(Protocol):
        """One client. `EVENTS`: the host's event -> the tools it is installed for."""

        EVENTS: dict[str, str]
        FAIL_CLOSED: dict[str, str]

        def read_call(self, event: str, data: dict[str, Any], /) -> HookCall | None: ...
        def write_answer(self, event: str, answer: HookAnswer, /) -> tuple[bytes, int]: ...


NAMES = (
    "claude",
    "codex",
    "gemini",
    "qwen",
    "copilot",
    "droid",
    "grok",
    "kimi",
    "opencode",
    "cursor",
    "cline",
    "goose",
)


def hooking(client: str) -> Hooking | None:
    """The client's module, None for one that we do not know."""
    if client not in NAMES:
        return None
    # `__import__` instead of importlib, which costs as much as the module itself.
    package = __import__(f"lineclear.clients.{client}.hook", fromlist=["read_call"])
    found: Hooking = package
    return found
