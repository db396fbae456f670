"""What breaks, and when: each fault waits until the team is at work, then acts and repairs."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchmarks.team_faults.machines import Machine, show_processes
from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.core.log.tables import RUN, TASK
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.tasks.states import ENDED, TAKEN
from tests.postgres_server import Server

if TYPE_CHECKING:
    from lineclear.app.ports import Store, View

T = TypeVar("T")
PERSON = Caller("anna", is_person=True)
PATIENCE_S = 30.0
STAGES = ("hold-pre-receive", "hold-post-receive")
HOLD = """#!/bin/sh
while read -r old new ref; do
  [ "$ref" = refs/heads/main ] && [ -e STAGE ] && : >held && while [ -e STAGE ]; do sleep 0.05; done
done
exit 0
"""
SCRIPT = Path(__file__).with_name("agent.sh")


@dataclass(frozen=True, slots=True)
class Size:
    """`down_s` and `cut_s`: how long the store is down, and a machine cut off, each time."""

    tasks: int
    agents: int
    down_s: tuple[float, ...]
    cut_s: tuple[float, ...]
    kills: int
    quiet_s: float


FULL = Size(tasks=300, agents=6, down_s=(3, 60, 3), cut_s=(10, 20, 30), kills=3, quiet_s=150)
QUICK = Size(tasks=30, agents=3, down_s=(1, 4), cut_s=(6,), kills=1, quiet_s=60)


@dataclass(slots=True)
class Team:
    server: Server
    store: Store
    machines: list[Machine]
    place: Path
    size: Size
    chance: random.Random
    tell: Callable[[str], None]
    added: int = 0
    # What `run` and `serve` did without being asked to.
    ended: list[str] = field(default_factory=list)

    def start_all(self) -> None:
        for machine in self.machines:
            machine.start("serve")
            self.start_run(machine)

    def start_run(self, machine: Machine) -> None:
        hook = machine.clone.path / ".git" / "lineclear" / "hook"
        agent = ["sh", str(SCRIPT), str(self.place), str(hook), sys.executable, "-m", "lineclear"]
        machine.start("run", "-n", str(self.size.agents), "--stay", "--", *agent)

    def look_after(self) -> None:
        """Keep tasks coming while there are faults to come; restart what has ended by itself, and note it."""
        left = self.added - self.ended_tasks()
        for _ in range(2 * self.size.agents * len(self.machines) - left):
            self.add_task()
        for machine in self.machines:
            for what, process in machine.running.items():
                if process.poll() is not None:
                    last = " | ".join(machine.log_of(what).read_text(errors="replace").splitlines()[-3:])
                    self.ended.append(f"{what} of {machine.name}: exit code {process.returncode}: {last}")
                    self.tell(self.ended[-1])
                    self.start_run(machine) if what == "run" else machine.start(what)

    def add_task(self) -> None:
        self.added += 1
        tasks.add(self.store, PERSON, TaskDraft("", f"Part {self.added}"))

    def ended_tasks(self) -> int:
        return self.store.read(lambda view: sum(task.state in ENDED for task in view.scan(TASK, "key")))


class NotSeen(Exception):
    """The moment for which a fault waited did not come."""


Fault = tuple[str, Callable[[Team], None]]


def plan(size: Size, chance: random.Random) -> list[Fault]:
    faults: list[Fault] = []
    faults += [(f"store restarted, {mode}", restart(mode, 0.0)) for mode in ("fast", "immediate")]
    modes = ("fast", "immediate")
    faults += [(f"store down for {s:g} s", restart(modes[n % 2], s)) for n, s in enumerate(size.down_s)]
    faults += [(f"machine cut off for {s:g} s", cut(s)) for s in size.cut_s]
    for _ in range(size.kills):
        faults += [
            ("kill -9 serve", kill_serve),
            ("kill -9 run", kill_run),
            ("kill -9 run, a task taken and not started", kill_run_while_starting),
            ("kill -9 git push", kill_pusher(with_run=False)),
            ("kill -9 run and its git push", kill_pusher(with_run=True)),
        ]
    chance.shuffle(faults)
    return faults


def act_all(team: Team) -> list[tuple[str, str]]:
    """Each fault after its share of the tasks has landed; returns what was done, and how."""
    faults, done = plan(team.size, team.chance), []
    share = team.size.tasks / (len(faults) + 1)
    for number, (name, act) in enumerate(faults, 1):
        _wait_for_tasks(team, round(number * share))
        team.tell(f"{team.ended_tasks()} tasks ended; {name}")
        try:
            act(team)
            _until_up(team)
            done.append((name, "done"))
        except NotSeen:
            done.append((name, "not seen"))
            team.tell(f"{name}: the moment did not come")
    while team.added < team.size.tasks:
        team.add_task()
    return done


def _wait_for_tasks(team: Team, count: int) -> None:
    """Until so many have ended; not for ever, for the last fault may be why nothing ends."""
    deadline = time.monotonic() + 2 * PATIENCE_S
    while team.ended_tasks() < count and time.monotonic() < deadline:
        team.look_after()
        time.sleep(0.5)


def _until_up(team: Team) -> None:
    """Until all that a fault restarted works again: `run` and `serve` do not start without the store."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if all(machine.is_up(what) for machine in team.machines for what in machine.running):
            return
        team.look_after()
        time.sleep(0.1)


