"""The program of the kill tests: carries out one command in a fork of its own, with a fault planned for it.

Run as `python tests/crash/actor.py ENGINE`. A line in is a job; lines out are what the fork had acknowledged
before it ended, and then how it ended. Started by tests/crash/jobs.py.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from lineclear.host.files import write_atomically
from lineclear.wiring.starting import init_repo
from tests.crash import faults, newer, proxy
from tests.engines import Place
from tests.verbs import Desk

if TYPE_CHECKING:
    from lineclear.app.ports import Store

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
    bench = Bench(place, points)
    for verb, arguments, options in steps:
        tell(bench.do(verb, *arguments, **options))
    bench.close()


class Bench(Desk):
    """The verbs of a desk, and those that need no store. It is opened by the first verb that does."""

    def __init__(self, place: Place, points: faults.Points | None) -> None:
        self._place, self._points = place, points
        self._opened: Store | None = None
        self.liveness = place.liveness()

    @property
    def store(self) -> Store:  # type: ignore[override]  # a desk has it from the start, this one late
        if self._opened is None:
            self._opened = self._place.open()
        return self._opened

    def open(self) -> str:
        return self.store.kind

    def create(self) -> bool:
        return self._place.create()

    def upgrade(self) -> bool:
        newer.know_it(self._place.engine)
        return self._place.create()

    def init(self, cwd: str) -> bool:
        return bool(init_repo(cwd, {})["created"])

    def write_file(self, path: str, text: str) -> None:
        write_atomically(path, text.encode())

    def clear_disk(self) -> None:
        assert self._points is not None
        self._points.clear()

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()


def _set(name: str, value: Any) -> None:
    """`module.CONSTANT` of the program under test, for this fork."""
    module, _, constant = name.rpartition(".")
    __import__(module)
    setattr(sys.modules[module], constant, value)


def main() -> None:
    if "postgres" in sys.argv:
        __import__("lineclear.store.postgres.engine")  # once, here, not in every fork
    gc.freeze()  # a collection in a fork would copy every page that it looks at
    tell("ready")
    for line in iter(sys.stdin.readline, ""):
        job = json.loads(line)
        is_alone = job["place"][0].startswith("sqlite")
        tell({"ended": _wait_for(_fork(job)) if is_alone else _run_behind_proxy(job)})


def _wait_for(fork: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])


def _run_behind_proxy(job: Job) -> int:
    job["scratch"] = tempfile.mkdtemp(prefix="lc-", dir="/tmp")  # short: a socket's path may not be long
    trips = proxy.new_count()
    started, go = os.pipe()
    worker = _fork(job, wait_on=started)
    server = proxy.socket_of(job["place"][0].partition("#")[0])
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
    shutil.rmtree(job["scratch"])
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
