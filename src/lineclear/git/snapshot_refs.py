"""Snapshots that exist: list them, remove old ones, compare, bring one back. Touches no work tree."""

from __future__ import annotations

from lineclear.core.snapshots import PREFIX, Kept, ref_prefix, split_ref
from lineclear.git.run import GitFailed, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_FIELDS = ("refname", "objectname", "tree", "parent", "committerdate:unix", "contents")
_FORMAT = "".join(f"%({name})%00" for name in _FIELDS)


def list_snapshots(common_dir: str, agent: str = "") -> list[Kept]:
    """Those of one agent, or all; an agent's newest first."""
    words = ["for-each-ref", f"--format={_FORMAT}", ref_prefix(agent) if agent else PREFIX]
    fields = git(words, common_dir, timeout_s=120).decode("utf-8", "replace").split("\0")
    found = []
    for at in range(0, len(fields) - len(_FIELDS), len(_FIELDS)):
        ref, commit, tree, parent, at_s, text = fields[at : at + len(_FIELDS)]
        if split_ref(ref.lstrip("\n")) and at_s.isdecimal():
            found.append(Kept(ref.lstrip("\n"), commit, tree, parent, int(at_s), text))
    return sorted(found, key=lambda kept: (kept.agent, -kept.number))


def delete_snapshots(common_dir: str, snapshots: Sequence[Kept]) -> list[Kept]:
    """Remove the refs, each only while it is what we saw; gives those that are gone now."""
    if not snapshots:
        return []
    rows = "".join(f"delete {kept.ref} {kept.commit}\n" for kept in snapshots)
    try:
        git(["update-ref", "--stdin"], common_dir, input=rows.encode(), timeout_s=120)
        return list(snapshots)
    except GitFailed:
        return [kept for kept in snapshots if _delete_one(common_dir, kept)]


def _delete_one(common_dir: str, kept: Kept) -> bool:
    try:
        git(["update-ref", "-d", kept.ref, kept.commit], common_dir)
    except GitFailed:
        return False
    return True


def is_reachable(common_dir: str, commit: str, refs: Sequence[str]) -> bool:
    """Is the commit in the history of one of the refs (or of all refs below them)?"""
    words = ["for-each-ref", "--count=1", f"--contains={commit}", "--format=%(refname)", *refs]
    return bool(git(words, common_dir, check=False, timeout_s=120).strip())


def create_branch(common_dir: str, branch: str, commit: str) -> bool:
    """A new branch at the commit; False when there is one of that name."""
    try:
        git(["update-ref", "--stdin"], common_dir, input=f"create refs/heads/{branch} {commit}\n".encode())
    except GitFailed:
        if git(["rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"], common_dir, check=False):
            return False
        raise
    return True


def is_branch_name(common_dir: str, branch: str) -> bool:
    """Does git take it for a branch's name? `-` and `@{-1}`, which mean another one, are none."""
    try:
        found = git(["check-ref-format", "--branch", branch], common_dir)
    except GitFailed:
        return False
    return found.decode("utf-8", "replace").strip() == branch


def empty_tree(common_dir: str) -> str:
    """The id of a tree without anything in it, which git knows without having it."""
    return git(["hash-object", "-t", "tree", "--stdin"], common_dir).decode().strip()


def tree_of(common_dir: str, commit: str) -> str:
    """The tree of a commit."""
    words = ["rev-parse", "--verify", "--end-of-options", commit + "^{tree}"]
    return git(words, common_dir).decode().strip()


def diff(common_dir: str, old: str, new: str, options: Sequence[str]) -> str:
    """What leads from one commit or tree to another, as git shows it; bytes that are no UTF-8 as such."""
    words = ["diff", "--no-ext-diff", "--no-textconv", *options, "--end-of-options", old, new, "--"]
    return git(words, common_dir, timeout_s=600).decode("utf-8", "surrogateescape")


def count_lines(common_dir: str, old: str, new: str) -> list[dict[str, Any]]:
    """Each changed file with the lines it gained and lost; -1 for files that have no lines."""
    words = ["diff", "--numstat", "-z", "--no-renames", "--end-of-options", old, new, "--"]
    rows = git(words, common_dir, timeout_s=600).decode("utf-8", "surrogateescape").split("\0")
    found = []
    for row in rows[:-1]:
        added, removed, path = row.split("\t", 2)
        counts = [int(word) if word.isdecimal() else -1 for word in (added, removed)]
        found.append({"path": path, "added": counts[0], "removed": counts[1]})
    return found


def merge_base(common_dir: str, left: str, right: str) -> str:
    """Where two histories parted; "" when they never met."""
    return git(["merge-base", "--end-of-options", left, right], common_dir, check=False).decode().strip()


def merged_branches(common_dir: str, prefix: str, main: str) -> list[tuple[str, str, bool]]:
    """(name, commit, is all of it in main?) of every branch whose name begins so."""
    heads = "refs/heads/"
    below = heads + prefix.rpartition("/")[0] if "/" in prefix else heads
    words = ["for-each-ref", "--format=%(refname) %(objectname)", below]
    rows = git(words, common_dir, timeout_s=120).decode("utf-8", "surrogateescape").splitlines()
    merged = set(
        git([*words, f"--merged={main}"], common_dir, timeout_s=120)
        .decode("utf-8", "surrogateescape")
        .splitlines()
    )
    found = []
    for row in rows:
        ref, _, commit = row.rpartition(" ")
        name = ref.removeprefix(heads)
        if name.startswith(prefix):
            found.append((name, commit, row in merged))
    return found
