"""A repository under coordination with agents in worktrees, for tests of what happens when work lands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lineclear.app import tasks
from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.app.queue.landings import branch_of_task
from lineclear.core.log.tables import TASK
from lineclear.core.queue.landing_results import Landed, NeedsYou, SentBack
from lineclear.core.tasks.lists import TaskDraft
from lineclear.wiring import queue
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.starting import init_repo
from tests.repository import TemporaryRepo


class Team:
    """One clone: `git` is the person's main tree; every agent has a worktree named after it."""

    def __init__(self, git: TemporaryRepo) -> None:
        self.git = git
        init_repo(str(git.path), git.environment)
        self.repo: Repo = open_repo(str(git.path), git.environment)
        self.person = Caller("anna", is_person=True)

    def close(self) -> None:
        self.repo.close()

    @property
    def main(self) -> str:
        return self.git.git("rev-parse", "refs/heads/main")

    def file(self, name: str) -> str:
        return (self.git.path / name).read_text()

    def write(self, name: str, text: str) -> None:
        (self.git.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.git.path / name).write_text(text)

    def tree_of(self, name: str) -> Path:
        return self.git.path.parent / f"{self.git.path.name}.worktrees" / name

    def work(self, agent: str, files: dict[str, str], message: str = "Work") -> str:
        """The agent's commit on its own branch; the worktree is made when it is not there yet."""
        place = self.tree_of(agent)
        if not place.exists():
            self.git.add_worktree(agent)
        self.git.commit(message, files, at=place)
        return agent

    def task(self, title: str, agent: str = "", attempts_max: int = 3, **more: Any) -> int:
        """A new task, taken by the agent when one is named."""
        store = self.repo.store
        draft = TaskDraft("", title, **more)
        added = tasks.add(store, self.person, draft, attempts_max=attempts_max)
        number = int(added["task"]["id"][2:])
        if agent:
            tasks.take(store, self.repo.liveness, Caller(agent, tree=agent), number=number)
        return number

    def state(self, number: int) -> str:
        state: str = self.row(number).state
        return state

    def row(self, number: int) -> Any:
        found = self.repo.store.read(lambda view: view.get(TASK, (number,)))
        assert found is not None
        return found

    def status(self) -> list[str]:
        """The person's uncommitted changes, as git sees them; empty when the tree is as main has it."""
        return self.git.git("status", "--porcelain", "--untracked-files=all").splitlines()

    def leftovers(self) -> list[str]:
        """Files of an unfinished landing anywhere in the git directory."""
        directory = self.git.path / ".git"
        names = [str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()]
        return [
            name
            for name in names
            if name.endswith((".lock", "lineclear.index", "index.old", "landing.json", ".mark"))
            and not (name.startswith("lineclear/") and name.endswith(".lock"))
        ]

    def findings(self) -> list[Any]:
        found: list[Any] = audit(self.repo.store)["findings"]
        return found


def land(
    repo: Repo, caller: Caller, *, task: int = 0, branch: str = "", agent: str = ""
) -> Landed | SentBack | NeedsYou:
    """Hand in and stay until it has come to an end, as `lineclear land` does where there is no check."""
    found = branch or repo.store.read(lambda view: branch_of_task(view, task))
    _, result = queue.landings_of(repo).land(caller, task=task, branch=found, agent=agent)
    assert result is not None, "it still waits"
    return result


@contextmanager
def open_team(git: TemporaryRepo) -> Iterator[Team]:
    team = Team(git)
    try:
        yield team
    finally:
        team.close()
