"""An agent's work at any time, wired: what it changed, and the way into its worktree."""

from __future__ import annotations

import os
import shlex

from lineclear.app.worktrees.saved_work import latest, take_for
from lineclear.app.worktrees.snapshots import Work, find_work
from lineclear.core.log.tables import WORKTREE
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.worktrees.snapshots import LOOKED_AT
from lineclear.git.branches import commit_of
from lineclear.git.layout import worktrees
from lineclear.git.run import show_on_terminal
from lineclear.git.snapshots.refs import count_lines, diff, empty_tree, merge_base
from lineclear.wiring.worktrees import clone_branches, worktrees_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

    from lineclear.app.ports import Caller
    from lineclear.wiring.repo import Repo


class Difference:
    """From where the work began to what it is now. `is_live`: it is what the worktree holds this moment."""

    __slots__ = ("base", "commit", "is_live", "left_out", "work")

    def __init__(self, work: Work, base: str, commit: str, left_out: tuple[str, ...], is_live: bool) -> None:
        self.work, self.base, self.commit = work, base, commit
        self.left_out, self.is_live = left_out, is_live


def work_of(repo: Repo, name: str) -> Work:
    """Whose work is meant, with the path of its worktree if that is there."""
    scope = repo.tree.removesuffix(repo.layout.tree)
    work = repo.store.read(lambda view: find_work(view, name, scope=scope))
    known = dict(worktrees(repo.layout.common_dir))
    work.path = known.get(work.tree.removeprefix(scope), "") if work.tree.startswith(scope) else ""
    return work


def difference(repo: Repo, caller: Caller, name: str) -> Difference:
    """All of somebody's work against main: committed, changed and new files; the last snapshot or the
    branch where the worktree is gone."""
    work = work_of(repo, name)
    common_dir = repo.layout.common_dir
    commit, left_out, is_live = _now(repo, caller, work)
    if not commit:
        raise refuse("look.nothing", name=name)
    main = clone_branches(repo).main_commit()
    base = (main and merge_base(common_dir, main, commit)) or work.base or empty_tree(common_dir)
    return Difference(work, base, commit, left_out, is_live)


def _now(repo: Repo, caller: Caller, work: Work) -> tuple[str, tuple[str, ...], bool]:
    """(a commit with all of it, what is not in that, is it this moment's?)"""
    agent = work.agent or caller.name
    if work.path:
        try:
            taken = take_for(repo, agent=agent, tree=work.tree, path=work.path, why=LOOKED_AT, task=work.task)
        except Refusal:
            taken = None  # a tree that cannot be saved can still be looked at as it was
        else:
            found = taken or latest(repo, agent)
            if found is not None:
                return found.commit, found.left_out, True
    kept = latest(repo, agent) if work.agent else None
    if kept is not None:
        return kept.commit, kept.left_out, False
    common_dir = repo.layout.common_dir
    return (commit_of(common_dir, common_dir, work.branch) if work.branch else ""), (), False


def as_data(repo: Repo, found: Difference) -> dict[str, Any]:
    """The difference for programs: its ends, its files with counts of lines, and the patch."""
    common_dir = repo.layout.common_dir
    return {
        "agent": found.work.agent,
        "worktree": found.work.tree,
        "branch": found.work.branch,
        "base": found.base,
        "commit": found.commit,
        "is_live": found.is_live,
        "left_out": list(found.left_out),
        "files": count_lines(common_dir, found.base, found.commit),
        "patch": diff(common_dir, found.base, found.commit, ["--binary"]),
    }


def as_text(repo: Repo, found: Difference, *, stat: bool) -> str:
    return diff(repo.layout.common_dir, found.base, found.commit, ["--stat"] if stat else [])


def on_terminal(repo: Repo, found: Difference, *, stat: bool) -> int:
    """As git shows it to a person: in colour and through the pager that they chose."""
    words = ["diff", *(["--stat"] if stat else []), found.base, found.commit, "--"]
    return show_on_terminal(words, repo.layout.common_dir)


# -- the way in -------------------------------------------------------------------------------


def environment_at(repo: Repo, work: Work) -> dict[str, str]:
    """What processes in the worktree are given: its ports and what the settings state for it."""
    row = repo.store.read(lambda view: view.get(WORKTREE, (work.tree,)))
    if row is None:
        return {}
    return worktrees_in(repo).environment(row)


def command_for(environ: Mapping[str, str], path: str, *, editor: bool) -> list[str]:
    """A shell, or the editor of $VISUAL or $EDITOR on the worktree."""
    if not editor:
        return [environ.get("SHELL") or "/bin/sh"]
    chosen = environ.get("VISUAL") or environ.get("EDITOR")
    if not chosen:
        raise refuse("look.no_editor")
    return [*shlex.split(chosen), path]


def become(argv: list[str], path: str, env: Mapping[str, str]) -> NoReturn:
    """Go on as another program, in that directory: its exit code is ours, and the terminal is its own."""
    os.chdir(path)
    try:
        os.execvpe(argv[0], argv, dict(env))
    except OSError as error:
        raise refuse("look.cannot_start", program=argv[0], why=error.strerror or str(error)) from error
