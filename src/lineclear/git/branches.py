"""Reads branches and commits from git's files, or from git where the files do not say enough (a reftable).

Only `delete_branch` changes anything.
"""

from __future__ import annotations

import os

from lineclear.git import parse
from lineclear.git.layout import has_reftable, head_branch, names_in, read_text, worktrees
from lineclear.git.run import GitFailed, git
from lineclear.git.worktree_commands import list_worktrees

_HEADS = "refs/heads/"


def commit_of(common_dir: str, cwd: str, name: str) -> str:
    """The commit that a branch, another ref or an id names, branches first; "" if there is none."""
    if parse.is_object_id(name):
        return _rev_parse(cwd, name)
    if not has_reftable(common_dir):
        for ref in (_HEADS + name, "refs/remotes/" + name):
            found = _ref_in_files(common_dir, ref)
            if found:
                return found
    return _rev_parse(cwd, _HEADS + name) or _rev_parse(cwd, name)


def _rev_parse(cwd: str, name: str) -> str:
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"]
    return git(words, cwd, check=False).decode().strip()


def _ref_in_files(common_dir: str, ref: str) -> str:
    if ".." in ref.split("/") or "\0" in ref:
        return ""
    loose = read_text(f"{common_dir}/{ref}").strip()
    if parse.is_object_id(loose):
        return loose
    return "" if loose else parse.packed_ref(read_text(common_dir + "/packed-refs", limit=-1), ref)


def branches_near(common_dir: str, cwd: str, branch: str) -> list[str]:
    """Return the branches that this name could collide with: a superset of those that have its name apart
    from case, that are a directory where it is a file, or the other way round."""
    if has_reftable(common_dir):
        return _all_branches(cwd)
    packed = parse.packed_branches(read_text(common_dir + "/packed-refs", limit=-1))
    return sorted({*packed, *_loose_near(f"{common_dir}/refs/heads", branch.split("/"))})


def _all_branches(cwd: str) -> list[str]:
    words = ["for-each-ref", "--format=%(refname)", _HEADS]
    lines = git(words, cwd).decode("utf-8", "surrogateescape").splitlines()
    return [line.removeprefix(_HEADS) for line in lines]


def _loose_near(directory: str, parts: list[str], above: str = "") -> list[str]:
    """Return the loose refs in every directory on the way to the parts, and all below the last part."""
    found = []
    for name in names_in(directory):
        path = f"{directory}/{name}"
        if not os.path.isdir(path):
            found.append(above + name)
        elif not parts or name.casefold() == parts[0].casefold():
            found += _loose_near(path, parts[1:], f"{above}{name}/")
    return found


def checked_out(common_dir: str, cwd: str) -> dict[str, str]:
    """Branch -> the path of the worktree that has it checked out."""
    if has_reftable(common_dir):
        return {entry.branch: entry.path for entry in list_worktrees(cwd) if entry.branch}
    found = {}
    for name, path in worktrees(common_dir):
        git_dir = common_dir if name == "main" else f"{common_dir}/worktrees/{name}"
        branch = head_branch(git_dir)
        if branch:
            found[branch] = path
    return found


def count_between(cwd: str, left: str, right: str) -> tuple[int, int] | None:
    """(commits only the left one has, commits only the right one has); None if one does not exist."""
    words = ["rev-list", "--left-right", "--count", "--end-of-options", f"{left}...{right}", "--"]
    fields = git(words, cwd, check=False).split()
    return (int(fields[0]), int(fields[1])) if len(fields) == 2 else None


def count_loose_commits(cwd: str) -> int:
    """The number of commits of this worktree's HEAD that no branch, remote branch or tag contains."""
    words = ["rev-list", "--count", "HEAD", "--not", "--branches", "--remotes", "--tags", "--"]
    return int(git(words, cwd, check=False).strip() or 0)


def is_merged(cwd: str, commit: str, into: str) -> bool:
    try:
        git(["merge-base", "--is-ancestor", commit, into], cwd)
    except GitFailed:
        return False
    return True


def delete_branch(cwd: str, branch: str, commit: str) -> None:
    """Delete the branch if it is still at this commit; else raise GitFailed."""
    git(["update-ref", "-d", _HEADS + branch, commit], cwd)


def unlanded_branch(root: str, base: str) -> str:
    """The branch of a worktree, if it has commits that `base` lacks; "" otherwise."""
    branch = git(["symbolic-ref", "--quiet", "--short", "HEAD"], root, check=False).decode().strip()
    if not base or not branch:
        return ""
    new = git(["rev-list", "--max-count=1", f"{base}..HEAD", "--"], root, check=False)
    return branch if new.strip() else ""
