"""Who moved a branch: the marks that agents' git leaves in reflogs, and keeping what is moved away."""

from __future__ import annotations

from lineclear.core.queue.landing import AGENT_MARK, find_stray, marked_agent, strayed_prefix
from lineclear.git.branch_moves import checkouts_of
from lineclear.git.landing import newest_message, reflog
from lineclear.git.run import GitFailed, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lineclear.core.queue.landing import Stray

_ATTEMPTS = 50


class Moves:
    """The log of one branch. `trees` gives path of a worktree -> the agent that works there."""

    def __init__(self, cwd: str, common_dir: str, ref: str, trees: Callable[[], Mapping[str, str]]) -> None:
        self._cwd, self._common_dir, self._ref, self._trees = cwd, common_dir, ref, trees

    def newest_stray(self) -> Stray | None:
        newest = newest_message(self._common_dir, self._ref)
        if newest and not marked_agent(newest):
            return None  # nearly always; told without starting git
        return find_stray(reflog(self._cwd, self._ref), self.agent_of)

    def agent_of(self, old: str, new: str, message: str) -> str:
        """By the mark; `git update-ref` leaves none, and then by where the commit was made."""
        return marked_agent(message) or (self._by_place(old, new) if not message else "")

    def _by_place(self, old: str, new: str) -> str:
        """A checked-out branch that was moved from outside, to a commit that only one agent had: a
        person who moves it in its own tree leaves a line in that tree's log of HEAD."""
        places = checkouts_of(self._common_dir, self._ref)
        if not places or any(_has_move(place.path, old, new) for place in places):
            return ""
        owners = {agent for path, agent in self._trees().items() if _had(path, new)}
        return owners.pop() if len(owners) == 1 else ""


def _has_move(path: str, old: str, new: str) -> bool:
    return any((before, after) == (old, new) for before, after, _ in reflog(path, "HEAD"))


def _had(path: str, commit: str) -> bool:
    try:
        # What we brought there ourselves (`sync`) tells nothing about who made it.
        ours = f"{AGENT_MARK} "
        return any(new == commit and not said.startswith(ours) for _, new, said in reflog(path, "HEAD"))
    except GitFailed:  # the worktree is gone
        return False


def keep(cwd: str, agent: str, commit: str) -> str:
    """A ref of its own for the commit, so that nothing of it is lost."""
    prefix = strayed_prefix(agent)
    rows = git(["for-each-ref", "--format=%(objectname) %(refname)", prefix], cwd).decode().split("\n")[:-1]
    for row in rows:
        kept, _, ref = row.partition(" ")
        if kept == commit:
            return ref
    for number in range(len(rows) + 1, len(rows) + _ATTEMPTS):
        try:
            # All zeros: only if it is not there yet.
            git(["update-ref", f"{prefix}{number}", commit, "0" * len(commit)], cwd)
        except GitFailed:
            continue
        return f"{prefix}{number}"
    raise GitFailed(["update-ref", prefix], 1, f"no free name below {prefix}")
