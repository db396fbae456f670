"""What follows a landing: proposals whose candidates have landed are decided, then the integrator that the
repository states works on main.

The integrator works on main as it is, so a result of it that still waits in the queue is replaced by the next
one. What it changes is a candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lineclear.app.ports import Caller
from lineclear.app.queue import integrating
from lineclear.app.queue.candidates import live_on
from lineclear.core.queue.phases import INTEGRATOR

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

    from lineclear.app.ports import Store

BRANCH = "lineclear/integrator"
SUBMITTED, NOTHING, FAILED = "submitted", "nothing", "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegratorRun:
    """`tip`: the commit with what it changed, "" when nothing; `why` it failed; `output` for its reader."""

    tip: str = ""
    why: str = ""
    output: str = ""


class IntegratorPlace(Protocol):
    """The command that a commit of main states, and the worktree that it works in."""

    @property
    def is_stated(self) -> bool: ...

    def hold(self) -> AbstractContextManager[None]:
        """Only one works at a time. Refuses a command that no person trusts."""

    def run(self, caller: Caller, news: list[dict[str, Any]], *, adds: bool) -> IntegratorRun:
        """Run the command on main, with what has landed; with `adds` what its last run was given comes
        first. What it changed is committed on its branch."""


def after_landing(
    store: Store, place: IntegratorPlace, submit: Callable[[str], str], caller: Caller,
    landed: list[dict[str, Any]], *, tree: str,
) -> dict[str, Any] | None:  # fmt: skip
    """Decide the proposals that have landed, then let the stated command work, if there is one.

    `landed` are candidates as the queue shows them; `submit` takes a branch and gives its candidate. None:
    nothing was to be done. Its own work alone does not call it again. `result` is submitted, nothing or
    failed.
    """
    integrating.settle(store, Caller(INTEGRATOR, tree=tree))
    news = [row for row in landed if row["branch"] != BRANCH]
    if not news or not place.is_stated:
        return None
    with place.hold():
        waits = store.read(lambda view: live_on(view, BRANCH)) is not None
        done = place.run(caller, news, adds=waits)
        result = FAILED if done.why else SUBMITTED if done.tip else NOTHING
        candidate = submit(BRANCH) if result == SUBMITTED else ""
        return {"result": result, "candidate": candidate, "why": done.why, "output": done.output}
