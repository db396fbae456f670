"""Finds agents that moved main themselves, puts main back, and keeps their commits under refs of ours.

Agents run with GIT_REFLOG_ACTION="lineclear:AGENT", which git writes into main's reflog.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from lineclear.core.queue.landing_results import (
    AGENT_MARK,
    NeedsYou,
    Stray,
    find_stray,
    marked_agent,
    strayed_prefix,
)
from lineclear.core.words.computed.queue import git_failed
from lineclear.git.branch_moves import checkouts_of
from lineclear.git.landing import (
    LOCK_WAIT_S,
    CloneGit,
    commit_of,
    landing_ref,
    locked_main,
    newest_message,
    reflog,
)
from lineclear.git.run import GitFailed, git

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lineclear.git.landing import LockedMain
    from lineclear.git.layout import Layout

_ATTEMPTS = 50


class Strays:
    """Main in one clone, and who moved it. `trees()` returns worktree path -> the agent that works there."""

    def __init__(self, layout: Layout, state_directory: str, trees: Callable[[], Mapping[str, str]]) -> None:
        self._layout, self._state_directory, self._trees = layout, state_directory, trees

    def main(self) -> tuple[str, str]:
        """(full ref, commit) of the branch that work lands on."""
        ref = landing_ref(self._layout)
        return ref, commit_of(self._layout.worktree, ref)

    def main_name(self) -> str:
        return landing_ref(self._layout).removeprefix("refs/heads/")

    def find(self) -> Stray | None:
        """The agent that moved main last, from where to where; None if a person or a landing did."""
        return self._newest(landing_ref(self._layout))

    def restore(self, old: str, new: str, agent: str, *, wait_s: float = LOCK_WAIT_S) -> str | NeedsYou:
        """Move main and its files back to `old`. Return the ref that keeps the agent's commits."""
        try:
            with (
                closing(CloneGit(self._layout)) as clone,
                locked_main(clone, self._state_directory, wait_s) as main,
            ):
                main.repair()
                return self._put_back(main, Stray(agent, old, new))
        except GitFailed as error:
            raise git_failed(error.command[0], error.stderr) from error

    def contain(self, main: LockedMain) -> str | NeedsYou:
        """If an agent moved main, move it back. Return what was done, "" if nothing."""
        stray = self._newest(main.ref)
        if stray is None or stray.new != main.commit():
            return ""
        kept = self._put_back(main, stray)
        if isinstance(kept, NeedsYou):
            return kept
        return f"{stray.agent} had moved {main.branch} itself; it was put back, its commits are at {kept}"

    def _put_back(self, main: LockedMain, stray: Stray) -> str | NeedsYou:
        kept = _keep_commit(self._layout.worktree, stray.agent, stray.new)
        moved = main.move(stray.new, stray.old, f"lineclear: put back what {stray.agent} moved")
        if moved.how == "moved":
            return kept
        why = moved.why or f"{main.branch} has moved since"
        return NeedsYou(
            f"{stray.agent} moved {main.branch} itself, and it cannot be put back: {why}", moved.files
        )

    def _newest(self, ref: str) -> Stray | None:
        newest = newest_message(self._layout.common_dir, ref)
        if newest and not marked_agent(newest):
            return None  # the usual case, decided without starting git

        def agent_of(old: str, new: str, message: str) -> str:
            # `git update-ref` writes no message: then the place where the commit was made tells.
            return marked_agent(message) if message else self._agent_by_place(ref, old, new)

        return find_stray(reflog(self._layout.worktree, ref), agent_of)

    def _agent_by_place(self, ref: str, old: str, new: str) -> str:
        """The one agent that had the new commit, if the branch was moved from outside its worktree.

        A person who moves it inside its own worktree leaves a line in that worktree's reflog of HEAD.
        """
        places = checkouts_of(self._layout.common_dir, ref)
        if not places or any(_has_move(place.path, old, new) for place in places):
            return ""
        owners = {agent for path, agent in self._trees().items() if _had(path, new)}
        return owners.pop() if len(owners) == 1 else ""


def _has_move(path: str, old: str, new: str) -> bool:
    return any((before, after) == (old, new) for before, after, _ in reflog(path, "HEAD"))


def _had(path: str, commit: str) -> bool:
    try:
        # A commit that we brought there ourselves (`sync`) says nothing about who made it.
        ours = f"{AGENT_MARK} "
        return any(new == commit and not said.startswith(ours) for _, new, said in reflog(path, "HEAD"))
    except GitFailed:  # the worktree is gone
        return False


def _keep_commit(cwd: str, agent: str, commit: str) -> str:
    """Give the commit a ref of its own, so that git never removes it, and return the ref."""
    prefix = strayed_prefix(agent)
    rows = git(["for-each-ref", "--format=%(objectname) %(refname)", prefix], cwd).decode().split("\n")[:-1]
    for row in rows:
        kept, _, ref = row.partition(" ")
        if kept == commit:
            return ref
    for number in range(len(rows) + 1, len(rows) + _ATTEMPTS):
        try:
            # All zeros: only if the ref does not exist yet.
            git(["update-ref", f"{prefix}{number}", commit, "0" * len(commit)], cwd)
        except GitFailed:
            continue
        return f"{prefix}{number}"
    raise GitFailed(["update-ref", prefix], 1, f"no free name below {prefix}")
