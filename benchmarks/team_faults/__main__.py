"""`python -m benchmarks.team_faults [--quick] [--seed N]`: three machines, 18 agents, and everything breaks.

The exit code is 1 if anything acknowledged was lost, landed twice or got stuck, or an attempt was counted
without a start: those are promises. `--quick` is what `make test` runs.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path
from typing import NoReturn

from benchmarks.harness import machine as machine_facts
from benchmarks.harness import scratch
from benchmarks.supervisor import processor_s
from benchmarks.team_faults import machines
from benchmarks.team_faults.faults import FULL, QUICK, Size, Team, act_all, wait_for_quiet, write_hooks
from benchmarks.team_faults.judge import SHOWN, Findings, Ledger, judge
from lineclear.host.patient_store import PatientStore
from lineclear.wiring.repo import open_repo
from tests.postgres_server import Server, running_server
from tests.repository import TemporaryRepo, clean_environment

MACHINES = 3
IDLE_S = 10.0
INSIDE = "TEAM_FAULTS_INSIDE"
NO_NAMESPACES = (
    "NOT IN NAMESPACES: they need root, iproute2 and util-linux. Each machine is a clone with a proxy to "
    "the store instead, and its line to the remote is never cut."
)


def main() -> int:
    args = _arguments()
    apart = INSIDE in os.environ
    if not apart and not args.proxies and machines.can_have_namespaces():
        os.environ[INSIDE] = "1"
        machines.enter_namespaces([sys.executable, "-m", "benchmarks.team_faults", *sys.argv[1:]])
    if apart:
        machines.prepare_hub()
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # started in the background it would be ignored
    print(f"{machine_facts()}; seed {args.seed}", flush=True)
    if not apart:
        print(NO_NAMESPACES, flush=True)
    size = QUICK if args.quick else FULL
    place = nullcontext(args.keep) if args.keep else scratch()
    with place as directory, running_server(address=machines.HUB if apart else "") as server:
        return _run(size, server, Path(directory).resolve(), args.seed, apart=apart)


def _end(*_: object) -> NoReturn:
    sys.exit(1)


def _run(size: Size, server: Server, place: Path, seed: int, *, apart: bool) -> int:
    home = place / "home"
    home.mkdir()
    origin = TemporaryRepo.create(place / "origin", clean_environment(home))
    origin.commit("Team", {"lineclear.toml": machines.SETTINGS, ".gitignore": "*.log\n"})
    database, began = server.create_database(), time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", flush=True)

    with ExitStack() as stack:
        found = stack.enter_context(
            machines.open_machines(server, database, origin, place, MACHINES, apart=apart)
        )
        first = found[0]
        # Our own line to the store is never cut.
        environ = {**first.environment, "LINECLEAR_STORE_URL": server.url(database)}
        repo = stack.enter_context(closing(open_repo(str(first.clone.path), environ)))
        store = PatientStore(repo.store, lambda: False)
        team = Team(server, store, found, place, size, random.Random(seed), tell)
        write_hooks(place / "remote.git")
        team.look_after()
        team.start_all()
        done = act_all(team)
        tell(f"{team.ended_tasks()} of {team.added} tasks ended; no more faults")
        waited_s = wait_for_quiet(team)
        took_s = time.monotonic() - began - waited_s
        idle = _idle(team, server.url(database))
        _stop(team)
        findings, ledger = judge(store, place, [machine.clone.path for machine in found])
        findings.add("run or serve ended by itself", team.ended)
    _print(size, done, findings, ledger, took_s, idle)
    return 1 if findings.count else 0


def _stop(team: Team) -> None:
    """Stop each process as a person does, with Ctrl-C. Report one that goes on; it ends with its machine."""
    for machine in team.machines:
        for what in machine.running:
            machine.send(what, signal.SIGINT)
    for machine in team.machines:
        for what, process in machine.running.items():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                team.ended.append(f"{what} of {machine.name} does not end after Ctrl-C")


def _idle(team: Team, url: str) -> tuple[float, float]:
    """(transactions a second, share of a core) of each machine when nothing is left to do."""
    import psycopg

    pids = [machine.pid_of(what) for machine in team.machines for what in machine.running]
    pids = [pid for pid in pids if pid]
    asked = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
    with psycopg.connect(url, autocommit=True) as db:
        counts, used = [], []
        for pause_s in (0.0, IDLE_S):
            time.sleep(pause_s)
            db.execute("SELECT pg_stat_clear_snapshot()")
            row = db.execute(asked).fetchone()
            counts.append(int(row[0]) if row else 0)
            used.append(sum(processor_s(pid) for pid in pids))
    per_machine_s = IDLE_S * len(team.machines)
    return (counts[1] - counts[0]) / per_machine_s, (used[1] - used[0]) / per_machine_s


def _print(
    size: Size, done: list[tuple[str, str]], findings: Findings, ledger: Ledger, took_s: float,
    idle: tuple[float, float],
) -> None:  # fmt: skip
    states = Counter(task.state for task in ledger.tasks)
    kinds = Counter(entry.kind for entry in ledger.entries)
    print(
        f"\n{MACHINES} machines, {MACHINES * size.agents} agents, {len(ledger.tasks)} tasks in {took_s:.0f} s"
    )
    print("tasks: " + ", ".join(f"{count} {state}" for state, count in sorted(states.items())))
    print(
        f"{kinds['RunStarted']} starts, {kinds['CandidateLanded']} landings, "
        f"{kinds['TaskPutBack']} put back, {kinds['TaskReturned']} returned, {len(ledger.entries)} events"
    )
    print(f"idle: {idle[0]:.1f} transactions a second and {idle[1]:.1%} of a core for each machine")
    print("\nFAULT" + " " * 45 + "TIMES")
    for (name, how), count in sorted(Counter(done).items()):
        print(f"{name:50}{count:5}{'' if how == 'done' else '  ' + how}")
    print("\nVIOLATION" + " " * 41 + "FOUND")
    for name, found in findings.by_name.items():
        print(f"{name:50}{len(found):5}")
        for text in found[:SHOWN]:
            print(f"    {text}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.team_faults", description="Break things around a team at work, and count."
    )
    parser.add_argument("--quick", action="store_true", help="30 tasks, 9 agents, short outages")
    parser.add_argument("--seed", type=int, default=1, help="of the order and the moments of the faults")
    parser.add_argument("--keep", metavar="DIR", help="an empty directory for clones and logs, which stay")
    parser.add_argument(
        "--proxies", action="store_true", help="clones and proxies even where namespaces work"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
