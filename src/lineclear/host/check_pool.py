"""The queue's checks: a thread for each place, each with a store and a check tree of its own."""

from __future__ import annotations

import queue
import threading

from lineclear.app.queue.check_runner import CheckRunner, Ended
from lineclear.core.queue.checks import Check, verdict_key
from lineclear.core.words.refusals import Refusal
from lineclear.git.check_trees import CheckTrees
from lineclear.git.committed_settings import require_trusted, stated_checks
from lineclear.wiring.repo import Repo, open_repo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.settings import Settings


class Judged:
    """One ended check of one tree, under the key that its verdict is kept by."""

    __slots__ = ("_ended", "key", "tree")

    def __init__(self, ended: Ended, tree: str, provisioning: str) -> None:
        self._ended, self.tree = ended, tree
        self.key = verdict_key(tree, ended.command, provisioning)

    @property
    def command(self) -> str:
        return self._ended.command

    @property
    def is_green(self) -> bool:
        return self._ended.is_green

    @property
    def is_flaky(self) -> bool:
        return self._ended.is_flaky

    @property
    def is_set_up(self) -> bool:
        return self._ended.is_set_up

    @property
    def took_ms(self) -> int:
        return self._ended.took_ms

    @property
    def words(self) -> str:
        return self._ended.words


class ThreadedCheckPool:
    """The `CheckPool` of app/queue/ports.py. `repo_at` gives the repository by the settings of a commit."""

    def __init__(self, repo: Repo, places: int, repo_at: Callable[[str], Repo]) -> None:
        self._repo, self._places, self._repo_at = repo, places, repo_at
        self._main, self._provisioning = "", ""
        self._rules: list[tuple[str, str]] = []
        self._runner: CheckRunner | None = None
        self._cancels: dict[int, threading.Event] = {}
        self._answers: queue.SimpleQueue[tuple[int, list[Judged] | BaseException]] = queue.SimpleQueue()
        self._heard: list[tuple[int, list[Judged] | BaseException]] = []

    def prepare(self, main: str) -> bool:
        if main == self._main:
            return False
        runner = CheckRunner(self._repo_at(main))
        stated = stated_checks(runner.repo.settings)
        # What is not trusted is said before anything is built upon it.
        require_trusted(runner.repo, [check for check, _ in stated])
        before = (self._rules, self._provisioning)
        self._rules = [(check.command, place.text if place else "") for check, place in stated]
        self._runner, self._main, self._provisioning = runner, main, runner.provisioning()
        return before != (self._rules, self._provisioning)

    def checks_for(self, files: Sequence[str]) -> list[Check]:
        return self._ready().checks(files)

    def key(self, tree: str, check: Check) -> str:
        return verdict_key(tree, check.command, self._provisioning)

    def free(self) -> int:
        return self._places - len(self._cancels)

    def start(self, job: int, commit: str, tree: str, checks: Sequence[Check]) -> None:
        cancel = self._cancels[job] = threading.Event()
        given = (job, commit, tree, list(checks), self._ready().repo.settings, self._provisioning, cancel)
        threading.Thread(target=self._work, args=given, name=f"check-{job}", daemon=True).start()

    def _work(
        self, job: int, commit: str, tree: str, checks: list[Check], settings: Settings, provisioning: str,
        cancel: threading.Event,
    ) -> None:  # fmt: skip
        answer: list[Judged] | BaseException
        try:
            answer = [
                Judged(ended, tree, provisioning) for ended in self._run(commit, checks, settings, cancel)
            ]
        except BaseException as error:  # noqa: BLE001  told to the thread that asked: nobody else hears it
            answer = error
        self._answers.put((job, answer))

    def _run(
        self, commit: str, checks: list[Check], settings: Settings, cancel: threading.Event
    ) -> list[Ended]:
        repo = open_repo(self._repo.layout.worktree, self._repo.environ)
        try:
            place = CheckTrees(repo, self._places).hold(cancel)
            if place is None:
                return []
            with place:
                at_main = Repo(repo.layout, settings, repo.store, repo.environ)
                return CheckRunner(at_main).run(commit, place, checks, cancel=cancel)
        finally:
            repo.close()

    def cancel(self, job: int) -> None:
        if job in self._cancels:
            self._cancels[job].set()

    def ended(self) -> list[tuple[int, list[Judged]]]:
        """A check that could not be run at all is the queue's trouble, not the candidate's: it is raised."""
        found, self._heard = self._heard, []
        while True:
            try:
                found.append(self._answers.get_nowait())
            except queue.Empty:
                break
        answers: list[tuple[int, list[Judged]]] = []
        for job, answer in found:
            was_cancelled = self._cancels.pop(job).is_set()
            if not isinstance(answer, BaseException):
                answers.append((job, answer))
            elif was_cancelled and isinstance(answer, Refusal):
                answers.append((job, []))
            else:
                raise answer
        return answers

    def wait(self, timeout_s: float) -> None:
        try:
            self._heard.append(self._answers.get(timeout=timeout_s))
        except queue.Empty:
            pass

    def close(self) -> None:
        """Every check is called off, and its processes are gone when this comes back."""
        for job in list(self._cancels):
            self.cancel(job)
        while self._cancels:
            try:
                job, _ = self._heard.pop() if self._heard else self._answers.get(timeout=60)
            except queue.Empty:
                return
            self._cancels.pop(job, None)

    def _ready(self) -> CheckRunner:
        if self._runner is None:
            raise RuntimeError("no checks are known: call `prepare` first")
        return self._runner
