"""May this agent write this, now? The one write rule.

The edit hook, the check after a shell command, the commit gate, landings and value writes gather facts and
ask here; none of them decides by itself. All differences between them are fields of `Write`, or `near=None`:

- An edit or a value write needs the lock now. Work that is brought in (a commit, a landing) may have been
  written under a lock that was released since, unless somebody else was granted it later.
- A landing has no fence of `with`, and what the integrator made from proposals lands in any phase.
- Before a proposal is accepted, another rule has checked who may accept it: the acceptance needs neither
  ownership nor the lock.
- A commit or landing may not add conflict markers, no matter who wrote it.
- `tree` is None where the owner of the worktree does not matter: for a landing, for a value, and for an edit
  in the session's own tree.
- A person may write read-only and phase-bound values. The gate asks as for an agent, and only warns a person.
- If the store is out of reach, `near` is None: resources that could be locked or owned are refused.

On the hook's path: pure, and cheap to import.
"""

from __future__ import annotations

from lineclear.core.agents.names import is_family
from lineclear.core.claims.granting import EXCLUSIVE
from lineclear.core.claims.leases import is_live
from lineclear.core.claims.resources import covers, overlaps, resource_of
from lineclear.core.claims.strategies import LOCKED, READ_ONLY, SINGLE_WRITER
from lineclear.core.words.computed.claims import write_held
from lineclear.core.words.refusals import Refusal, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.strategies import Sharing
    from lineclear.core.instants import Instant
    from lineclear.core.log.tables import Claim, Fence

EDIT, COMMIT, LANDING = "edit", "commit", "landing"
# A write of a value, and one by accepting a proposal.
VALUE_WRITE, ACCEPTANCE = "value", "acceptance"


def touches_anything(_symbol: str) -> bool:
    """For a write whose changed symbols are unknown: it may touch any."""
    return True


class OwnedTree:
    """The worktree that contains a file, and the agent that it belongs to ("" for nobody)."""

    __slots__ = ("name", "owner")

    def __init__(self, name: str, owner: str) -> None:
        self.name, self.owner = name, owner


class Write:
    """Who writes what, and how.

    `agent` is "" if it is unknown. `names` are further agents that the writer acts for. `fence` is the
    writer's fence, 0 for none. Locks granted at or before the log position `since` do not count, because they
    belong to earlier work. `touches` says whether the write changes this symbol of the file; True if unknown.
    `marked` is the first line with a conflict marker that it adds, 0 for none.
    """

    __slots__ = (
        "action", "agent", "fence", "is_person", "marked", "names", "resource", "since", "touches", "tree",
    )  # fmt: skip

    def __init__(
        self, resource: Resource, agent: str, action: str, *, names: tuple[str, ...] = (),
        is_person: bool = False, tree: OwnedTree | None = None, fence: int = 0, since: int = 0,
        touches: Callable[[str], bool] = touches_anything, marked: int = 0,
    ) -> None:  # fmt: skip
        self.resource, self.agent, self.action, self.names = resource, agent, action, (agent, *names)
        self.is_person, self.tree, self.fence, self.since = is_person, tree, fence, since
        self.touches, self.marked = touches, marked

    def is_by(self, agent: str) -> bool:
        """Is this agent the writer, its parent or its sub-agent?"""
        return any(name and is_family(agent, name) for name in self.names)


class Near:
    """What the store knows near the resource: a superset, from which the rule selects.

    `read_phase` and `read_marks` (the newest exclusive grants) are called only if they matter. `bond_of`
    gives the bond of an agent's own process, "" for none; `is_dead` allows for the bond's grace period.
    """

    __slots__ = ("bond_of", "claims", "is_dead", "now", "read_marks", "read_phase")

    def __init__(
        self, claims: Iterable[Claim], now: Instant, *, is_dead: Callable[[str], bool],
        bond_of: Callable[[str], str], read_phase: Callable[[], str],
        read_marks: Callable[[], Sequence[Fence]],
    ) -> None:  # fmt: skip
        self.claims, self.now, self.is_dead, self.bond_of = claims, now, is_dead, bond_of
        self.read_phase, self.read_marks = read_phase, read_marks


class WriteVerdict:
    """`refusal` is None if the write is allowed. `holder` is the claim that forbids it; `others` are the
    claims of other agents that overlap it, to be mentioned. `is_passing`: only the claim forbids it, so it
    will be allowed when the claim ends."""

    __slots__ = ("holder", "is_passing", "others", "refusal")

    def __init__(
        self, refusal: Refusal | None, holder: Claim | None = None, others: Sequence[Claim] = (), *,
        is_passing: bool = False,
    ) -> None:  # fmt: skip
        self.refusal, self.holder, self.others, self.is_passing = refusal, holder, others, is_passing


