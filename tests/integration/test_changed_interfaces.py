"""A signature changes while another agent writes a call of it: the queue lands the change first, and the author
of the call reads why it came back. Real git, real checks."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.app.radar.findings import record
from lineclear.core.log.tables import CANDIDATE
from lineclear.core.radar.findings import Finding
from lineclear.wiring.queue import landings_of
from lineclear.wiring.returned_work import returned_work_of
from lineclear.wiring.trust import trust_of
from tests.landings import Team, open_team
from tests.repository import TemporaryRepo

FINDING = Finding(
    kind="signature", agents=("ben", "ada"), files=("parse.py", "reader.py"), symbol="parse",
    old="def parse(text)", new="def parse(text, encoding)", interrupts=True,
    detail="does not pass `encoding`, which is required",
)  # fmt: skip
ADA = Caller("ada", tree="ada")
OLD, NEW = "def parse(text):\n    return text\n", "def parse(text, encoding):\n    return text\n"
CALL = "from parse import parse\n\nparse('a')\n"
CHECK = "import os\n\nif os.path.exists('reader.py'):\n    import reader\n"


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Team]:
    gate = f'[checks]\ngate = "{sys.executable} -B check.py"\n'
    repo.commit("Base", {"lineclear.toml": gate, "parse.py": OLD, "check.py": CHECK})
    with open_team(repo) as team:
        trust_of(team.repo).record(team.person, trust_of(team.repo).judged())
        yield team


def submit(team: Team, agent: str, title: str, files: dict[str, str]) -> int:
    team.work(agent, files)
    task = team.task(title, agent)
    landings_of(team.repo).submit(Caller(agent, tree=agent), branch=agent, task=task, agent=agent)
    return task


def test_the_change_lands_first_and_the_author_of_the_call_reads_why(team: Team) -> None:
    call = submit(team, "ada", "Read files", {"reader.py": CALL})
    change = submit(team, "ben", "Other encodings", {"parse.py": NEW})
    record(team.repo.store, team.person, [FINDING])

    landings_of(team.repo).run_once(team.person)

    assert (team.state(change), team.state(call)) == ("merged", "open")
    row = next(
        row for row in team.repo.store.read(lambda view: view.scan(CANDIDATE, "key")) if row.task == call
    )
    assert row.reason.startswith(
        f"it fails the check since `parse` is now `def parse(text, encoding)` (T-{change}), before "
        "`def parse(text)`: does not pass 'encoding', which is required, together with Q-2 (ben)"
    )
    tasks.take(team.repo.store, team.repo.liveness, ADA, number=call)
    letter = returned_work_of(team.repo).tell(team.row(call), str(team.tree_of("ada")))
    assert f"> {row.reason}\n" in letter
    assert "These files use the old form of what has changed:\n\n> reader.py\n" in letter
    team.work("ada", {"reader.py": CALL.replace("'a'", "'a', 'utf-8'")})
    landings_of(team.repo).submit(ADA, branch="ada", task=call, agent="ada")
    landings_of(team.repo).run_once(team.person)
    assert team.state(call) == "merged"
    assert team.findings() == []