def wait_for_quiet(team: Team) -> float:
    """Until all tasks have ended, or for long nothing has changed; returns for how long nothing had."""
    before, since = -1, time.monotonic()
    while True:
        ended, now = team.ended_tasks(), time.monotonic()
        if ended != before:
            before, since = ended, now
        if ended == team.added or now - since > team.size.quiet_s:
            return now - since
        time.sleep(1)


# -- faults ---------------------------------------------------------------------------------------


def restart(mode: str, down_s: float) -> Callable[[Team], None]:
    def act(team: Team) -> None:
        team.server.stop(mode)
        time.sleep(down_s)
        team.server.start()

    return act


def cut(seconds: float) -> Callable[[Team], None]:
    def act(team: Team) -> None:
        machine = team.chance.choice(team.machines)
        machine.cut()
        until = time.monotonic() + seconds
        while time.monotonic() < until:  # the others go on meanwhile
            team.look_after()
            time.sleep(0.5)
        machine.repair()

    return act


def kill_serve(team: Team) -> None:
    machine = team.chance.choice(team.machines)
    machine.kill("serve")
    machine.start("serve")


def kill_run(team: Team) -> None:
    _kill_run(team, team.chance.choice(team.machines))


def _kill_run(team: Team, machine: Machine) -> None:
    machine.kill("run")
    time.sleep(team.chance.uniform(0, 2))  # its agents go on meanwhile
    team.start_run(machine)


def kill_run_while_starting(team: Team) -> None:
    def starting(view: View) -> list[str]:
        taken = view.scan(TASK, "ready", (TAKEN,))
        begun = {(run.task, run.attempt) for task in taken for run in view.scan(RUN, "task", (task.id,))}
        return [task.agent for task in taken if (task.id, task.attempt) not in begun]

    def look() -> Machine | None:
        agents = team.store.read(starting)
        return next((m for m in team.machines if set(agents) & workers_of(m)), None)

    _kill_run(team, _until_seen(team, look))


def workers_of(machine: Machine) -> set[str]:
    """The names of its agents, as its worktrees have them."""
    trees = machine.clone.path.parent / f"{machine.clone.path.name}.worktrees"
    return {path.name for path in trees.iterdir()} if trees.exists() else set()


def kill_pusher(*, with_run: bool) -> Callable[[Team], None]:
    def act(team: Team) -> None:
        def look() -> int | None:
            if not held.exists():
                return None
            shown = show_processes(team.place)
            return next((pid for pid, words in shown.items() if is_push_of_main(words)), None)

        remote = team.place / "remote.git"
        held, stop = remote / "held", remote / team.chance.choice(STAGES)
        stop.touch()
        try:
            pid = _until_seen(team, look)
            machine = next((m for m in team.machines if with_run and _is_below(pid, m.pid_of("run"))), None)
            os.kill(pid, signal.SIGKILL)
            if machine is not None:
                machine.kill("run")
        finally:
            stop.unlink()
            held.unlink(missing_ok=True)
        if machine is not None:
            team.start_run(machine)

    return act


def write_hooks(remote: Path) -> None:
    """Before main moves and after: the remote waits while a fault is about to kill who pushes."""
    for name in STAGES:
        hook = remote / "hooks" / name.removeprefix("hold-")
        hook.write_text(HOLD.replace("STAGE", name))
        hook.chmod(0o755)


def is_push_of_main(words: list[str]) -> bool:
    return "push" in words and any(word.endswith(":refs/heads/main") for word in words)


def _is_below(pid: int, ancestor: int) -> bool:
    while pid > 1 and pid != ancestor:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return pid == ancestor


def _until_seen(team: Team, look: Callable[[], T | None]) -> T:
    began = fed = time.monotonic()
    while time.monotonic() - began < PATIENCE_S:
        found = look()
        if found is not None:
            return found
        if time.monotonic() - fed > 1:
            team.look_after()
            fed = time.monotonic()
        time.sleep(0.005)
    raise NotSeen
