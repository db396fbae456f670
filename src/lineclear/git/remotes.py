"""A branch on a remote: what it is there now, and moving it by compare-and-set. Nothing is ever forced."""

from __future__ import annotations

from lineclear.git.run import GitFailed, git

_NET_S = 300


def fetch_branch(cwd: str, remote: str, branch: str) -> str:
    """The commit that the branch is on the remote; "" when it is not there. Fetched, kept as tracking ref."""
    tracking = f"refs/remotes/{remote}/{branch}"
    try:
        words = ["fetch", "--quiet", "--no-tags", "--no-auto-maintenance", "--end-of-options", remote]
        git([*words, f"+refs/heads/{branch}:{tracking}"], cwd, timeout_s=_NET_S)
    except GitFailed as error:
        if "couldn't find remote ref" in error.stderr.lower():
            return ""
        raise
    return git(["rev-parse", "--verify", "--quiet", tracking], cwd, check=False).decode().strip()


def share_commit(cwd: str, remote: str, commit: str, ref: str) -> None:
    """Put a commit on the remote under a ref that is nobody's branch, for other machines to fetch."""
    git(
        ["push", "--quiet", "--no-verify", "--end-of-options", remote, f"+{commit}:{ref}"],
        cwd,
        timeout_s=_NET_S,
    )


def fetch_commit(cwd: str, remote: str, ref: str) -> None:
    words = ["fetch", "--quiet", "--no-tags", "--no-auto-maintenance", "--end-of-options", remote]
    git([*words, f"+{ref}:{ref}"], cwd, check=False, timeout_s=_NET_S)


def withdraw(cwd: str, remote: str, ref: str) -> None:
    git(
        ["push", "--quiet", "--no-verify", "--end-of-options", remote, f":{ref}"],
        cwd,
        check=False,
        timeout_s=_NET_S,
    )


def push_leased(cwd: str, remote: str, branch: str, old: str, new: str) -> str:
    """ "" when the remote's branch went from `old` to `new`, "stale" if it was not `old`, or git's words."""
    ref = f"refs/heads/{branch}"
    words = ["push", "--porcelain", "--no-verify", f"--force-with-lease={ref}:{old}"]
    try:
        git([*words, "--end-of-options", remote, f"{new}:{ref}"], cwd, timeout_s=_NET_S)
    except GitFailed as error:
        now = fetch_branch(cwd, remote, branch)
        if now == new:
            return ""
        return "stale" if now != old else error.stderr.strip().split("\n")[-1][:300]
    return ""
