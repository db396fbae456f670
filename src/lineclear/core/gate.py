"""The gate before a commit, a push or a landing: which changed paths may this agent not bring in.

The same rule for all three. An agent needs what the path's strategy asks for; a person is only warned, which
is the surface's part. A lock that was taken and given back counts when nobody else was granted it since: a
hook frees its short claim long before the commit. Facts come in as arguments; nothing here asks git.
"""

from __future__ import annotations

from lineclear.core import refusals, refusals_gate, refusals_values
from lineclear.core.claims import EXCLUSIVE, is_over, resource_of
from lineclear.core.names import is_family
from lineclear.core.phases import PARALLEL, admits_integrator, judge_phase
from lineclear.core.resources import covers
from lineclear.core.strategies import LOCKED, READ_ONLY, SINGLE_WRITER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lineclear.core.instants import Instant
    from lineclear.core.refusals import Refusal
    from lineclear.core.resources import Resource
    from lineclear.core.strategies import Sharing
    from lineclear.core.tables import Claim, Fence

# What a refusal of the command `gate` leaves with; whatever else it ends with lets git go on.
REFUSED_CODES = (refusals.HELD, refusals.NOT_ALLOWED, refusals.STALE)


class Standing:
    """Who brings changes in, and from where.

    `tree_agent` is whose worktree that is ("" for the shared one). What was granted at or before the log
    position `since` is from an earlier time. `fence` is the one the agent says it works under, 0 for none.
    `is_landing`: it is about main itself, not about a commit on the way there.
    """

    __slots__ = ("agent", "fence", "is_landing", "phase", "since", "tree", "tree_agent")

    def __init__(
        self, agent: str, *, tree: str = "main", tree_agent: str = "", since: int = 0, fence: int = 0,
        phase: str = PARALLEL, is_landing: bool = False,
    ) -> None:  # fmt: skip
        self.agent, self.tree, self.tree_agent = agent, tree, tree_agent
        self.since, self.fence, self.phase, self.is_landing = since, fence, phase, is_landing


class Finding:
    """A path, and the refusal that says why it may not come in."""

    __slots__ = ("path", "refusal")

    def __init__(self, path: str, refusal: Refusal) -> None:
        self.path, self.refusal = path, refusal

    @property
    def kind(self) -> str:
        return self.refusal.code


def is_foreign(standing: Standing) -> bool:
    """Does the agent stand in the worktree of another?"""
    return bool(standing.tree_agent) and not is_family(standing.tree_agent, standing.agent)


def judge_place(standing: Standing, paths: Sequence[str]) -> Finding | None:
    if not is_foreign(standing) or not paths:
        return None
    return Finding(paths[0], refusals_gate.foreign_tree(standing.tree, standing.tree_agent))


def judge_path(
    standing: Standing,
    resource: Resource,
    sharing: Sharing,
    claims: Iterable[Claim],
    marks: Sequence[Fence],
    now: Instant,
    is_dead: Callable[[str], bool],
) -> Refusal | None:
    """Why this file may not come in; None when it may. `claims` and `marks` are those near the file."""
    held = [claim for claim in claims if _excludes(claim, resource, now, is_dead)]
    others = [claim for claim in held if not is_family(claim.agent, standing.agent)]
    is_mine = len(others) < len(held)
    is_let_in = admits_integrator(sharing, standing.agent)
    if sharing.strategy == READ_ONLY:
        return refusals_values.read_only(resource.text)
    by_phase = judge_phase(
        resource.text, sharing, standing.phase, standing.agent, is_landing=standing.is_landing
    )
    if by_phase is not None:
        return by_phase
    if sharing.strategy == SINGLE_WRITER and not is_let_in:
        owner = sharing.owner or (others[0].agent if others else "")
        if not (is_family(owner, standing.agent) if sharing.owner else is_mine):
            return refusals_values.not_the_writer(resource.text, owner)
    if others:
        return refusals_values.write_held(resource.text, others[0], now)
    own, other = _newest(standing, resource, marks)
    if standing.fence and other is not None and other.fence > standing.fence:
        return refusals.fence_stale(resource.text, standing.fence, other.agent, other.fence)
    if sharing.strategy == LOCKED and not is_mine and not is_let_in:
        return _unlocked(standing, resource, own, other)
    return None


def _unlocked(
    standing: Standing, resource: Resource, own: Fence | None, other: Fence | None
) -> Refusal | None:
    if own is None or own.fence <= standing.since:
        return refusals_values.lock_first(resource.text)
    if other is not None and other.fence > own.fence:
        return refusals.fence_stale(resource.text, own.fence, other.agent, other.fence)
    return None


def _excludes(claim: Claim, resource: Resource, now: Instant, is_dead: Callable[[str], bool]) -> bool:
    """A live exclusive claim over the whole file. One on a symbol says nothing about a commit of its file."""
    is_live = not is_over(claim.until_ns, now) and not (claim.bond and is_dead(claim.bond))
    return claim.mode == EXCLUSIVE and is_live and covers(resource_of(claim.resource), resource)


def _newest(
    standing: Standing, resource: Resource, marks: Sequence[Fence]
) -> tuple[Fence | None, Fence | None]:
    """The newest exclusive grants over the file: (the agent's own, somebody else's)."""
    own: Fence | None = None
    other: Fence | None = None
    for mark in marks:
        if not covers(resource_of(mark.resource), resource):
            continue
        if is_family(mark.agent, standing.agent):
            own = mark if own is None or mark.fence > own.fence else own
        else:
            other = mark if other is None or mark.fence > other.fence else other
    return own, other


def tell(findings: Sequence[Finding]) -> str:
    """All of it in one sentence, for an author who has to mend it later."""
    told = "; ".join(f"{finding.path}: {finding.refusal.what.rstrip('.')}" for finding in findings[:5])
    more = len(findings) - 5
    return told + (f"; and {more} more" if more > 0 else "")


def is_guarded(ref: str, landing_ref: str) -> bool:
    """Refs that agents do not move themselves: the one that work lands on, and our own."""
    return ref == landing_ref or ref.startswith("refs/lineclear/")


def judge_move(standing: Standing, ref: str, landing_ref: str) -> Refusal | None:
    """May an agent move this ref with its own git? One that works in the shared tree commits to what is
    checked out there; whoever has a worktree of its own lands."""
    if ref.startswith("refs/lineclear/"):
        return refusals_gate.ref_is_ours(ref)
    if ref == landing_ref and standing.tree.rpartition("/")[2] != "main":
        return refusals_gate.main_is_landed(ref.removeprefix("refs/heads/"))
    return None
