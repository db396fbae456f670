"""The branch of a pull request: which remote it is pushed to, and the commits on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.queue.landing_results import one_line
from lineclear.core.words.refusals import refuse
from lineclear.git.landing import known_main, landing_ref
from lineclear.git.run import GitFailed, git

if TYPE_CHECKING:
    from lineclear.git.layout import Layout

_NET_S = 300
_MOST_SUBJECTS = 50


class PullRequestBranches:
    """The `PullRequestGit` of app/queue/pull_requests.py. `remote` is the queue's remote, "" without one."""

    def __init__(self, layout: Layout, remote: str) -> None:
        self._layout, self._cwd, self._remote = layout, layout.worktree, remote

    @property
    def main(self) -> str:
        return landing_ref(self._layout).removeprefix("refs/heads/")

    def remote(self) -> tuple[str, list[str]]:
        known = git(["remote"], self._cwd).decode().split()
        wanted = self._remote or ("origin" if "origin" in known or len(known) != 1 else known[0])
        if wanted not in known:
            raise refuse("pr.remote", remote=wanted)
        written = git(["config", "--get", f"remote.{wanted}.url"], self._cwd, check=False)
        read = git(["remote", "get-url", "--push", wanted], self._cwd)
        return wanted, [address.decode().strip() for address in (written, read)]

    def push(self, remote: str, branch: str) -> None:
        ref = f"refs/heads/{branch}"
        words = ["push", "--quiet", "--end-of-options", remote, f"{ref}:{ref}"]
        try:
            git(words, self._cwd, timeout_s=_NET_S)
        except GitFailed as error:
            lines = [line for line in error.stderr.split("\n") if line.startswith((" !", "fatal:", "error:"))]
            said = one_line((lines or [error.stderr])[0])
            raise refuse("pr.push", remote=remote, branch=branch, words=said) from error

    def subjects(self, branch: str) -> list[str]:
        words = ["log", "--reverse", "--no-merges", "--format=%s", f"--max-count={_MOST_SUBJECTS}"]
        spread = f"{known_main(self._layout, self._remote)}..refs/heads/{branch}"
        return git([*words, spread, "--"], self._cwd).decode("utf-8", "replace").split("\n")[:-1]
