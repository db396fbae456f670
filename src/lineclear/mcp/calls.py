"""A call from outside: who sent it, how to stop it, its reply; and the port that runs it."""

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
            """Run a verb as the command line does: the same checks, words and data. A refusal is a reply.
            Raises `Stopped` if the call was stopped while it waited; it then has left every line."""

        def refuse(self, refusal: Refusal, /) -> Reply:
            """The refusal as a reply, in the form of a verb's refusals."""

        def follow(self, call: VerbCall, /) -> Iterator[list[dict[str, Any]]]:
            """Yields events as they come, until the call is stopped; first an empty list, once it listens.
            Ends if the store cannot be reached."""

        def command(self, words: list[str], call: VerbCall, out: TextIO, err: TextIO, /) -> int:
            """Run a command line in the requester's directory and environment: write its output, return its
            exit code. Raises `Stopped` as above, and also at once for a command that we must not run."""

        def close(self) -> None: ...


# Keys in a request's scope: its requester, and its exchange.
REQUESTER, EXCHANGE = "lineclear.requester", "lineclear.exchange"


@dataclass(frozen=True, slots=True)
class Requester:
    """Who sent a request, after authentication: its environment, its directory ("" if not given), and
    whether it proved to be a person. `agent` is the name that it gave or proved, or "". `proof` tells
    requesters with different proofs apart."""

    environ: Mapping[str, str]
    _: KW_ONLY
    cwd: str
    is_person: bool
    proof: str
    agent: str = ""


class Exchange:
    """One request over HTTP. `session`: the session that we keep for it, or "". `client`: the name that the
    client gave itself, if known."""

    def __init__(self, session: str, client: str = "") -> None:
        self.session, self.client = session, client
        self._calls: list[VerbCall] = []
        self._is_over = False

    def begin(self, call: VerbCall) -> None:
        self._calls.append(call)
        if self._is_over:
            call.stop()

    def end(self) -> None:
        """Stop all calls that still wait: the request is answered, or the requester has gone."""
        self._is_over = True
        for call in self._calls:
            call.stop()


class Stopped(Exception):
    """The requester no longer wants the answer."""


class VerbCall:
    """One call: its operation id, the signs of who asks, and a way to stop it."""

    def __init__(
        self,
        *,
        key: str = "",
        signs: dict[str, str] | None = None,
        tool_call: str = "",
        on_hint: Callable[[str], None] | None = None,
        requester: Requester | None = None,
    ) -> None:
        """`signs`: variables as in an agent's environment. `tool_call`: the client's own id of this call, as
        its hook also gets it. The waiting thread passes to `on_hint` what it waits for. Without
        a `requester`, the process that started us asks."""
        self.key, self.signs, self.on_hint, self.requester = key, signs or {}, on_hint, requester
        self.tool_call = tool_call
        self._is_stopped = False

    def stop(self) -> None:
        self._is_stopped = True

    def is_stopped(self) -> bool:
        return self._is_stopped


@dataclass(frozen=True, slots=True)
class Reply:
    """`content` is the envelope that `--json` prints, `text` is for readers. `is_short`: the verb ran but did
    not fully succeed, as its exit code says."""

    content: dict[str, Any]
    text: str
    _: KW_ONLY
    is_refused: bool = False
    is_short: bool = False
