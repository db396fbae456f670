"""The program of the kill tests: carries out one command in a fork of its own, with a fault planned for it.

Run as `python tests/crash/actor.py`. A line in is a job; lines out are what the fork had acknowledged
before it ended, and then how it ended. Started by tests/crash/jobs.py.
"""

from __future__ import annotations

import json
import os
import shutil
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


def carry_out(job: Job) -> None:
    """What the fork does: all steps of the job, each acknowledged, and at the end the list of points."""
    place = Place(*job["place"])
    points, door = faults.Points(), None
    if place.engine == "sqlite":
        points = faults.Points(job["at"], job["how"])
        vfs = faults.FaultyVFS(points)  # noqa: F841  # lives as long as this variable
        faults.wrap_os(points)
    elif job["at"] >= 0:
        url, _, repo = place.spec.partition("#")
        door = proxy.Proxy(job["scratch"], proxy.split_url(url)[1], job["at"], job["how"])
        place = Place(proxy.through(url, job["scratch"]) + "#" + repo, place.directory)
    for name, value in job["settings"].items():
        _set(name, value)
    _do_steps(place, points, job["steps"])
    tell({"points": points.names if door is None else [f"trip {n + 1}" for n in range(door.trips)]})


def _do_steps(place: Place, points: faults.Points, steps: list[Any]) -> None:
    desk: Desk | None = None
    for verb, arguments, options in steps:
        if verb == "create":
            tell(_refused_or({"answer": None}, place.create))
        elif verb == "clear the disk":
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
        fork = os.fork()
        if fork == 0:
            _be_the_fork(job)
        _, status = os.waitpid(fork, 0)
        shutil.rmtree(job["scratch"])
        tell({"ended": os.waitstatus_to_exitcode(status)})


def _be_the_fork(job: Job) -> None:
    try:
        carry_out(job)
    except BaseException as error:  # noqa: BLE001  # nothing may leave the fork but its end
        import traceback

        tell({"broken": f"{error!r} {traceback.format_exc()[-1500:]}"})
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
