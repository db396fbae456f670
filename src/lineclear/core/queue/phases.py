"""Phases of everybody's work: which there are, which may follow which, who writes what in them, and in which
order proposals are worked in. No I/O, and cheap to import: the hook asks here.

A resource that is bound to a phase is written in that phase only; before, agents propose. In `integrate` its
writer is the owner, or the built-in integrator. What is bound to no phase is none of our business.
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
# What a [[strategy]] may be bound to.
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
    """Why this agent may not write the resource in this phase; None when the phase does not stand against it.

    What the integrator made from proposals may land whenever its turn in the queue comes.
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
    """Is this the integrator, at something that is bound to a phase? It then counts as the owner."""
    return bool(sharing.phase) and is_family(INTEGRATOR, agent)


# -- proposals ------------------------------------------------------------------------------------


def branch_of(proposal: int) -> str:
    """The branch that a proposal is brought to main on."""
    return f"{_BRANCH}{proposal}"


def proposal_on(branch: str) -> int:
    """The proposal that a branch was made for; 0 for any other branch."""
    number = branch.removeprefix(_BRANCH)
    return int(number) if number != branch and number.isascii() and number.isdigit() else 0


def revert_branch(commit: str) -> str:
    """The branch that takes a landing back."""
    return f"{_REVERT}{commit[:12]}"


def in_order(proposals: Iterable[tuple[int, int]], needs: Callable[[int], set[int]]) -> list[int]:
    """Numbers of (proposal, task): what a task waits for comes before it, then the older one comes first.

    `needs` gives all tasks that a task waits for, however far; task 0 is no task. Tasks cannot wait in a
    circle, but should they, age decides.
    """
    left = sorted(proposals)
    order: list[int] = []
    while left:
        tasks = {task for _, task in left if task}
        following = next((pair for pair in left if not (pair[1] and needs(pair[1]) & tasks)), left[0])
        left.remove(following)
        order.append(following[0])
    return order
