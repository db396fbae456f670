"""The shared store is out of reach: what may go on without it, by what every clone knows alone.

A copy of one's own hurts nobody, and the queue looks at it before it lands. What exists once may be somebody
else's by now, so it is left alone. On the hook's path: pure, and cheap to import.
"""

from __future__ import annotations

from lineclear.core.names import is_family
from lineclear.core.refusals_gate import cannot_ask
from lineclear.core.strategies import LOCKED, READ_ONLY, SINGLE_WRITER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.refusals import Refusal
    from lineclear.core.resources import Resource
    from lineclear.core.strategies import Sharing


def is_outage(refusal: Refusal) -> bool:
    """Is it only that the store cannot be reached, which passes by itself?"""
    return refusal.code == "store.unreachable" or bool(refusal.facts.get("is_lost"))


def judge_alone(resource: Resource, sharing: Sharing, agent: str) -> Refusal | None:
    """Why this file may not be changed while nobody can be asked; None when it may. `agent`: "" when that
    is not known either."""
    if sharing.strategy == READ_ONLY:
        from lineclear.core.refusals_values import read_only

        return read_only(resource.text)
    if sharing.phase:
        return cannot_ask(resource.text, f"for the phase {sharing.phase}")
    is_owner = bool(agent and sharing.owner) and is_family(sharing.owner, agent)
    if sharing.strategy == LOCKED or (sharing.strategy == SINGLE_WRITER and not is_owner):
        return cannot_ask(resource.text, sharing.strategy)
    return None
