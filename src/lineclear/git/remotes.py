"""Reads and moves refs on a remote. A branch moves only by compare-and-set: nothing is ever forced."""

from __future__ import annotations

from lineclear.core.words.computed.queue import cause_of
from lineclear.git.run import GitFailed, git

_NET_S = 300
_FETCH = ["fetch", "--quiet", "--no-tags", "--no-auto-maintenance", "--end-of-options"]
_PUSH = ["push", "--quiet", "--no-verify", "--end-of-options"]


def fetch_branch(cwd: str, remote: str, branch: str) -> str:
    """Fetch the branch into its tracking ref and return its commit; "" if the remote has no such branch."""
    tracking = f"refs/remotes/{remote}/{branch}"
    try:
        git([*_FETCH, remote, f"+refs/heads/{branch}:{tracking}"], cwd, timeout_s=_NET_S)
    except GitFailed as error:
        if "couldn't find remote ref" in error.stderr.lower():
            return ""
        raise
    return git(["rev-parse", "--verify", "--quiet", tracking], cwd, check=False).decode().strip()


def share_commit(cwd: str, remote: str, commit: str, ref: str) -> None:
    """Push a commit to a ref of ours, outside refs/heads, so that other machines can fetch it."""
    git([*_PUSH, remote, f"+{commit}:{ref}"], cwd, timeout_s=_NET_S)


def fetch_commit(cwd: str, remote: str, ref: str) -> None:
    git([*_FETCH, remote, f"+{ref}:{ref}"], cwd, check=False, timeout_s=_NET_S)


def withdraw(cwd: str, remote: str, ref: str) -> None:
    """Delete what `share_commit` pushed, if it is still there."""
    git([*_PUSH, remote, f":{ref}"], cwd, check=False, timeout_s=_NET_S)


def push_leased(cwd: str, remote: str, branch: str, old: str, new: str) -> str:
    """Push `new` if the remote's branch is at `old`. Return "" on success, "stale" if the branch was
    elsewhere, else git's error."""
    ref = f"refs/heads/{branch}"
    words = ["push", "--porcelain", "--no-verify", f"--force-with-lease={ref}:{old}"]
    try:
        git([*words, "--end-of-options", remote, f"{new}:{ref}"], cwd, timeout_s=_NET_S)
    except GitFailed as error:
        now = fetch_branch(cwd, remote, branch)
        if now == new:
            return ""
        return "stale" if now != old else cause_of(error.stderr)[:300]
    return ""
