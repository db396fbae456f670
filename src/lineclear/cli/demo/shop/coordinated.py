"""The coordinated run: the commands that a person would type, each as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from lineclear.app.log import audit
from lineclear.cli.demo.shop.naive import LIMIT_S
from lineclear.cli.demo.shop.scripts import read_program, read_scripts
from lineclear.cli.demo.surroundings import run_group
from lineclear.core.log.tables import LOG, RUN
from lineclear.wiring.repo import open_repo
from lineclear.wiring.scratch import ScratchRepo

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lineclear.app.ports import View
    from lineclear.cli.demo.shop.judge import Show

AGENTS = 4


class CoordinatedRun:
    """Its repository and its log."""

    def __init__(self, directory: str, environ: Mapping[str, str], seed: int, *, is_shown: bool) -> None:
        """`is_shown`: the supervisor draws its board on our terminal."""
        self.repo = ScratchRepo(os.path.join(directory, "lineclear"))
        self._environ, self._seed, self._is_shown = environ, seed, is_shown

    def run(self, show: Show, *, is_quiet: bool) -> float:
        """How long it took, in seconds, from `init` to the end of `run`."""
        os.makedirs(self.repo.directory)
        ScratchRepo.make(self.repo.directory, read_program())
        started = time.monotonic()
        self._ask(show, "init")
        imported = self._ask(show, "task", "import", "TASKS.md")
        for task, other in self._twins(imported):
            show(f"  lineclear suggests that {task} and {other} are the same; a person confirms it:")
            self._ask(show, "task", "same", task, other)
        self._supervise(show, is_quiet=is_quiet)
        return time.monotonic() - started

    def _twins(self, imported: dict[str, Any]) -> list[tuple[str, str]]:
        """The suggested duplicates that really are duplicates, as a person would judge."""
        titles = {script.name: script.title for script in read_scripts()}
        same = {(s.title, titles[s.same_as]) for s in read_scripts() if s.same_as}
        added = {task["id"]: task["title"] for task in imported["tasks"]}
        named = [(twin["id"], twin["similar_to"]) for twin in imported["similar"]]
        return [(task, other) for task, other in named if (added[task], added.get(other)) in same]

    def _ask(self, show: Show, *words: str) -> dict[str, Any]:
        show(f"$ lineclear {' '.join(words)}")
        code, answer = self._lineclear([*words, "--json"], stdout=subprocess.PIPE)
        found: dict[str, Any] = json.loads(answer)
        if code != 0:
            raise RuntimeError(found.get("error", {}).get("message", f"exit code {code}"))
        data: dict[str, Any] = found["data"]
        return data

    def _supervise(self, show: Show, *, is_quiet: bool) -> None:
        """Start the supervisor; failures show in the figures, not in the exit code."""
        show(f"$ lineclear run -n {AGENTS} --stream lineclear -- python -m lineclear.cli.demo.shop.agent")
        agent = [sys.executable, "-m", "lineclear.cli.demo.shop.agent", str(self._seed), str(LIMIT_S)]
        self._lineclear(
            ["run", "-n", str(AGENTS), "--stream", "lineclear", "--", *agent],
            stdout=None if self._is_shown else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if is_quiet else None,
        )

    def _lineclear(
        self, words: list[str], *, stdout: int | None, stderr: int | None = None
    ) -> tuple[int, str]:
        argv = [sys.executable, "-m", "lineclear", *words]
        return run_group(argv, cwd=self.repo.directory, env=self._environ, stdout=stdout, stderr=stderr)

    def outputs(self) -> list[str]:
        """The files with what the agents wrote."""
        folder = os.path.join(self.repo.directory, ".git", "lineclear", "runs")
        return [os.path.join(folder, name, "output") for name in sorted(os.listdir(folder), key=int)]

    def read_log(self) -> dict[str, Any]:
        """Facts from the log: how the runs ended, how many branches were sent back, and the audit."""
        repo = open_repo(self.repo.directory, self._environ)
        try:
            report = audit(repo.store)
            counted = repo.store.read(_count)
        finally:
            repo.close()
        return {**counted, "events": report["events"], "audit_findings": len(report["findings"])}


def _count(view: View) -> dict[str, Any]:
    ends: dict[str, int] = {}
    for run in view.scan(RUN, "key"):
        ends[run.how] = ends.get(run.how, 0) + 1
    state: dict[str, str] = {}
    sent_back = 0
    for entry in view.scan(LOG, "key"):
        if entry.kind == "TaskReturned" and state.get(entry.subject) == "TaskHandedOver":
            sent_back += 1
        if entry.kind in ("TaskTaken", "TaskHandedOver", "TaskReturned"):
            state[entry.subject] = entry.kind
    return {"runs": ends, "sent_back": sent_back}