def judge_write(write: Write, sharing: Sharing, near: Near | None) -> WriteVerdict:
    """The verdict on one write of one resource. `near` is None if the store cannot be reached."""
    if write.marked:
        return WriteVerdict(refuse("write.markers", path=write.resource.path, line=write.marked))
    if sharing.strategy == READ_ONLY and not write.is_person:
        return WriteVerdict(refuse("write.read_only", resource=write.resource.text))
    if write.tree is not None and is_foreign(write.tree, write.agent):
        return WriteVerdict(refuse("gate.foreign_tree", tree=write.tree.name, holder=write.tree.owner))
    if near is None:
        return WriteVerdict(_judge_without_store(write, sharing))
    # An entitled writer counts as the owner and as the holder.
    is_entitled = write.action == ACCEPTANCE
    if sharing.phase and not write.is_person:
        # Imported here: most repositories bind nothing to a phase, and a hook pays for every import.
        from lineclear.core.queue.phases import admits_integrator, judge_phase

        refusal = judge_phase(
            write.resource.text, sharing, near.read_phase(), write.agent, is_landing=write.action == LANDING
        )
        if refusal is not None:
            return WriteVerdict(refusal)
        is_entitled = is_entitled or admits_integrator(sharing, write.agent)
    live = [claim for claim in near.claims if _is_near_and_live(claim, write.resource, near)]
    others = [claim for claim in live if not write.is_by(claim.agent)]
    holder = next((claim for claim in others if _forbids(claim, write, near)), None)
    is_mine = any(
        claim.mode == EXCLUSIVE
        and write.is_by(claim.agent)
        and covers(resource_of(claim.resource), write.resource)
        for claim in live
    )
    refusal = _judge_holders(write, sharing, near, holder, is_mine=is_mine, is_entitled=is_entitled)
    is_passing = (
        write.action == LANDING
        and holder is not None
        and _judge_holders(write, sharing, near, None, is_mine=is_mine, is_entitled=is_entitled) is None
    )
    return WriteVerdict(refusal, holder, others, is_passing=is_passing)


def _judge_without_store(write: Write, sharing: Sharing) -> Refusal | None:
    if sharing.phase:
        return refuse(
            "gate.unreachable", resource=write.resource.text, strategy=f"for the phase {sharing.phase}"
        )
    is_owner = bool(sharing.owner) and write.is_by(sharing.owner)
    if sharing.strategy == LOCKED or (sharing.strategy == SINGLE_WRITER and not is_owner):
        return refuse("gate.unreachable", resource=write.resource.text, strategy=sharing.strategy)
    return None


def _judge_holders(
    write: Write, sharing: Sharing, near: Near, holder: Claim | None, *, is_mine: bool, is_entitled: bool
) -> Refusal | None:
    text = write.resource.text
    if sharing.strategy == SINGLE_WRITER and not is_entitled:
        is_writer = write.is_by(sharing.owner) if sharing.owner else is_mine
        if not is_writer:
            owner = sharing.owner or (holder.agent if holder else "")
            return refuse(
                "write.not_owner" if owner else "write.not_owner/unowned", resource=text, holder=owner
            )
    if holder is not None:
        return write_held(text, holder, near.now)
    is_unlocked = sharing.strategy == LOCKED and not is_mine and not is_entitled
    is_brought_in = write.action in (COMMIT, LANDING)
    if not write.fence and not (is_unlocked and is_brought_in):
        return refuse("write.unlocked", resource=text) if is_unlocked else None
    own, other = _newest_marks(write, near.read_marks())
    if write.fence and other is not None and other.fence > write.fence:
        return refuse(
            "fence.stale", resource=text, fence=write.fence, holder=other.agent, newer_fence=other.fence
        )
    if not is_unlocked:
        return None
    if not is_brought_in or own is None or own.fence <= write.since:
        return refuse("write.unlocked", resource=text)
    if other is not None and other.fence > own.fence:
        return refuse(
            "fence.stale", resource=text, fence=own.fence, holder=other.agent, newer_fence=other.fence
        )
    return None


def _is_near_and_live(claim: Claim, resource: Resource, near: Near) -> bool:
    return is_live(claim, near.now, near.is_dead) and overlaps(resource_of(claim.resource), resource)


def _forbids(claim: Claim, write: Write, near: Near) -> bool:
    """Does this live claim of another agent forbid the write? Only an exclusive one does, as long as the
    agent's own process is alive; one on a symbol does only if the write touches the symbol."""
    if claim.mode != EXCLUSIVE or not _concerns(claim.resource, write):
        return False
    bond = near.bond_of(claim.agent)
    return not (bond and near.is_dead(bond))


def _concerns(text: str, write: Write) -> bool:
    held = resource_of(text)
    return overlaps(held, write.resource) and (held.kind != "symbol" or write.touches(held.symbol))


def _newest_marks(write: Write, marks: Sequence[Fence]) -> tuple[Fence | None, Fence | None]:
    """The newest exclusive grants that concern the write: (the writer's own, somebody else's)."""
    own: Fence | None = None
    other: Fence | None = None
    for mark in marks:
        if write.is_by(mark.agent):
            if (own is None or mark.fence > own.fence) and covers(resource_of(mark.resource), write.resource):
                own = mark
        elif (other is None or mark.fence > other.fence) and _concerns(mark.resource, write):
            other = mark
    return own, other


def is_foreign(tree: OwnedTree, agent: str) -> bool:
    """Does this worktree belong to another agent?"""
    return bool(tree.owner) and not is_family(tree.owner, agent)


def fence_from(environ: Mapping[str, str], resource: Resource) -> int:
    """The fence that `lineclear with` set for its command, if the resource overlaps what `with` holds; else
    0."""
    fence = environ.get("LINECLEAR_FENCE", "")
    if not (fence.isascii() and fence.isdigit()):
        return 0
    held = environ.get("LINECLEAR_RESOURCES", "").split("\n")
    return int(fence) if any(overlaps(resource, resource_of(text)) for text in held if text) else 0
