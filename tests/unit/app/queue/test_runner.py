"""The runner and a candidate that it cannot deal with: the others land all the same."""

from __future__ import annotations

from lineclear.app.queue import candidates as queue
from lineclear.app.queue.stacking import Level
from lineclear.core.log.tables import Candidate, Task
from tests.queueing import PAT, FakeQueueGit, Scene


class BreakingGit(FakeQueueGit):
    """Merging the branch "bad" raises an error that nobody expects, until it is mended."""

    is_mended = False
    tries = 0

    def level(self, below: str, row: Candidate, task: Task | None) -> Level:
        if row.branch == "bad" and not self.is_mended:
            self.tries += 1
            raise ValueError("a form feed in a string")
        return super().level(below, row, task)


def test_a_candidate_that_breaks_the_runner_twice_needs_a_person_and_the_others_land() -> None:
    scene = Scene(lambda _tree: False)
    scene.git = git = BreakingGit()
    for name in ("first", "bad", "last"):
        scene.submit(name)
    scene.run()
    assert scene.landed() == ["first", "last"]
    row = scene.row("bad")
    assert row.state == "needs you"
    assert "failed on it twice: ValueError: a form feed in a string" in row.reason
    assert [news.candidate for news in scene.news if news.kind == "needs you"] == [row.id]
    assert git.tries == 2
    git.is_mended = True
    queue.retry(scene.store, PAT, row.id)
    scene.run()
    assert scene.states()["bad"] == "landed"


def test_an_error_that_does_not_come_back_is_no_reason_to_stop() -> None:
    scene = Scene(lambda _tree: False)
    scene.git = git = BreakingGit()
    scene.submit("bad")
    runner = scene.runner()
    assert runner.step()
    assert scene.states()["bad"] == "waiting"
    git.is_mended = True
    runner.run_once()
    assert scene.states()["bad"] == "landed"
