"""Finds a repository's parts by reading its files. Starts no process and changes nothing.

All paths are real paths (without symlinks), so that they can be compared as text.
"""

from __future__ import annotations

import os

from lineclear.core.words.refusals import refuse
from lineclear.git import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MAIN_TREE = "main"
# Our directory in the git directory that all worktrees share.
STATE_DIRECTORY = "lineclear"
# The directory of the check trees, beside the agents' worktrees.
CHECKS = ".checks"
_SMALL_FILE_BYTES = 1 << 20


class Layout:
    """One worktree of one repository. `tree` is "main" or the name git gave to the linked worktree.

    `landing` is the branch that work lands on if the settings name one, else "".
    """

    __slots__ = ("common_dir", "git_dir", "is_main", "landing", "tree", "worktree")

    def __init__(self, worktree: str, git_dir: str, common_dir: str) -> None:
        self.worktree = worktree
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.is_main = git_dir == common_dir
        self.tree = MAIN_TREE if self.is_main else os.path.basename(git_dir)
        self.landing = ""


def find_layout(cwd: str, env: Mapping[str, str]) -> Layout:
    """The layout seen from a directory; refuses outside a repository and in a bare one.

    GIT_DIR, GIT_WORK_TREE and GIT_COMMON_DIR count as they do for git, with one exception: with GIT_DIR
    alone, the git directory's own worktree counts if we are inside it, and only otherwise the current
    directory (git's hooks set GIT_DIR, and scripts in them change directory).
    """
    cwd = os.path.realpath(cwd)
    named = env.get("GIT_DIR")
    git_dir, found_at = (_named_git_dir(os.path.join(cwd, named)), "") if named else _discover(cwd)
    common_dir = _from_env("GIT_COMMON_DIR", env, cwd) or common_dir_of(git_dir)
    worktree = _from_env("GIT_WORK_TREE", env, cwd)
    if not worktree and named:
        worktree = _worktree_for_named(git_dir, common_dir, cwd)
    return Layout(worktree or _worktree_of(git_dir, common_dir, found_at), git_dir, common_dir)


def _from_env(name: str, env: Mapping[str, str], cwd: str) -> str:
    value = env.get(name)
    return os.path.realpath(os.path.join(cwd, value)) if value else ""


def _named_git_dir(path: str) -> str:
    git_dir = linked_git_dir(path) if os.path.isfile(path) else os.path.realpath(path)
    if git_dir is None or not _is_git_dir(git_dir):
        raise refuse("repo.none", path=path)
    return git_dir


def _discover(cwd: str) -> tuple[str, str]:
    """The git directory for a place, and the directory that has `.git` ("" inside a git directory)."""
    place = cwd
    while True:
        link = os.path.join(place, ".git")
        if os.path.isfile(link):
            git_dir = linked_git_dir(link)
            if git_dir is None or not _is_git_dir(git_dir):
                raise refuse("repo.broken_link", path=link, target=git_dir or "")
            return git_dir, place
        if _is_git_dir(link):
            return os.path.realpath(link), place
        if _is_git_dir(place):
            return place, ""
        parent = os.path.dirname(place)
        if parent == place:
            raise refuse("repo.none", path=cwd)
        place = parent


def _is_git_dir(path: str) -> bool:
    """Git's own test: HEAD here, objects and refs here or in the common directory."""
    if not os.path.lexists(path + "/HEAD"):
        return False
    common_dir = common_dir_of(path)
    return os.path.isdir(common_dir + "/objects") and os.path.isdir(common_dir + "/refs")


def linked_git_dir(link: str) -> str | None:
    """The git directory that a `.git` file names; None if it does not name one."""
    target = parse.gitdir_target(read_text(link))
    return target and os.path.realpath(os.path.join(os.path.dirname(link), target))


def common_dir_of(git_dir: str) -> str:
    """The directory that all worktrees share: the git directory itself, except for linked worktrees."""
    target = read_text(git_dir + "/commondir").strip()
    return os.path.realpath(os.path.join(git_dir, target)) if target else git_dir


def _worktree_of(git_dir: str, common_dir: str, found_at: str) -> str:
    if git_dir != common_dir:
        worktree = found_at or _linked_worktree(git_dir)
    elif _is_bare(common_dir):
        worktree = ""
    else:
        worktree = _configured_worktree(common_dir) or found_at or _main_worktree(common_dir)
    if not worktree:
        raise refuse("repo.bare", path=git_dir)
    return worktree


def _worktree_for_named(git_dir: str, common_dir: str, cwd: str) -> str:
    """With GIT_DIR: the git directory's own worktree if we are in it, else the current directory."""
    is_linked = git_dir != common_dir
    if not is_linked and _is_bare(common_dir):
        raise refuse("repo.bare", path=git_dir)
    own = _linked_worktree(git_dir) if is_linked else _main_worktree(common_dir)
    return own if own and (cwd + "/").startswith(own + "/") else cwd


