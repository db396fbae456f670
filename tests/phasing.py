"""A clone in which migrations are bound to `integrate`: agents propose, a person begins, the queue lands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lineclear.app import messages, proposals, tasks
from lineclear.app.file_proposals import file_payload
from lineclear.app.ports import Caller
from lineclear.core.log.tables import CANDIDATE, PROPOSAL, TASK, Candidate, Proposal, Task
from lineclear.wiring.phases import phase_work_of
from lineclear.wiring.queue import landings_of, main_files_of
from lineclear.wiring.repo import open_repo
from lineclear.wiring.trust import trust_of
from tests.landings import Team
from tests.repository import TemporaryRepo

# All tests pass unless a migration drops a table. Says which part it was, and in which tree.
CHECK = """\
#!/bin/sh
echo "$LINECLEAR_SHARD/$LINECLEAR_SHARDS" >> "$LOG"
if grep -l DROP migrations/*.sql; then exit 1; fi
"""
RULES = """
[[strategy]]
match = "migrations/"
strategy = "isolated"
phase = "integrate"

[[strategy]]
match = "CHANGELOG.md"
strategy = "single-writer"
owner = "ada"
phase = "integrate"

[[strategy]]
match = "src/api.py"
strategy = "single-writer"
owner = "ada"
phase = "integrate"
"""
LOG = "# Changes\n\n## Unreleased\n\n- first\n\n## 1.0\n\n- old\n"


class Phased(Team):
    def __init__(self, git: TemporaryRepo, settings: str = "", files: dict[str, str] | None = None) -> None:
        git.environment["LOG"] = str(git.path.parent / "checks.log")
        git.commit(
            "Begin",
            {
                "lineclear.toml": settings + RULES,
                "check.sh": CHECK,
                "migrations/0001_users.sql": "CREATE TABLE users (id int);\n",
                "CHANGELOG.md": LOG,
                "src/api.py": "def get():\n    return 1\n",
                **(files or {}),
            },
        )
        super().__init__(git)
        trust_of(self.repo).record(self.person, trust_of(self.repo).judged())

    def propose(
        self,
        agent: str,
        path: str,
        text: str | None = None,
        *,
        patch: str = "",
        task: int = 0,
        note: str = "",
    ) -> int:
        caller, resource = Caller(agent), self.repo.resource(path, str(self.git.path))
        files, store = main_files_of(self.repo), self.repo.store
        payload = file_payload(store, files, caller, resource, text=text, patch=patch, task=task)
        rules = self.repo.settings.rules
        made = proposals.propose(self.repo.store, caller, rules, resource, payload, note=note)
        number: int = made["proposal"]["id"]
        return number

    def begin(self, phase: str) -> dict[str, Any]:
        return phase_work_of(self.repo).begin(self.person, phase)

    def run_queue(self) -> None:
        landings_of(self.repo).run_once(self.person)
        phase_work_of(self.repo).settle()

    def proposal(self, number: int) -> Proposal:
        found = self.repo.store.read(lambda view: view.get(PROPOSAL, (number,)))
        assert found is not None
        return found

    def candidates(self) -> list[Candidate]:
        return self.repo.store.read(lambda view: view.scan(CANDIDATE, "key"))

    def tasks(self) -> list[Task]:
        return self.repo.store.read(lambda view: view.scan(TASK, "key"))

    def inbox(self, agent: str) -> list[str]:
        found = self.repo.store.read(lambda view: messages.inbox(view, agent))
        return [message["text"] for message in found["messages"]]

    def migrations(self) -> list[str]:
        return (
            self.git.git("ls-tree", "--name-only", "main", "migrations/")
            .replace("migrations/", "")
            .split("\n")
        )

    def hand_over(self, number: int, branch: str, agent: str) -> None:
        tasks.finish(self.repo.store, Caller(agent, tree=agent), number, branch=branch)

    def reopen(self) -> None:
        """As another process finds it: with the settings as they are now."""
        self.repo.close()
        self.repo = open_repo(str(self.git.path), self.git.environment)


@contextmanager
def open_phased(
    git: TemporaryRepo, settings: str = "", files: dict[str, str] | None = None
) -> Iterator[Phased]:
    team = Phased(git, settings, files)
    try:
        yield team
    finally:
        team.close()
