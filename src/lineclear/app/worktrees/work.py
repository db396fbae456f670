"""Look at an agent's work at any time: what it has changed, and a shell or editor in its worktree."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lineclear.app.worktrees.snapshots import Work, find_work
from lineclear.core.log.tables import WORKTREE
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.worktrees.snapshots import LOOKED_AT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lineclear.app.ports import Caller, Store
    from lineclear.app.worktrees.lifecycle import Worktrees
    from lineclear.app.worktrees.ports import CommitReader
    from lineclear.app.worktrees.saved_work import SavedWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The work from `base` to `commit`. `is_live`: `commit` is the worktree's current content."""

    work: Work
    base: str
    commit: str
    left_out: tuple[str, ...]
    is_live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWork:
    """`places()` returns git's name -> path for every worktree of this clone."""

    store: Store
    worktrees: Worktrees
    saved: SavedWork
    commits: CommitReader
    places: Callable[[], dict[str, str]]

    def find(self, name: str) -> Work:
        """The work that a name stands for, with the path of its worktree if that exists."""
        scope = self.worktrees.scope
        work = self.store.read(lambda view: find_work(view, name, scope=scope))
        is_here = work.tree.startswith(scope)
        work.path = self.places().get(work.tree.removeprefix(scope), "") if is_here else ""
        return work

    def difference(self, caller: Caller, name: str) -> Difference:
        """All of an agent's work compared with main: committed, changed and new files. If the worktree is
        gone, from the last snapshot or the branch."""
        work = self.find(name)
        commit, left_out, is_live = self._now(caller, work)
        if not commit:
            raise refuse("look.nothing", name=name)
        main = self.commits.main_commit()
        base = (main and self.commits.merge_base(main, commit)) or work.base or self.commits.empty_tree()
        return Difference(work=work, base=base, commit=commit, left_out=left_out, is_live=is_live)

    def _now(self, caller: Caller, work: Work) -> tuple[str, tuple[str, ...], bool]:
        """(a commit with all the work, the files left out of it, is it the current content?)"""
        agent = work.agent or caller.name
        if work.path:
            try:
                taken = self.saved.take(
                    agent=agent, tree=work.tree, path=work.path, why=LOOKED_AT, task=work.task
                )
            except Refusal:
                pass  # show the last saved state instead
            else:
                found = taken or self.saved.latest(agent)
                if found is not None:
                    return found.commit, found.left_out, True
        kept = self.saved.latest(agent) if work.agent else None
        if kept is not None:
            return kept.commit, kept.left_out, False
        return (self.commits.commit_of(work.branch) if work.branch else ""), (), False

    def as_data(self, found: Difference) -> dict[str, Any]:
        """The difference for programs: both commits, the files with line counts, and the patch."""
        return {
            "agent": found.work.agent,
            "worktree": found.work.tree,
            "branch": found.work.branch,
            "base": found.base,
            "commit": found.commit,
            "is_live": found.is_live,
            "left_out": list(found.left_out),
            "files": self.commits.count_lines(found.base, found.commit),
            "patch": self.commits.diff(found.base, found.commit, ["--binary"]),
        }

    def as_text(self, found: Difference, *, stat: bool) -> str:
        return self.commits.diff(found.base, found.commit, ["--stat"] if stat else [])

    def on_terminal(self, found: Difference, *, stat: bool) -> int:
        """Show the difference as git does for a person, in colour and with the chosen pager."""
        return self.commits.show_diff(found.base, found.commit, ["--stat"] if stat else [])

    def environment(self, work: Work) -> dict[str, str]:
        """Environment variables for processes in the worktree: its ports, and those from the settings."""
        row = self.store.read(lambda view: view.get(WORKTREE, (work.tree,)))
        return self.worktrees.environment(row) if row is not None else {}


def command_for(environ: Mapping[str, str], path: str, *, editor: bool) -> list[str]:
    """The command for a shell, or for the editor in $VISUAL or $EDITOR, in the worktree."""
    if not editor:
        return [environ.get("SHELL") or "/bin/sh"]
    chosen = environ.get("VISUAL") or environ.get("EDITOR")
    if not chosen:
        raise refuse("look.no_editor")
    return [*shlex.split(chosen), path]
