"""Who stands behind each side of a conflict, by git and by the store. Without a conflict nobody asks."""

from __future__ import annotations

from lineclear.app.queue.sides import NOBODY, Side, owner_of_branch, with_sides
from lineclear.core.queue.sides import paths_of
from lineclear.core.words.refusals import Refusal
from lineclear.git.run import GitFailed
from lineclear.git.touches import touches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from lineclear.app.ports import Store, View
    from lineclear.core.queue.sides import Owner


class End:
    """The commit where a side ends, as git knows it; whose it is, or the branch that tells."""

    __slots__ = ("branch", "commit", "owner")

    def __init__(self, commit: str, *, branch: str = "", owner: Owner = NOBODY) -> None:
        self.commit, self.branch, self.owner = commit, branch, owner


def add_sides(
    cwd: str, store: Store | None, conflicts: Sequence[dict[str, Any]], left: End, right: End
) -> list[dict[str, Any]]:
    """The conflicts with their sides. As they are where git cannot tell: a conflict is told in any case."""
    paths = paths_of(conflicts)
    try:
        ours = touches(cwd, left.commit, right.commit, paths)
        theirs = touches(cwd, right.commit, left.commit, paths)
    except GitFailed:
        return list(conflicts)

    def tell(view: View) -> list[dict[str, Any]]:
        whose = [end.owner or owner_of_branch(view, end.branch) for end in (left, right)]
        return with_sides(view, conflicts, Side(ours, whose[0]), Side(theirs, whose[1]))

    return store.read(tell) if store is not None else with_sides(None, conflicts, Side(ours), Side(theirs))


def add_to_report(
    cwd: str, report: dict[str, Any], left: str, right: str, open_store: Callable[[], Store]
) -> None:
    """Sides for every open file and finding of a merge report; `left` and `right` are names that git knows.

    Outside a repository of ours, or where its store does not answer, it is what the commits say.
    """
    files = [file for file in report["files"] if not file["clean"]]
    found = [*files, *({"path": "", **finding} for finding in report["findings"])]
    if not found:
        return
    try:
        store: Store | None = open_store()
    except Refusal:
        store = None
    ends = [End(name, branch=name.removeprefix("refs/heads/")) for name in (left, right)]
    try:
        told = add_sides(cwd, store, found, *ends)
    except Refusal:
        told = add_sides(cwd, None, found, *ends)
    for row, with_them in zip([*files, *report["findings"]], told, strict=True):
        if "sides" in with_them:
            row["sides"] = with_them["sides"]
