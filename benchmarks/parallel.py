"""Twenty agents that really work at once: how much of their time is work, from the first start to main.

Working is sleeping, so that two cores can carry twenty agents; everything else is real: processes, worktrees,
commits, landing one after the other. 30% of the tasks change a file that another task changes, too. Beside it
the same tasks under locks alone: whoever changes a file holds it exclusively for as long as it works.
"""

from __future__ import annotations

import random
import shlex
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.harness import ROOT, Report, at_least, scratch
from lineclear.app import tasks
from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.core.log.tables import TASK
from lineclear.core.tasks.lists import TaskDraft
from lineclear.wiring.repo import open_repo
from lineclear.wiring.starting import init_repo
from tests.repository import TemporaryRepo, clean_environment

TITLE = "parallel: 20 agents at work, landing included"
AGENTS = 20
SHARING_PERCENT = 30
LINES = 40
SEED = 7
PERSON = Caller("anna", is_person=True)
# What a task does when it has "worked": its own file, and its own place in the shared one if it has one.
WORK = """
sleep "$2"
echo "$LINECLEAR_TASK" >"own-$LINECLEAR_TASK.txt"
if [ -n "$1" ]; then sed -i "$3s/.*/$LINECLEAR_TASK/" "$1"; fi
git add -A && git commit --quiet --message="$LINECLEAR_TASK"
"""


def run(quick: bool) -> Report:
    rounds, work_s = (1, 5) if quick else (3, 10)
    count = AGENTS * rounds
    told = _measure(count, work_s, is_locking=False)
    locked = _measure(count, work_s, is_locking=True)
    report = Report()
    report.add(
        "parallel efficiency: work / (agents x time)",
        told,
        beside=(locked, "with file locks alone"),
        target=at_least(0.8),
    )
    report.note(
        f"{count} tasks of {work_s} s for {AGENTS} agents, {SHARING_PERCENT}% of them share a file with one "
        "other; the time counts from the start of `lineclear run` to its end, when all is on main."
    )
    return report


def _measure(count: int, work_s: int, *, is_locking: bool) -> float:
    with scratch() as directory:
        home = Path(directory, "home")
        home.mkdir()
        repo = TemporaryRepo.create(Path(directory, "repo"), clean_environment(home))
        shared = _share(count)
        repo.commit("Share", dict.fromkeys(sorted({name for name, _ in shared.values()}), "line\n" * LINES))
        _add_tasks(repo, count)
        script = _script(Path(directory), shared, work_s, is_locking=is_locking)
        began = time.monotonic()
        _supervise(repo, script)
        took_s = time.monotonic() - began
        _check(repo, count, shared)
    return count * work_s / (AGENTS * took_s)


def _share(count: int) -> dict[int, tuple[str, int]]:
    """task -> (the file it shares, its line there); each such file has two tasks, which begin at one time."""
    dice, lines = random.Random(SEED), (5, LINES - 5)
    shared: dict[int, tuple[str, int]] = {}
    for first in range(1, count + 1, AGENTS):
        sharing = dice.sample(range(first, first + AGENTS), AGENTS * SHARING_PERCENT // 100)
        for place, task in enumerate(sharing):
            shared[task] = (f"shared-{first}-{place // 2}.txt", lines[place % 2])
    return shared


def _add_tasks(repo: TemporaryRepo, count: int) -> None:
    init_repo(str(repo.path), repo.environment)
    ours = open_repo(str(repo.path), repo.environment)
    for number in range(1, count + 1):
        tasks.add(ours.store, PERSON, TaskDraft("", f"Part {number}"), attempts_max=3)
    ours.close()


def _script(directory: Path, shared: dict[int, tuple[str, int]], work_s: int, *, is_locking: bool) -> Path:
    work = directory / "work.sh"
    work.write_text(WORK)
    ours = shlex.join([sys.executable, "-m", "lineclear"])
    # Under another name than the file's: whoever waits for a file itself keeps unlanded changes to it out.
    lock = f'{ours} with "api:$file" --wait 1h --' if is_locking else ""
    cases = "\n".join(f"T-{task}) file={name} line={line};;" for task, (name, line) in shared.items())
    script = directory / "agent.sh"
    script.write_text(
        f"""cat >/dev/null
file= line=1
case $LINECLEAR_TASK in
{cases}
esac
if [ -n "$file" ]; then {lock} sh {shlex.quote(str(work))} "$file" {work_s} $line
else sh {shlex.quote(str(work))} "" {work_s} 1; fi
"""
    )
    return script


def _supervise(repo: TemporaryRepo, script: Path) -> None:
    argv = [sys.executable, "-m", "lineclear", "run", "-n", str(AGENTS), "--", "sh", str(script)]
    environ = {**repo.environment, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(argv, cwd=repo.path, env=environ, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"lineclear run: exit code {done.returncode}\n{done.stdout}{done.stderr}")


def _check(repo: TemporaryRepo, count: int, shared: dict[int, tuple[str, int]]) -> None:
    """A fast answer that is wrong is worth nothing."""
    ours = open_repo(str(repo.path), repo.environment)
    states = {row.state for row in ours.store.read(lambda view: view.scan(TASK, "key"))}
    findings = audit(ours.store)["findings"]
    ours.close()
    texts = {name: repo.git("show", f"main:{name}") for name, _ in shared.values()}
    missed = [task for task, (name, _) in shared.items() if f"T-{task}" not in texts[name].split()]
    files = repo.git("ls-tree", "--name-only", "main").split()
    if states != {"merged"} or missed or findings or sum(name.startswith("own-") for name in files) != count:
        raise RuntimeError(f"not all is on main: {states}, {missed}, {findings}")
