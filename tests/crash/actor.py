"""The program of the kill tests: carries out one command in a fork of its own, with a fault planned for it.

Run as `python tests/crash/actor.py`. A line in is a job; lines out are what the fork had acknowledged
before it ended, and then how it ended. Started by tests/crash/jobs.py.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from typing import Any

from lineclear.core.refusals import Refusal
from tests.crash import faults, proxy
from tests.engines import Place
from tests.verbs import Desk

Job = dict[str, Any]
_write = os.write  # before it is wrapped: what we say is not a step of the command


def tell(line: object) -> None:
    _write(1, (json.dumps(line) + "\n").encode())


def carry_out(job: Job) -> list[str]:
    """What the fork does: all steps of the job, each acknowledged. Gives the points it has passed."""
    for name, value in job["settings"].items():
        _set(name, value)
    place = Place(*job["place"])
    if place.engine == "postgres":
        url, _, repo = place.spec.partition("#")
        _do_steps(Place(f"{proxy.through(url, job['scratch'])}#{repo}", place.directory), None, job["steps"])
        return []
    points = faults.Points(job["at"], job["how"])
    vfs = faults.FaultyVFS(points)
    faults.wrap_os(points)
    _do_steps(place, points, job["steps"])
    del vfs  # not before: SQLite has only its address
    return points.names


def _do_steps(place: Place, points: faults.Points | None, steps: list[Any]) -> None:
    desk: Desk | None = None
    for verb, arguments, options in steps:
        if verb == "create":
            tell(_refused_or({"answer": None}, place.create))
        elif verb == "clear the disk" and points is not None:
            points.clear()
        elif verb == "write file":
            from lineclear.process.files import write_atomically

            write_atomically(arguments[0], arguments[1].encode())
            tell({"answer": None})
        else:
            desk = desk or Desk(place.open(), place.liveness())
            tell(desk.do(verb, *arguments, **options))
    if desk is not None:
        desk.store.close()


def _refused_or(answer: dict[str, Any], act: Any) -> dict[str, Any]:
    try:
        act()
    except Refusal as refusal:
        return {"refusal": refusal.code, "exit_code": refusal.exit_code, "facts": refusal.facts}
    return answer


def _set(name: str, value: Any) -> None:
    """`module.CONSTANT` of the program under test, for this fork."""
    module, _, constant = name.rpartition(".")
    __import__(module)
    setattr(sys.modules[module], constant, value)


def main() -> None:
    if len(sys.argv) > 1:
        __import__("lineclear.store.postgres.engine")  # once, here, not in every fork
    tell("ready")
    for line in iter(sys.stdin.readline, ""):
        job = json.loads(line)
        job["scratch"] = tempfile.mkdtemp(prefix="lc-", dir="/tmp")  # short: a socket's path may not be long
        if job["place"][0].startswith("sqlite"):
            ended = _wait_for(_fork(job))
        else:
            ended = _run_behind_proxy(job)
        shutil.rmtree(job["scratch"])
        tell({"ended": ended})


def _wait_for(fork: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])


def _run_behind_proxy(job: Job) -> int:
    trips = proxy.new_count()
    started, go = os.pipe()
    worker = _fork(job, wait_on=started)
    server = proxy.split_url(job["place"][0].partition("#")[0])[1]
    between = os.fork()
    if between == 0:
        door = proxy.Proxy(job["scratch"], server, worker, job["at"], job["how"], trips)
        _write(go, b"!")
        door.serve()
    ended = _wait_for(worker)
    os.kill(between, signal.SIGKILL)
    _wait_for(between)
    os.close(started)
    os.close(go)
    tell({"points": [f"trip {number}" for number in range(1, proxy.count_of(trips) + 1)]})
    return ended


def _fork(job: Job, wait_on: int | None = None) -> int:
    """Start the job in a process of its own, when a byte has come."""
    fork = os.fork()
    if fork:
        return fork
    try:
        if wait_on is not None:
            os.read(wait_on, 1)
        tell({"points": carry_out(job)})
    except BaseException as error:  # noqa: BLE001  # nothing may leave the fork but its end
        import traceback

        tell({"broken": f"{error!r} {traceback.format_exc()[-1500:]}"})
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
