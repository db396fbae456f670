"""Open a pull request instead of landing, with the user's own tool: `gh`, or `glab` for GitLab.

The branch is pushed as it is, never by force. The hosting site decides who may merge it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from lineclear.app import tasks
from lineclear.core.log.tables import TASK
from lineclear.core.queue.landing_results import one_line
from lineclear.core.tasks.states import TAKEN, show_id
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from lineclear.app.ports import Caller, Store
    from lineclear.core.log.tables import Task


class Forge:
    """The arguments with which one tool lists and creates pull requests."""

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


class PullRequestGit(Protocol):
    """The clone that a branch is pushed from."""

    @property
    def main(self) -> str:
        """The name of the branch that work lands on."""

    def remote(self) -> tuple[str, list[str]]:
        """(name, its address as written and as git resolves it) of the queue's remote, else of `origin`, else
        of the only remote. Refuses if there is none of these."""

    def push(self, remote: str, branch: str, /) -> None:
        """Push without force. Refuses if the remote rejects it."""

    def subjects(self, branch: str, /) -> list[str]:
        """The subjects of the commits that main does not contain, oldest first."""


class ForgeTool(Protocol):
    """Runs `gh` and `glab` without prompts."""

    def is_there(self, tool: str, /) -> bool: ...

    def run(self, tool: str, words: Sequence[str], /) -> tuple[int, str]:
        """(exit code, output; on failure the error output)."""


class PullRequests:
    def __init__(self, store: Store, git: PullRequestGit, tool: ForgeTool) -> None:
        self._store, self._git, self._tool = store, git, tool

    def open(self, caller: Caller, *, branch: str, task: int = 0) -> dict[str, Any]:
        """Push the branch, find its open pull request or open one, and hand the task over."""
        remote, addresses = self._git.remote()
        forge = GITLAB if any("gitlab" in host_of(url) for url in addresses) else GITHUB
        if not self._tool.is_there(forge.tool):
            raise refuse("pr.tool", tool=forge.tool, remote=remote)
        code, output = self._tool.run(forge.tool, ["auth", "status"])
        if code != 0:
            raise refuse("pr.login", tool=forge.tool, words=_last_line(output))
        self._git.push(remote, branch)
        row = self._store.read(lambda view: view.get(TASK, (task,))) if task else None
        url = self._open_already(forge, branch)
        is_new = not url
        if is_new:
            title, body = words_of(row, branch, caller, self._git.subjects(branch))
            url = _url_in(self._ask(forge, forge.create_words(branch, self._git.main, title, body)))
        if row is not None and row.state == TAKEN:
            tasks.finish(self._store, caller, task, branch=branch)
        return {"url": url, "is_new": is_new, "remote": remote, "tool": forge.tool}

    def _open_already(self, forge: Forge, branch: str) -> str:
        output = self._ask(forge, forge.list_words(branch, self._git.main))
        try:
            rows = json.loads(output or "[]")
        except ValueError:
            return ""
        return next((str(row.get(forge.url_field, "")) for row in rows), "") if isinstance(rows, list) else ""

    def _ask(self, forge: Forge, words: Sequence[str]) -> str:
        code, output = self._tool.run(forge.tool, words)
        if code != 0:
            raise refuse("pr.failed", tool=forge.tool, words=_last_line(output))
        return output


def host_of(url: str) -> str:
    """The host in a remote's address, in any form that git accepts; "" for a path."""
    if "://" in url:
        return urlsplit(url).hostname or ""
    before, colon, _ = url.partition(":")
    return before.rpartition("@")[2] if colon and "/" not in before else ""


def words_of(row: Task | None, branch: str, caller: Caller, subjects: Sequence[str]) -> tuple[str, str]:
    """(title, body): the task's title and text, the commits' subjects, and the trailers of a landing."""
    title = f"{show_id(row.id)}: {one_line(row.title)}" if row is not None else ""
    parts = [row.body] if row is not None and row.body else []
    parts += ["\n".join(f"- {subject}" for subject in subjects)] if subjects else []
    trailers = [f"Task: {show_id(row.id)}"] if row is not None else []
    trailers += [f"Agent: {one_line(caller.name)}"] if not caller.is_person else []
    parts += ["\n".join(trailers)] if trailers else []
    return title or (subjects[0] if len(subjects) == 1 else branch), "\n\n".join(parts)


def _url_in(output: str) -> str:
    words = output.split()
    return next((word for word in reversed(words) if word.startswith(("https://", "http://"))), "")


def _last_line(output: str) -> str:
    return next((line.strip() for line in reversed(output.split("\n")) if line.strip()), "it said nothing")
