"""Git's side of worktrees, wired: where a clone's worktrees come from, and git behind the use cases' port."""

from __future__ import annotations

import os

from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.words.worktrees import worktree_failed
from lineclear.core.worktrees import rules
from lineclear.git import branches
from lineclear.git import worktrees as git_trees
from lineclear.git.layout import head_branch, landing_branch
from lineclear.git.run import GitFailed
from lineclear.wiring.repo import settings_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.log.tables import Worktree
    from lineclear.host.bonds import HeldBond
    from lineclear.wiring.repo import Repo


class Site:
    """Where worktrees of one clone come from: its main worktree, its git directory, its part of a name."""

    __slots__ = ("common_dir", "repo", "root", "scope")

    def __init__(self, repo: Repo) -> None:
        self.repo, self.common_dir = repo, repo.layout.common_dir
        self.root = settings_root(repo.layout)
        self.scope = repo.tree.removesuffix(repo.layout.tree)

    def hold(self, name: str) -> HeldBond:
        """Only one process makes or removes a worktree of this name; its death lets go."""
        try:
            return self.repo.bonds.hold(bond_of(name))
        except Refusal as refusal:
            raise refuse("worktree.busy", name=name) from refusal

    def owns(self, row: Worktree) -> bool:
        """Is it a worktree of this clone? A team's store holds those of all clones."""
        return row.name.startswith(self.scope) and "/" not in row.name[len(self.scope) :]

    def current(self, row: Worktree) -> Worktree:
        """The row with the place where git has the worktree now: people move them (`git worktree move`)."""
        name = row.name.removeprefix(self.scope)
        path = git_trees.entry_path(self.common_dir, name)
        place = os.path.realpath(path) if path else row.path
        if place == row.path or (head_branch(f"{self.common_dir}/worktrees/{name}") or "") != row.branch:
            return row
        return row.changed(path=place)

    def directory(self) -> str:
        """Where worktrees are made: absolute, or as seen from the main worktree."""
        stated = os.path.expanduser(self.repo.settings.worktrees_directory)
        return stated or f"../{os.path.basename(self.root) or 'repo'}.worktrees"

    def default_place(self, name: str) -> str:
        return os.path.realpath(os.path.join(self.root, self.directory(), name))

    def is_default_place(self, path: str, name: str) -> bool:
        return os.path.realpath(path) == self.default_place(name)

    def main_branch(self) -> str:
        """The branch that work lands on; where none is to be seen, what the main worktree is at."""
        return self.repo.layout.landing or landing_branch(self.common_dir) or "HEAD"

    def main_commit(self) -> str:
        """The commit it is at; "" before the first one."""
        return branches.commit_of(self.common_dir, self.root, self.main_branch())


def bond_of(name: str) -> str:
    """Git's name for a worktree that somebody else made may hold what a bond's name may not."""
    plain = "".join(ch if ch.isascii() and (ch.isalnum() or ch in "._-") else "_" for ch in name)
    return "worktree-" + plain[:100]


class GitSide:
    """Git behind the use cases; what it refuses comes as a Refusal."""

    __slots__ = ("_bond", "_site")

    def __init__(self, site: Site, bond: HeldBond | None = None) -> None:
        """`bond`: held by us for the worktree, and lent to git while it makes it."""
        self._site, self._bond = site, bond

    def add(self, row: Worktree, is_new_branch: bool, /) -> str:
        site, lent = self._site, [self._bond.fileno()] if self._bond is not None else []
        try:
            return git_trees.add(
                site.root, row.path, branch=row.branch, commit=row.base, is_new=is_new_branch, keep_fds=lent
            )
        except BaseException as error:
            self._clean_up(row, is_new_branch)
            if isinstance(error, GitFailed):
                raise _said_no(site, row.name, error) from error
            raise

    def _clean_up(self, row: Worktree, is_new_branch: bool) -> None:
        """Git takes the directory back when it fails, but not the branch; killed, neither."""
        site = self._site
        try:
            if git_trees.name_of(row.path):
                git_trees.remove(site.root, row.path, force=True)
            if is_new_branch and branches.commit_of(site.common_dir, site.root, row.branch) == row.base:
                branches.delete_branch(site.root, row.branch, row.base)
        except GitFailed:
            pass  # what is left is listed as missing or not adopted; the first failure is the one to tell

    def condition(self, _name: str, path: str, /) -> rules.Condition:
        if not os.path.isdir(path) or not git_trees.name_of(path):
            return rules.Condition()
        entry = _entry_at(self._site, path)
        if entry is None:
            return rules.Condition()
        loose = branches.count_loose_commits(path) if not entry.branch else 0
        lock = (entry.lock or "no reason was given") if entry.is_locked else ""
        return rules.Condition(changed=git_trees.count_changes(path), loose_commits=loose, lock=lock)

    def remove(self, row: Worktree, force: bool, /) -> str:
        site = self._site
        name = row.name.removeprefix(site.scope)
        try:
            if os.path.realpath(git_trees.entry_path(site.common_dir, name) or "/") == row.path:
                must = force or not os.path.isdir(row.path) or git_trees.has_submodules(row.path)
                git_trees.remove(site.root, row.path, force=must)
            return self._drop_branch(row)
        except GitFailed as error:
            raise _said_no(site, row.name, error) from error

    def _drop_branch(self, row: Worktree) -> str:
        """Our branch goes when all of it is in main and nobody has it checked out; gives one that stays."""
        site = self._site
        tip = branches.commit_of(site.common_dir, site.root, row.branch) if row.branch else ""
        if not tip:
            return ""
        prefix, name = site.repo.settings.worktrees_branches, row.name.removeprefix(site.scope)
        is_ours = row.origin == rules.OURS and rules.is_own_branch(row.branch, prefix, name, row.task)
        if not is_ours or row.branch in branches.checked_out(site.common_dir, site.root):
            return row.branch
        main = site.main_commit()
        if not main or not branches.is_merged(site.root, tip, main):
            return row.branch
        branches.delete_branch(site.root, row.branch, tip)
        return ""


def _said_no(site: Site, tree: str, error: GitFailed) -> Refusal:
    if "git-lfs" in error.stderr:
        return refuse("worktree.lfs", path=site.root)
    return worktree_failed(tree.removeprefix(site.scope), git_trees.failure_words(error))


def _entry_at(site: Site, path: str) -> git_trees.Entry | None:
    for entry in git_trees.list_worktrees(site.root):
        if os.path.realpath(entry.path) == path:
            return entry
    return None
