"""A worktree that a client asks for by its hook, made as all of ours are; a plain one where that fails."""

from __future__ import annotations

import os

from lineclear.core.log.tables import WORKTREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.ports import Caller
    from lineclear.git.layout import Layout
    from lineclear.wiring.repo import Repo

# How Claude Code names the worktree of a sub-agent.
_SUBAGENT = "agent-"
_LIMIT_S = 60.0


def make_for(repo: Repo, caller: Caller, name: str) -> tuple[str, str, bool]:
    """(its name in the store, its path, is it for the session itself?). Nobody's until the first call from
    within: then it is adopted. One of that name that is there already is used again, as the client does."""
    from lineclear.wiring.worktrees import make

    is_own = not name.startswith(_SUBAGENT)
    scope = repo.tree.removesuffix(repo.layout.tree)
    row = repo.store.read(lambda view: view.get(WORKTREE, (scope + name,)))
    if row is not None and os.path.isdir(row.path):
        return name, row.path, is_own
    made = make(repo, caller, name=name)
    return made.tree.removeprefix(scope), made.path, is_own


def make_plain(layout: Layout, name: str) -> str:
    """As the client would have made it: it cannot do without, whatever is wrong with us."""
    from lineclear.git.run import GitFailed, git
    from lineclear.wiring.repo import settings_root

    plain = "".join(ch if ch.isalnum() or ch in "._-" else "-" for ch in name).strip("-.") or "worktree"
    root = settings_root(layout)
    path = f"{root}/.claude/worktrees/{plain}"
    if not os.path.isdir(path):
        words = ("worktree", "add", "--quiet")
        try:
            git((*words, "-b", f"worktree-{plain}", path), root, timeout_s=_LIMIT_S)
        except GitFailed:
            # The branch is there from an earlier time.
            git((*words, path, f"worktree-{plain}"), root, timeout_s=_LIMIT_S)
    return path
