"""A pull request instead of a landing, through the tool that its user has for it: `gh`, or `glab` for GitLab.

The branch is pushed as it is, never by force. Who merges it is decided there.
"""

from __future__ import annotations

import json
import shutil
from urllib.parse import urlsplit

from lineclear.app import tasks
from lineclear.core.log.tables import TASK
from lineclear.core.queue.landing import one_line
from lineclear.core.tasks.states import TAKEN, show_id
from lineclear.core.words.refusals import refuse
from lineclear.git.run import GitFailed, git, unbound
from lineclear.host.commands import capture
from lineclear.wiring.queue_facts import main_commit, main_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from lineclear.app.ports import Caller
    from lineclear.core.log.tables import Task
    from lineclear.wiring.repo import Repo

_NET_S = 300
_MOST_SUBJECTS = 50


class Forge:
    """One tool's words: how it is asked whether it may, what is open already, and for a new one."""

    __slots__ = ("_create", "_list", "tool", "url_field")

    def __init__(self, tool: str, url_field: str, listing: Sequence[str], create: Sequence[str]) -> None:
        self.tool, self.url_field, self._list, self._create = tool, url_field, listing, create

    def list_words(self, branch: str, main: str) -> list[str]:
        return [word.format(branch=branch, main=main) for word in self._list]

    def create_words(self, branch: str, main: str, title: str, body: str) -> list[str]:
        given = {"branch": branch, "main": main, "title": title, "body": body}
        return [word.format(**given) for word in self._create]


GITHUB = Forge(
    "gh",
    "url",
    ("pr", "list", "--head", "{branch}", "--base", "{main}", "--state", "open", "--json", "url"),
    ("pr", "create", "--head", "{branch}", "--base", "{main}", "--title", "{title}", "--body", "{body}"),
)
GITLAB = Forge(
    "glab",
    "web_url",
    ("mr", "list", "--source-branch", "{branch}", "--target-branch", "{main}", "--output", "json"),
    ("mr", "create", "--source-branch", "{branch}", "--target-branch", "{main}", "--title", "{title}",
     "--description", "{body}", "--yes"),
)  # fmt: skip


def open_pull_request(repo: Repo, caller: Caller, *, branch: str, task: int = 0) -> dict[str, Any]:
    """Push the branch, open a pull request for it or find the one that is open, and hand the task over."""
    remote, addresses = _remote(repo)
    forge = GITLAB if any("gitlab" in host_of(url) for url in addresses) else GITHUB
    if shutil.which(forge.tool, path=repo.environ.get("PATH")) is None:
        raise refuse("pr.tool", tool=forge.tool, remote=remote)
    code, output = _run(repo, forge.tool, ["auth", "status"])
    if code != 0:
        raise refuse("pr.login", tool=forge.tool, words=_last_line(output))
    _push(repo, remote, branch)
    row = repo.store.read(lambda view: view.get(TASK, (task,))) if task else None
    found = _open_already(repo, forge, branch)
    if not found:
        title, body = words_of(row, branch, caller, _subjects(repo, branch))
        code, output = _run(repo, forge.tool, forge.create_words(branch, main_name(repo), title, body))
        if code != 0:
            raise refuse("pr.failed", tool=forge.tool, words=_last_line(output))
    if row is not None and row.state == TAKEN:
        tasks.finish(repo.store, caller, task, branch=branch)
    new = "" if found else _url_in(output)
    return {"url": found or new, "is_new": not found, "remote": remote, "tool": forge.tool}


def host_of(url: str) -> str:
    """The host of a remote's address, in any of git's spellings; "" for a path."""
    if "://" in url:
        return urlsplit(url).hostname or ""
    before, colon, _ = url.partition(":")
    return before.rpartition("@")[2] if colon and "/" not in before else ""


def words_of(row: Task | None, branch: str, caller: Caller, subjects: Sequence[str]) -> tuple[str, str]:
    """(title, body): what the task says, what was committed, and the trailers of a landing."""
    title = f"{show_id(row.id)}: {one_line(row.title)}" if row is not None else ""
    parts = [row.body] if row is not None and row.body else []
    parts += ["\n".join(f"- {subject}" for subject in subjects)] if subjects else []
    trailers = [f"Task: {show_id(row.id)}"] if row is not None else []
    trailers += [f"Agent: {one_line(caller.name)}"] if not caller.is_person else []
    parts += ["\n".join(trailers)] if trailers else []
    return title or (subjects[0] if len(subjects) == 1 else branch), "\n\n".join(parts)


def _remote(repo: Repo) -> tuple[str, list[str]]:
    """(name, its address as it is written and as git reads it): the queue's remote, else `origin`, else the
    only one that there is."""
    cwd = repo.layout.worktree
    known = git(["remote"], cwd).decode().split()
    wanted = repo.settings.queue_remote or ("origin" if "origin" in known or len(known) != 1 else known[0])
    if wanted not in known:
        raise refuse("pr.remote", remote=wanted)
    written = git(["config", "--get", f"remote.{wanted}.url"], cwd, check=False)
    return wanted, [
        address.decode().strip() for address in (written, git(["remote", "get-url", "--push", wanted], cwd))
    ]


def _push(repo: Repo, remote: str, branch: str) -> None:
    ref = f"refs/heads/{branch}"
    try:
        git(["push", "--quiet", "--end-of-options", remote, f"{ref}:{ref}"], repo.layout.worktree,
            timeout_s=_NET_S)  # fmt: skip
    except GitFailed as error:
        lines = [line for line in error.stderr.split("\n") if line.startswith((" !", "fatal:", "error:"))]
        raise refuse(
            "pr.push", remote=remote, branch=branch, words=one_line((lines or [error.stderr])[0])
        ) from error


def _subjects(repo: Repo, branch: str) -> list[str]:
    """What was committed, oldest first."""
    words = ["log", "--reverse", "--no-merges", "--format=%s", f"--max-count={_MOST_SUBJECTS}"]
    spread = f"{main_commit(repo)}..refs/heads/{branch}"
    return git([*words, spread, "--"], repo.layout.worktree).decode("utf-8", "replace").split("\n")[:-1]


def _open_already(repo: Repo, forge: Forge, branch: str) -> str:
    code, output = _run(repo, forge.tool, forge.list_words(branch, main_name(repo)))
    if code != 0:
        raise refuse("pr.failed", tool=forge.tool, words=_last_line(output))
    try:
        rows = json.loads(output or "[]")
    except ValueError:
        return ""
    return next((str(row.get(forge.url_field, "")) for row in rows), "") if isinstance(rows, list) else ""


def _run(repo: Repo, tool: str, words: Sequence[str]) -> tuple[int, str]:
    """The exit code and the output, or the error output of a failure. Never asks anything."""
    env = {**unbound(repo.environ), "GH_PROMPT_DISABLED": "1", "NO_PROMPT": "1", "NO_COLOR": "1"}
    code, output, errors = capture([tool, *words], cwd=repo.layout.worktree, env=env, timeout_s=_NET_S)
    said = output if code == 0 else errors or output
    return code, said.decode("utf-8", "replace")


def _url_in(output: str) -> str:
    words = output.split()
    return next((word for word in reversed(words) if word.startswith(("https://", "http://"))), "")


def _last_line(output: str) -> str:
    return next((line.strip() for line in reversed(output.split("\n")) if line.strip()), "it said nothing")
