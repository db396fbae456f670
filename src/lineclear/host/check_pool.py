"""Runs the queue's checks in threads, each with its own store and check tree."""

from __future__ import annotations

import queue
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from lineclear.core.queue.checks import Check, verdict_key
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.queue.check_runner import CheckResult, ChecksOfMain


class ThreadedCheckPool:
    """The `CheckPool` of app/queue/ports.py. `places`: how many checks run at once; `checks_at(commit)`
    returns the checks that the commit's settings state."""

    def __init__(self, places: int, checks_at: Callable[[str], ChecksOfMain]) -> None:
        self._places, self._checks_at = places, checks_at
        self._main, self._provisioning = "", ""
        self._rules: list[tuple[str, str]] = []
        self._checks: ChecksOfMain | None = None
        self._cancels: dict[int, threading.Event] = {}
        self._answers: queue.SimpleQueue[tuple[int, list[CheckResult] | BaseException]] = queue.SimpleQueue()
        self._received: list[tuple[int, list[CheckResult] | BaseException]] = []

    def prepare(self, main: str) -> bool:
        if main == self._main:
            return False
        checks = self._checks_at(main)
        stated = checks.runner.stated
        # Before anything is built for these checks.
        checks.runner.require_trusted([check for check, _ in stated])
        before = (self._rules, self._provisioning)
        self._rules = [(check.command, place.text if place else "") for check, place in stated]
        self._checks, self._main, self._provisioning = checks, main, checks.runner.provisioning()
        return before != (self._rules, self._provisioning)

    def checks_for(self, files: Sequence[str]) -> list[Check]:
        return self._ready().runner.checks(files)

    def key(self, tree: str, check: Check) -> str:
        return verdict_key(tree, check.command, self._provisioning)

    def free(self) -> int:
        return self._places - len(self._cancels)

    def start(self, job: int, commit: str, tree: str, checks: Sequence[Check]) -> None:
        cancel = self._cancels[job] = threading.Event()
        run, provisioning = self._ready().run, self._provisioning

        def work() -> None:
            answer: list[CheckResult] | BaseException
            try:
                answer = [
                    replace(result, tree=tree, key=verdict_key(tree, result.command, provisioning))
                    for result in run(commit, list(checks), cancel)
                ]
            except BaseException as error:  # noqa: BLE001  `ended` raises it in the caller's thread
                answer = error
            self._answers.put((job, answer))

        threading.Thread(target=work, name=f"check-{job}", daemon=True).start()

    def cancel(self, job: int) -> None:
        if job in self._cancels:
            self._cancels[job].set()

    def ended(self) -> list[tuple[int, list[CheckResult]]]:
        """Raises the error of a check that could not run at all: that is not the candidate's fault."""
        found, self._received = self._received, []
        while True:
            try:
                found.append(self._answers.get_nowait())
            except queue.Empty:
                break
        answers: list[tuple[int, list[CheckResult]]] = []
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
            self._received.append(self._answers.get(timeout=timeout_s))
        except queue.Empty:
            pass

    def close(self) -> None:
        """Cancel every check, and wait until its processes are gone."""
        for job in list(self._cancels):
            self.cancel(job)
        while self._cancels:
            try:
                job, _ = self._received.pop() if self._received else self._answers.get(timeout=60)
            except queue.Empty:
                return
            self._cancels.pop(job, None)

    def _ready(self) -> ChecksOfMain:
        if self._checks is None:
            raise RuntimeError("no checks are known: call `prepare` first")
        return self._checks
