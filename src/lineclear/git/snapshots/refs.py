"""Lists, removes, compares and restores existing snapshots. Touches no work tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.worktrees.snapshots import PREFIX, Kept, message, ref_prefix, split_ref
from lineclear.git.objects import COMMIT, Objects, format_commit, nobody
from lineclear.git.run import GitFailed, git

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def list_snapshots(common_dir: str, agent: str = "") -> list[Kept]:
    """Return the snapshots of one agent, or of all; each agent's newest first. A ref whose commit is missing
    (after a power cut) is left out: one broken ref must not hide the others."""
    words = ["for-each-ref", "--format=%(refname) %(objectname)", ref_prefix(agent) if agent else PREFIX]
    rows = [row.split(" ") for row in git(words, common_dir, timeout_s=120).decode().splitlines()]
    refs = {ref: commit for ref, commit in rows if split_ref(ref)}
    commits = _read_commits(common_dir, sorted(set(refs.values())))
    found = [Kept(ref, commit, *commits[commit]) for ref, commit in refs.items() if commit in commits]
    return sorted(found, key=lambda kept: (kept.agent, -kept.number))


def _read_commits(common_dir: str, oids: list[str]) -> dict[str, tuple[str, str, int, str]]:
    """Return commit -> (tree, first parent, seconds, message) of those that can be read."""
    if not oids:
        return {}
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    output = git(["cat-file", "--batch"], common_dir, input=asked, check=False, timeout_s=120)
    found, at = {}, 0
    while at < len(output):
        end = output.index(b"\n", at)
        oid, kind, *size = output[at:end].decode().split(" ")
        at = end + 1
        if size:
            data = output[at : at + int(size[0])]
            at += len(data) + 1
            if kind == COMMIT:
                found[oid] = _parse_commit(data.decode("utf-8", "replace"))
    return found


def _parse_commit(text: str) -> tuple[str, str, int, str]:
    head, _, words = text.partition("\n\n")
    fields: dict[str, str] = {}
    for line in head.split("\n"):
        name, _, value = line.partition(" ")
        fields.setdefault(name, value)
    at_s = fields["committer"].rpartition("> ")[2].partition(" ")[0]
    return fields["tree"], fields.get("parent", ""), int(at_s), words


def delete_snapshots(common_dir: str, snapshots: Sequence[Kept]) -> list[Kept]:
    """Remove the refs, each only if it still has the commit we saw. Return the ones that were removed."""
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


def renew(common_dir: str, kept: Kept, why: str, at_s: int) -> str:
    """Store the same content again as the agent's newest snapshot, dated now, and return its ref."""
    words = message(agent=kept.agent, task=kept.task, tree=kept.worktree, why=why, left_out=kept.left_out)
    objects, who = Objects.like(kept.tree), nobody(at_s)
    parents = [kept.parent] if kept.parent else []
    commit = objects.add(COMMIT, format_commit(kept.tree, parents, words, author=who, committer=who))
    objects.write(common_dir + "/objects")
    while True:
        number = max(found.number for found in list_snapshots(common_dir, kept.agent)) + 1
        ref = f"{ref_prefix(kept.agent)}{number}"
        try:
            git(["update-ref", "--stdin"], common_dir, input=f"create {ref} {commit}\n".encode())
            return ref
        except GitFailed:
            if number >= max(found.number for found in list_snapshots(common_dir, kept.agent)) + 1:
                raise


def create_branch(common_dir: str, branch: str, commit: str) -> bool:
    """Create a branch at the commit; False if one of that name exists."""
    try:
        git(["update-ref", "--stdin"], common_dir, input=f"create refs/heads/{branch} {commit}\n".encode())
    except GitFailed:
        if git(["rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"], common_dir, check=False):
            return False
        raise
    return True


def is_branch_name(common_dir: str, branch: str) -> bool:
    """Is this a valid branch name? `-` and `@{-1}` are not: they stand for another branch."""
    try:
        found = git(["check-ref-format", "--branch", branch], common_dir)
    except GitFailed:
        return False
    return found.decode("utf-8", "replace").strip() == branch


def empty_tree(common_dir: str) -> str:
    """The id of the empty tree, which git knows even if the repository does not have it."""
    return git(["hash-object", "-t", "tree", "--stdin"], common_dir).decode().strip()


def tree_of(common_dir: str, commit: str) -> str:
    words = ["rev-parse", "--verify", "--end-of-options", commit + "^{tree}"]
    return git(words, common_dir).decode().strip()


def diff(common_dir: str, old: str, new: str, options: Sequence[str]) -> str:
    """Git's diff between two commits or trees; bytes that are not UTF-8 become surrogates."""
    words = ["diff", "--no-ext-diff", "--no-textconv", *options, "--end-of-options", old, new, "--"]
    return git(words, common_dir, timeout_s=600).decode("utf-8", "surrogateescape")


def count_lines(common_dir: str, old: str, new: str) -> list[dict[str, Any]]:
    """Each changed file with its numbers of added and removed lines; -1 for binary files."""
    words = ["diff", "--numstat", "-z", "--no-renames", "--end-of-options", old, new, "--"]
    rows = git(words, common_dir, timeout_s=600).decode("utf-8", "surrogateescape").split("\0")
    found = []
    for row in rows[:-1]:
        added, removed, path = row.split("\t", 2)
        counts = [int(word) if word.isdecimal() else -1 for word in (added, removed)]
        found.append({"path": path, "added": counts[0], "removed": counts[1]})
    return found


def merge_base(common_dir: str, left: str, right: str) -> str:
    """The best merge base; "" for unrelated histories."""
    return git(["merge-base", "--end-of-options", left, right], common_dir, check=False).decode().strip()


def merged_branches(common_dir: str, prefix: str, main: str) -> list[tuple[str, str, bool]]:
    """(name, commit, is it merged into main?) of every branch whose name starts with the prefix."""
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
