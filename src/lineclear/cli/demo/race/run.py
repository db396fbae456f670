"""Run the race and judge it: one judge for both boards, by the workers' own diaries."""

from __future__ import annotations

import json
import subprocess
import sys
import time

from lineclear.cli.demo.race.coordinated import COUNTER
from lineclear.cli.demo.race.naive import NaiveFile, read_counter
from lineclear.core.tasks.lists import TaskDraft
from lineclear.wiring.repo import open_repo
from lineclear.wiring.scratch import ScratchRepo
from lineclear.wiring.starting import init_repo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

WORKERS, TASKS = 8, 64


def run_both(directory: str, environ: Mapping[str, str]) -> dict[str, Any]:
    return {"naive": run_naive(directory, environ), "lineclear": run_coordinated(directory, environ)}


def run_naive(directory: str, environ: Mapping[str, str]) -> dict[str, Any]:
    NaiveFile.create(directory, TASKS)
    diaries, wall_s = _race("naive", directory, environ)
    return judge(diaries, read_counter(directory), wall_s)


def run_coordinated(directory: str, environ: Mapping[str, str]) -> dict[str, Any]:
    from lineclear.app.log import audit
    from lineclear.app.task_lists import import_all
    from lineclear.app.values import get

    ScratchRepo.make(directory, {})
    init_repo(directory, environ)
    repo = open_repo(directory, environ)
    drafts = [TaskDraft(ref=str(n), title=f"Change number {n}") for n in range(1, TASKS + 1)]
    import_all(repo.store, repo.caller("starter"), drafts)
    diaries, wall_s = _race("lineclear", directory, environ)
    counter = repo.store.read(lambda view: get(view, COUNTER)["value"])
    verdict = judge(diaries, counter, wall_s)
    report = audit(repo.store)
    repo.close()
    return {**verdict, "events": report["events"], "audit_findings": len(report["findings"])}


def _race(kind: str, directory: str, environ: Mapping[str, str]) -> tuple[list[dict[str, Any]], float]:
    """Start all workers, fire the gun when all are ready, collect the diaries."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "lineclear.cli.demo.race.worker", kind, directory, f"agent-{n}", str(n)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(environ),
        )
        for n in range(1, WORKERS + 1)
    ]  # fmt: skip
    try:
        for worker in workers:
            if worker.stdout is None or worker.stdout.readline() != "ready\n":
                raise RuntimeError("a worker of the demonstration did not start")
        started = time.monotonic()
        for worker in workers:
            if worker.stdin is not None:
                worker.stdin.write("go\n")
                worker.stdin.flush()
        answers = [worker.communicate(timeout=120)[0] for worker in workers]
        return [
            json.loads(line) for text in answers for line in text.splitlines()
        ], time.monotonic() - started
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def judge(diaries: list[dict[str, Any]], counter: int, wall_s: float) -> dict[str, Any]:
    done = [entry["task"] for entry in diaries]
    return {
        "tasks": len(set(done)),
        "done_twice": len(done) - len(set(done)),
        "updates_made": len(done),
        "updates_lost": len(done) - counter,
        "two_holders": sum(
            _overlaps([e for e in diaries if e["path"] == path]) for path in {e["path"] for e in diaries}
        ),
        "wall_s": round(wall_s, 2),
    }


def _overlaps(entries: list[dict[str, Any]]) -> int:
    """How many times somebody held a file while an earlier holder still had it."""
    count, latest_end = 0, 0
    for entry in sorted(entries, key=lambda e: int(e["from"])):
        count += entry["from"] < latest_end
        latest_end = max(latest_end, entry["until"])
    return count
