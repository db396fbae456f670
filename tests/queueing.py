"""A queue without git and processes: commits are words, trees are sets, a check is a function of a tree."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lineclear.app.ports import Caller
from lineclear.app.queue import candidates as queue
from lineclear.app.queue.runner import QueueNews, QueueRules, Runner
from lineclear.app.queue.stacking import Level
from lineclear.core.log.tables import CANDIDATE, Candidate, Task
from lineclear.core.queue.candidates import LANDED
from lineclear.core.queue.checks import Check, verdict_key
from lineclear.core.queue.commit_gate import GateFinding
from tests.world import World

PAT = Caller("pat", is_person=True)

Fails = Callable[[frozenset[str]], bool]


class Killed(BaseException):
    """The runner's process is gone, at this very instant."""


class FakeMoved:
    def __init__(self, how: str, why: str = "", files: Sequence[str] = ()) -> None:
        self.how, self.why, self.files = how, why, list(files)


class FakeQueueGit:
    """A commit is the branches it holds, in order, joined by `+`; main begins as "main"."""

    branch = "main"

    def __init__(self, conflicts: Iterable[tuple[str, str]] = ()) -> None:
        self.at = "main"
        self.history = ["main"]
        self.conflicts = {frozenset(pair) for pair in conflicts}
        self.forbids: set[str] = set()
        self.in_the_way: list[str] = []
        self.on_move: Callable[[str], None] = lambda _when: None

    def main(self) -> str:
        return self.at

    def level(self, below: str, row: Candidate, task: Task | None) -> Level:
        del task
        names = below.split("+")
        if row.branch in names:
            return Level(below, below, "nothing")
        foes = [name for name in names if frozenset((name, row.branch)) in self.conflicts]
        clash = [{"path": f"{foes[0]}.py", "kind": "edit"}] if foes else []
        commit = f"{below}+{row.branch}"
        return Level(commit, commit, "merge", files=[f"{row.branch}.py"], conflicts=clash)

    def forbidden(self, row: Candidate, main: str) -> list[GateFinding]:
        del row, main
        return []

    def touched(self, row: Candidate) -> list[str]:
        return [f"{row.branch}.py"]

    def chain(self, row: Candidate, top: str) -> list[str]:
        names = top.split("+")
        began = len(row.base.split("+"))
        return ["+".join(names[:count]) for count in range(began, len(names) + 1)]

    def tree_of(self, commit: str) -> str:
        return commit

    def is_on_main(self, commit: str) -> bool:
        return commit in self.history

    def move(self, old: str, new: str, why: str) -> FakeMoved:
        del why
        self.on_move("before")
        if self.at != old:
            return FakeMoved("stale")
        added = {f"{name}.py" for name in new.removeprefix(old).split("+")}
        blocked = sorted(added & set(self.in_the_way))
        if blocked:
            return FakeMoved("blocked", "uncommitted changes overlap", blocked)
        self.at = new
        self.history += ["+".join(new.split("+")[: count + 1]) for count in range(new.count("+") + 1)]
        self.on_move("after")
        return FakeMoved("moved")


class FakeEnded:
    def __init__(self, tree: str, check: Check, *, is_green: bool, is_flaky: bool = False) -> None:
        self.key, self.tree, self.command = verdict_key(tree, check.command, ""), tree, check.command
        self.is_green, self.is_flaky, self.took_ms = is_green, is_flaky, 10
        self.is_set_up = False
        self.words = "" if is_green else f"{check.command} ended with 1"


class FakeCheckPool:
    """`places` checks at once; each `wait` ends one of them, chosen by `chance`."""

    def __init__(self, fails: Fails, places: int = 1, chance: random.Random | None = None) -> None:
        self._fails, self._places = fails, places
        self._chance = chance or random.Random(1)
        self._running: dict[int, tuple[str, list[Check]]] = {}
        self._done: list[tuple[int, list[Any]]] = []
        self.checks = [Check("make test", timeout_ms=1_000)]
        self.checked: list[str] = []
        self.passed: set[str] = set()
        self.set_up_fails = False
        # How many of a hundred checks fail first and then, tried again, do not.
        self.flaky_percent, self.flakes = 0, 0
        self.on_wait: Callable[[], None] = lambda: None
        self.on_prepare: Callable[[str], bool] = lambda _main: False

    def prepare(self, main: str) -> bool:
        return self.on_prepare(main)

    def checks_for(self, files: Sequence[str]) -> list[Check]:
        del files
        return self.checks

    def key(self, tree: str, check: Check) -> str:
        return verdict_key(tree, check.command, "")

    def free(self) -> int:
        return self._places - len(self._running)

    def start(self, job: int, commit: str, tree: str, checks: Sequence[Check]) -> None:
        assert self.free() > 0
        assert commit == tree
        self._running[job] = (tree, list(checks))
        self.checked.append(tree)

    def cancel(self, job: int) -> None:
        self._running.pop(job, None)

    def ended(self) -> list[tuple[int, list[Any]]]:
        found, self._done = self._done, []
        return found

    def wait(self, timeout_s: float) -> None:
        del timeout_s
        self.on_wait()
        if not self._running:
            return
        self._end(self._chance.choice(sorted(self._running)))

    def end(self, tree: str) -> None:
        """The check of this tree ends first."""
        self._end(next(job for job, (running, _) in self._running.items() if running == tree))

    def _end(self, job: int) -> None:
        tree, checks = self._running.pop(job)
        is_green = not self.set_up_fails and not self._fails(frozenset(tree.split("+")))
        if is_green:
            self.passed.add(tree)
        is_flaky = is_green and self._chance.randrange(100) < self.flaky_percent
        self.flakes += is_flaky * len(checks)
        ended = [FakeEnded(tree, check, is_green=is_green, is_flaky=is_flaky) for check in checks]
        ended[-1].is_set_up = self.set_up_fails
        self._done.append((job, ended))


class Scene:
    """A world with a queue: branches are submitted, the runner runs, the end is looked at."""

    def __init__(
        self, fails: Fails, *, places: int = 1, batch: int = 16, review: str = "none",
        conflicts: Iterable[tuple[str, str]] = (), chance: random.Random | None = None,
    ) -> None:  # fmt: skip
        self.world = World()
        self.store = self.world.store
        self.git = FakeQueueGit(conflicts)
        self.checks = FakeCheckPool(fails, places, chance)
        self.rules = QueueRules(batch=batch, workers=places, review=review)
        self.news: list[QueueNews] = []
        self.runs = 0

    def submit(self, branch: str, *, after: Sequence[int] = (), task: int = 0, priority: int = 0) -> int:
        found = queue.SubmittedBranch(branch, f"{branch}@1", self.git.at)
        shown = queue.submit(self.store, PAT, found, after=after, task=task, priority=priority)
        return int(shown["candidate"][2:])

    def runner(self) -> Runner:
        return Runner(self.store, PAT, self.git, self.checks, lambda _: self.rules, self.news.append)

    def run(self) -> Runner:
        runner = self.runner()
        runner.run_once()
        self.runs += runner.runs
        return runner

    def rows(self) -> list[Candidate]:
        return self.store.read(lambda view: list(view.scan(CANDIDATE, "key")))

    def states(self) -> dict[str, str]:
        return {row.branch: row.state for row in self.rows()}

    def row(self, branch: str) -> Candidate:
        return next(row for row in reversed(self.rows()) if row.branch == branch)

    def landed(self) -> list[str]:
        rows = [row for row in self.rows() if row.state == LANDED]
        return [row.branch for row in sorted(rows, key=lambda row: row.commit.count("+"))]
