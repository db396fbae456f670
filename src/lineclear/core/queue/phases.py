"""Phases of the team's work: which may follow which, who writes what in them, and in which order proposals
are integrated. No I/O. A hook loads it only if a resource is bound to a phase.

A resource that is bound to a phase is written in that phase only; before it, agents propose. In `integrate`,
its writer is its owner or the built-in integrator. Phases do not matter for any other resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.agents.names import is_family
from lineclear.core.words.computed.claims import other_phase
from lineclear.core.words.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lineclear.core.claims.strategies import Sharing

PARALLEL, INTEGRATE, TEST = "parallel", "integrate", "test"
PHASES = (PARALLEL, INTEGRATE, TEST)
# The phases that a [[strategy]] may be bound to.
BINDABLE = (INTEGRATE, TEST)

# From a phase to those that may follow it.
MOVES: dict[str, tuple[str, ...]] = {
    PARALLEL: (INTEGRATE,),
    INTEGRATE: (TEST, PARALLEL),
    TEST: (PARALLEL,),
}

# The name of the built-in integrator, and of the command that `queue.integrator` states.
INTEGRATOR = "integrator"
_BRANCH, _REVERT = "lineclear/integrate-", "lineclear/revert-"


def check_move(now: str, wanted: str) -> None:
    if wanted not in MOVES[now]:
        raise refuse("phase.order", phase=now, wanted=wanted, following=MOVES[now][0])


def judge_phase(
    resource: str, sharing: Sharing, phase: str, agent: str, *, is_landing: bool = False
) -> Refusal | None:
    """Why this agent may not write the resource in this phase; None if the phase allows it.

    What the integrator made from proposals may land in any phase.
    """
    if not sharing.phase:
        return None
    if admits_integrator(sharing, agent) and (is_landing or phase == sharing.phase):
        return None
    if phase != sharing.phase:
        return other_phase(resource, sharing.phase, phase, sharing.owner)
    if phase == INTEGRATE and sharing.strategy != "single-writer":
        return refuse("write.integrated", resource=resource)
    return None


def admits_integrator(sharing: Sharing, agent: str) -> bool:
    """Is this the integrator, and the resource bound to a phase? It then counts as the owner."""
    return bool(sharing.phase) and is_family(INTEGRATOR, agent)


# -- proposals ------------------------------------------------------------------------------------


def branch_of(proposal: int) -> str:
    """The branch on which a proposal lands."""
    return f"{_BRANCH}{proposal}"


def proposal_on(branch: str) -> int:
    """The proposal that a branch was made for; 0 for any other branch."""
    number = branch.removeprefix(_BRANCH)
    return int(number) if number != branch and number.isascii() and number.isdigit() else 0


def revert_branch(commit: str) -> str:
    """The branch that undoes a landing."""
    return f"{_REVERT}{commit[:12]}"


def in_order(proposals: Iterable[tuple[int, int]], needs: Callable[[int], set[int]]) -> list[int]:
    """The proposals in order: first those of the tasks that another one's task waits for, then by age.

    `proposals` are (proposal, task), task 0 for none. `needs` gives all tasks that a task waits for, directly
    or not. If tasks waited for each other in a circle, age would decide.
    """
    left = sorted(proposals)
    order: list[int] = []
    while left:
        tasks = {task for _, task in left if task}
        following = next((pair for pair in left if not (pair[1] and needs(pair[1]) & tasks)), left[0])
        left.remove(following)
        order.append(following[0])
    return order
