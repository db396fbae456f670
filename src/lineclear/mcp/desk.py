"""What the server needs from below: somebody who does verbs, one call at a time or many at once."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol

    from lineclear.core.refusals import Refusal

    class Desk(Protocol):
        """Safe to call from several threads at once."""

        def perform(self, verb: str, given: dict[str, Any], call: Call, /) -> Reply:
            """Do a verb as the command line does: the same checks, words and data. A refusal is a reply too;
            `Stopped` is raised when the call was stopped while it waited; it stands in no line then."""

        def refuse(self, refusal: Refusal, /) -> Reply:
            """A refusal in the same form as those that verbs give."""

        def follow(self, call: Call, /) -> Iterator[list[dict[str, Any]]]:
            """Events of the log as they come, from now on, until the call is stopped."""

        def close(self) -> None: ...


class Stopped(Exception):
    """Who asked does not want the answer any more."""


class Call:
    """One question: under which operation id, with which signs of who asks, and how it is stopped."""

    __slots__ = ("_stop", "key", "on_hint", "signs")

    def __init__(
        self,
        *,
        key: str = "",
        signs: dict[str, str] | None = None,
        on_hint: Callable[[str], None] | None = None,
    ) -> None:
        """`signs`: variables as an agent's environment would show them. `on_hint` is told, from the thread
        that waits, what it waits for."""
        from threading import Event

        self.key, self.signs, self.on_hint = key, signs or {}, on_hint
        self._stop = Event()

    def stop(self) -> None:
        self._stop.set()

    def is_stopped(self) -> bool:
        return self._stop.is_set()


class Reply:
    """`content` is the envelope that `--json` prints; `text` is what a reader is told."""

    __slots__ = ("content", "is_refused", "text")

    def __init__(self, content: dict[str, Any], text: str, *, is_refused: bool = False) -> None:
        self.content, self.text, self.is_refused = content, text, is_refused
