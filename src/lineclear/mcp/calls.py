"""A call from outside: who sent it, how it is stopped, what it answers; and the port that runs it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Protocol, TextIO

    from lineclear.core.words.refusals import Refusal

    class VerbRunner(Protocol):
        """Safe to call from several threads at once."""

        def perform(self, verb: str, given: dict[str, Any], call: VerbCall, /) -> Reply:
            """Do a verb as the command line does: the same checks, words and data. A refusal is a reply too;
            `Stopped` is raised when the call was stopped while it waited; it stands in no line then."""

        def refuse(self, refusal: Refusal, /) -> Reply:
            """A refusal in the same form as those that verbs give."""

        def follow(self, call: VerbCall, /) -> Iterator[list[dict[str, Any]]]:
            """Events of the log as they come, until the call is stopped; at first none, once it has begun.
            It ends by itself where the store cannot be reached."""

        def command(self, words: list[str], call: VerbCall, out: TextIO, err: TextIO, /) -> int:
            """Do a command line's words where the requester works, in its environment: the exit code of the
            process it would have been, and what that would have written. `Stopped` as above; it is also
            raised, before anything is done, for words that are not ours to do."""

        def close(self) -> None: ...


# Keys in a request's scope: who asks, and what is at work for this one request.
REQUESTER, EXCHANGE = "lineclear.requester", "lineclear.exchange"


@dataclass(frozen=True, slots=True)
class Requester:
    """Who sent a request, once that is proved: its environment, where it works ("" if it does not say), and
    whether it showed that it is a person. `agent` is the name that it gave or proved, "" if none. `proof`
    tells requesters with different proofs apart."""

    environ: Mapping[str, str]
    _: KW_ONLY
    cwd: str
    is_person: bool
    proof: str
    agent: str = ""


class Exchange:
    """One request over HTTP. `session`: the one that is kept for whoever asks, "" if none is. `client`: the
    name that the client gave itself, as far as it is known."""

    def __init__(self, session: str, client: str = "") -> None:
        self.session, self.client = session, client
        self._calls: list[VerbCall] = []
        self._is_over = False

    def begin(self, call: VerbCall) -> None:
        self._calls.append(call)
        if self._is_over:
            call.stop()

    def end(self) -> None:
        """It was answered, or nobody is there any more to be answered: whatever still waits is stopped."""
        self._is_over = True
        for call in self._calls:
            call.stop()


class Stopped(Exception):
    """Who asked does not want the answer any more."""


class VerbCall:
    """One question: under which operation id, with which signs of who asks, and how it is stopped."""

    def __init__(
        self,
        *,
        key: str = "",
        signs: dict[str, str] | None = None,
        on_hint: Callable[[str], None] | None = None,
        requester: Requester | None = None,
    ) -> None:
        """`signs`: variables as an agent's environment would show them. `on_hint` is told, from the thread
        that waits, what it waits for. Without a `requester` it is asked by whoever started us."""
        self.key, self.signs, self.on_hint, self.requester = key, signs or {}, on_hint, requester
        self._is_stopped = False

    def stop(self) -> None:
        self._is_stopped = True

    def is_stopped(self) -> bool:
        return self._is_stopped


@dataclass(frozen=True, slots=True)
class Reply:
    """`content` is the envelope that `--json` prints; `text` is what a reader is told. `is_short`: it was
    done, and came to less than was asked for, as the exit code of the command says."""

    content: dict[str, Any]
    text: str
    _: KW_ONLY
    is_refused: bool = False
    is_short: bool = False
