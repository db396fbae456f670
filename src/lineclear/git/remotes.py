"""Reads and moves refs on a remote. A branch moves only by compare-and-set: nothing is ever forced."""

from __future__ import annotations

import time

from lineclear.core.words.computed.queue import cause_of
from lineclear.core.words.refusals import refuse
from lineclear.git.run import GitFailed, git
from lineclear.host.locks import LockFile

_NET_S = 300
_PAUSES_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_FETCH = ["fetch", "--quiet", "--no-tags", "--no-auto-maintenance", "--end-of-options"]
_PUSH = ["push", "--quiet", "--no-verify", "--end-of-options"]


def require_remote(cwd: str, remote: str) -> None:
    """Refuse a word that is not the name of a remote here: git would take it for a path or a URL."""
    if remote not in git(["remote"], cwd).decode("utf-8", "replace").split("\n"):
        raise refuse("queue.remote", remote=remote)


def fetch_branch(cwd: str, remote: str, branch: str, lock: str) -> str:
    """Fetch the branch into its tracking ref and return its commit; "" if the remote has no such branch.

    `lock`: the file that lets one process of the clone fetch at a time.
    """
    tracking = f"refs/remotes/{remote}/{branch}"
    try:
        _fetch(cwd, remote, f"+refs/heads/{branch}:{tracking}", lock)
    except GitFailed as error:
        if "couldn't find remote ref" in error.stderr.lower():
            return ""
        raise
    return git(["rev-parse", "--verify", "--quiet", tracking], cwd, check=False).decode().strip()


def _fetch(cwd: str, remote: str, refspec: str, lock: str) -> None:
    """Two fetches that move the same ref fail. Ours take turns; a person's own may still come in between, so
    try again."""
    turn = LockFile(lock)
    turn.take(_NET_S)
    try:
        for pause_s in (*_PAUSES_S, None):
            try:
                git([*_FETCH, remote, refspec], cwd, timeout_s=_NET_S)
                return
            except GitFailed as error:
                if pause_s is None or "cannot lock ref" not in error.stderr.lower():
                    raise
            time.sleep(pause_s)
    finally:
        turn.free()


def share_commit(cwd: str, remote: str, commit: str, ref: str) -> None:
    """Push a commit to a ref of ours, outside refs/heads, so that other machines can fetch it."""
    git([*_PUSH, remote, f"+{commit}:{ref}"], cwd, timeout_s=_NET_S)


def fetch_commit(cwd: str, remote: str, ref: str) -> None:
    git([*_FETCH, remote, f"+{ref}:{ref}"], cwd, check=False, timeout_s=_NET_S)


def withdraw(cwd: str, remote: str, ref: str) -> None:
    """Delete what `share_commit` pushed, if it is still there."""
    git([*_PUSH, remote, f":{ref}"], cwd, check=False, timeout_s=_NET_S)


def push_leased(cwd: str, remote: str, branch: str, old: str, new: str, lock: str) -> str:
    """Push `new` if the remote's branch is at `old`. Return "" on success, "stale" if the branch was
    elsewhere, else git's error."""
    ref = f"refs/heads/{branch}"
    words = ["push", "--porcelain", "--no-verify", f"--force-with-lease={ref}:{old}"]
    try:
        git([*words, "--end-of-options", remote, f"{new}:{ref}"], cwd, timeout_s=_NET_S)
    except GitFailed as error:
        now = fetch_branch(cwd, remote, branch, lock)
        if now == new:
            return ""
        return "stale" if now != old else cause_of(error.stderr)[:300]
    return ""
