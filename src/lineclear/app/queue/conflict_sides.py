"""Find out whose work is on each side of a conflict, from git's commits and the store. Only reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.log.tables import CANDIDATE, TASK, WORKTREE
from lineclear.core.queue.conflict_sides import (
    LEFT,
    MOST_PER_SIDE,
    RIGHT,
    Owner,
    hands_of,
    is_about,
    owner_in,
    paths_of,
)
from lineclear.core.tasks.states import TAKEN, show_id
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from lineclear.app.ports import Store, View
    from lineclear.core.queue.conflict_sides import Hand, Touch

    # Two commits and paths -> the commits of each side that the other lacks; None if git cannot say.
    TouchesOfBoth = Callable[[str, str, Sequence[str]], tuple[Sequence[Touch], Sequence[Touch]] | None]

# As many as the commits that git is asked for; older landings name their task in a trailer.
MOST_CANDIDATES = 1_000
NOBODY = Owner()


@dataclass(frozen=True, slots=True, kw_only=True)
class SideEnd:
    """A side's last commit, as a name that git knows, and its owner, or the branch that leads to the
    owner."""

    commit: str
    branch: str = ""
    owner: Owner = NOBODY


@dataclass(frozen=True, slots=True)
class Side:
    """The commits of one side, and the branch's owner, who stands for commits that name nobody."""

    touches: Sequence[Touch]
    owner: Owner = NOBODY


def add_sides(
    touches: TouchesOfBoth,
    store: Store | None,
    conflicts: Sequence[dict[str, Any]],
    left: SideEnd,
    right: SideEnd,
) -> list[dict[str, Any]]:
    """The conflicts with their sides; unchanged if git cannot say, for the conflict is reported anyway."""
    found = touches(left.commit, right.commit, paths_of(conflicts))
    if found is None:
        return list(conflicts)
    ours, theirs = found

    def tell(view: View) -> list[dict[str, Any]]:
        owners = [end.owner or owner_of_branch(view, end.branch) for end in (left, right)]
        return with_sides(view, conflicts, Side(ours, owners[0]), Side(theirs, owners[1]))

    return store.read(tell) if store is not None else with_sides(None, conflicts, Side(ours), Side(theirs))


def add_sides_to_report(
    touches: TouchesOfBoth, report: dict[str, Any], left: str, right: str, open_store: Callable[[], Store]
) -> None:
    """Add sides to every conflicting file and finding of a merge report; `left` and `right` are names that
    git knows. Where there is no store, or it does not answer, only the commits are used.
    """
    files = [file for file in report["files"] if not file["clean"]]
    found = [*files, *({"path": "", **finding} for finding in report["findings"])]
    if not found:
        return
    ends = [SideEnd(commit=name, branch=name.removeprefix("refs/heads/")) for name in (left, right)]
    try:
        told = add_sides(touches, open_store(), found, *ends)
    except Refusal:
        told = add_sides(touches, None, found, *ends)
    for row, with_them in zip([*files, *report["findings"]], told, strict=True):
        if "sides" in with_them:
            row["sides"] = with_them["sides"]


def with_sides(
    view: View | None, conflicts: Iterable[dict[str, Any]], left: Side, right: Side
) -> list[dict[str, Any]]:
    """Each conflict with `sides`: the last few who changed its paths on each side, newest first. Without a
    store, as the commits say."""
    known = known_owners(view, (*left.touches, *right.touches))
    told = []
    for conflict in conflicts:
        sides = {}
        for name, side in ((LEFT, left), (RIGHT, right)):
            about = [touch for touch in side.touches if is_about(touch, conflict)]
            found = hands(view, about, known, side.owner)
            sides[name] = [hand.as_data() for hand in found[:MOST_PER_SIDE]]
        told.append({**conflict, "sides": sides})
    return told


def hands(
    view: View | None, touches: Iterable[Touch], known: dict[str, Owner], owner: Owner = NOBODY
) -> list[Hand]:
    """Who made these commits. The store counts more than the commit's own trailers; titles come from it."""

    def title_of(number: int) -> str:
        row = view.get(TASK, (number,)) if view is not None else None
        return row.title if row is not None else ""

    return hands_of(touches, lambda touch: known.get(touch.commit) or owner_in(touch) or owner, title_of)


def known_owners(view: View | None, touches: Iterable[Touch]) -> dict[str, Owner]:
    """commit -> owner, for those commits that were submitted to the queue or that it put on main."""
    commits = {touch.commit for touch in touches}
    if view is None or not commits:
        return {}
    found: dict[str, Owner] = {}
    for row in view.scan(CANDIDATE, "key", reverse=True, limit=MOST_CANDIDATES):
        for commit in (row.commit, row.tip):
            if commit in commits:
                found.setdefault(commit, owner_from(row.task, row.agent))
    return {commit: owner for commit, owner in found.items() if owner}


def owner_from(task: int, agent: str) -> Owner:
    return Owner(show_id(task) if task else "", agent)


def owner_of_branch(view: View, branch: str) -> Owner:
    """The owner by the branch's worktree, else by its last submission; nobody for a person's branch."""
    if not branch:
        return NOBODY
    known = [(tree.task, tree.agent) for tree in view.scan(WORKTREE, "key") if tree.branch == branch]
    submitted = view.scan(CANDIDATE, "branch", (branch,), reverse=True, limit=1)
    known += [(row.task, row.agent) for row in submitted]
    agent = next((agent for _, agent in known if agent), "")
    return owner_from(next((task for task, _ in known if task), 0) or _only_task(view, agent), agent)


def _only_task(view: View, agent: str) -> int:
    """The task that the agent works on now; 0 if there is none or more than one."""
    taken = [row.id for row in view.scan(TASK, "ready", (TAKEN,)) if row.agent == agent] if agent else []
    return taken[0] if len(taken) == 1 else 0