def _linked_worktree(git_dir: str) -> str:
    """The path of a linked worktree, by git's entry for it; "" if the entry does not say."""
    link = read_text(git_dir + "/gitdir").rstrip("\r\n")
    return os.path.dirname(os.path.realpath(os.path.join(git_dir, link))) if link else ""


def _main_worktree(common_dir: str) -> str:
    """The path of the main worktree, by the repository's files; "" if it is bare."""
    if _is_bare(common_dir):
        return ""
    beside = os.path.dirname(common_dir) if os.path.basename(common_dir) == ".git" else ""
    return _configured_worktree(common_dir) or beside


def _configured_worktree(common_dir: str) -> str:
    target = _main_config(common_dir, "worktree")
    return os.path.realpath(os.path.join(common_dir, target)) if target else ""


def _is_bare(common_dir: str) -> bool:
    return parse.is_true(_main_config(common_dir, "bare"))


def _main_config(common_dir: str, key: str) -> str | None:
    """`core.KEY` of the main worktree; with extensions.worktreeConfig, `config.worktree` comes first."""
    own = parse.config_value(read_text(common_dir + "/config.worktree"), "core", key)
    return own if own is not None else parse.config_value(read_text(common_dir + "/config"), "core", key)


def main_worktree(common_dir: str) -> str:
    """The path of the main worktree; "" if the repository has none, or it is gone."""
    main = _main_worktree(common_dir)
    return main if main and os.path.isdir(main) else ""


def worktrees(common_dir: str) -> list[tuple[str, str]]:
    """(name, path) of every existing worktree, the main one first if there is one, without check trees."""
    found = []
    main = main_worktree(common_dir)
    if main:
        found.append((MAIN_TREE, main))
    for name in names_in(common_dir + "/worktrees"):
        entry = f"{common_dir}/worktrees/{name}"
        path = _linked_worktree(entry)
        if path and not is_check_tree(path) and linked_git_dir(path + "/.git") == entry:
            found.append((name, path))
    return found


def is_check_tree(path: str) -> bool:
    """Told by its path: git offers no mark that would exist from a worktree's first moment on."""
    above, _, name = path.rpartition("/")
    return above.endswith("/" + CHECKS) and name.startswith("check-")


def file_stem(directory: str, tree: str) -> str:
    """The path, without suffix, of our own files about a worktree in a directory."""
    return f"{directory}/{tree.replace('/', '+')}"


def names_in(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def ignores_case(common_dir: str) -> bool:
    """Does git treat `A` and `a` as one file here (core.ignorecase, which git sets at `init`)?"""
    return parse.is_true(parse.config_value(read_text(common_dir + "/config"), "core", "ignorecase"))


def head_branch(git_dir: str) -> str | None:
    """The branch that is checked out, even before its first commit; None if HEAD is detached or kept in a
    reftable (then this file says ".invalid")."""
    target = parse.symbolic_target(read_text(git_dir + "/HEAD")) or ""
    branch = target.removeprefix("refs/heads/")
    return branch if branch not in (target, ".invalid") else None


def has_commit(common_dir: str, git_dir: str) -> bool:
    """Does HEAD name a commit? True with a reftable, which we cannot read: git will say."""
    if has_reftable(common_dir):
        return True
    head = read_text(git_dir + "/HEAD")
    target = parse.symbolic_target(head)
    return _has_ref(common_dir, target) if target else parse.is_object_id(head)


def landing_branch(common_dir: str) -> str | None:
    """The remote's default branch, else main, else master; None if none exists, or with a reftable."""
    if has_reftable(common_dir):
        return None
    prefix = "refs/remotes/origin/"
    default = parse.symbolic_target(read_text(f"{common_dir}/{prefix}HEAD")) or ""
    if default.startswith(prefix):
        return default.removeprefix(prefix)
    for branch in ("main", "master"):
        if _has_ref(common_dir, "refs/heads/" + branch):
            return branch
    return None


def has_reftable(common_dir: str) -> bool:
    return os.path.isdir(common_dir + "/reftable")


def _has_ref(common_dir: str, ref: str) -> bool:
    if parse.is_object_id(read_text(f"{common_dir}/{ref}")):
        return True
    return parse.packed_ref_exists(read_text(common_dir + "/packed-refs", limit=-1), ref)


def read_text(path: str, limit: int = _SMALL_FILE_BYTES) -> str:
    """The text of a small file; "" if it does not exist, cannot be read, or is binary."""
    try:
        with open(path, "rb", buffering=0) as file:
            data = file.read(limit) or b""
    except OSError:
        return ""
    return "" if b"\0" in data else os.fsdecode(data)
