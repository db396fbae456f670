"""A supervisor for this clone: who works, the one lock that keeps a second one away, and its status file."""

from __future__ import annotations

import json
import os
import signal
import time

from lineclear.app.runs import records
from lineclear.app.runs.board import board
from lineclear.app.runs.supervisor import Supervisor
from lineclear.app.runs.workers import CLOSED, Rules, Slot
from lineclear.clients.registry import CLIENTS, START, names_with
from lineclear.core.instants import show_wall
from lineclear.core.log.tables import RUN
from lineclear.core.runs.budgets import BudgetLimits, needs_price
from lineclear.core.runs.states import ENDED
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.words.runs import no_worker, supervisor_running
from lineclear.host.bonds import SUPERVISOR
from lineclear.host.files import write_atomically
from lineclear.host.threads import Jobs
from lineclear.settings import worker_named
from lineclear.wiring.running import THREADS_MAX, HostWorld, RepoClients, RepoTraces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from lineclear.app.ports import Caller
    from lineclear.app.runs.supervisor import News
    from lineclear.core.runs.money import Price
    from lineclear.settings import Settings, Worker
    from lineclear.wiring.repo import Repo

STATUS_FILE = "supervisor.json"
STATUS_EVERY_NS = 1_000_000_000


class Wish:
    """What somebody asked of a supervisor: how many agents, which client or command, which tasks."""

    __slots__ = ("client", "command", "count", "is_staying", "lands", "model", "stream", "tasks")

    def __init__(
        self,
        *,
        count: int = 0,
        client: str = "",
        command: Sequence[str] = (),
        model: str = "",
        stream: str = "",
        tasks: Sequence[int] = (),
        is_staying: bool = False,
        lands: bool | None = None,
    ) -> None:
        self.count, self.client, self.command, self.model = count, client, list(command), model
        self.stream, self.tasks, self.is_staying, self.lands = stream, list(tasks), is_staying, lands


# -- who works --------------------------------------------------------------------------------


def make_slots(repo: Repo, wish: Wish) -> list[Slot]:
    """One slot per agent, the kinds of workers in turn, so that fewer agents are still a mixed team."""
    settings = repo.settings
    workers = _workers(repo, wish)
    if len(workers) == 1:
        stated = wish.count or (settings.run_agents if workers[0].origin == "default" else workers[0].count)
        counts = [stated]
    else:
        counts = [worker.count for worker in workers]
    names = [
        (worker, number)
        for number in range(1, max(counts) + 1)
        for worker, count in zip(workers, counts, strict=True)
        if number <= count
    ]
    if wish.count:
        names = names[: wish.count]
    return [_slot(settings, worker, f"{worker.name}-{number}", wish) for worker, number in names]


def _workers(repo: Repo, wish: Wish) -> list[Worker]:
    settings = repo.settings
    if wish.command:
        worker = worker_named(settings, "worker")
        worker.client, worker.command = wish.stream or "plain", tuple(wish.command)
        return [worker]
    name = wish.client or settings.run_worker
    if name:
        worker = worker_named(settings, name)
        if worker.client not in names_with(START):
            raise refuse("run.client", client=name, known=sorted(names_with(START)))
        return [worker]
    if settings.workers:
        for worker in settings.workers:
            if worker.client not in names_with(START):
                raise refuse("run.client", client=worker.client, known=sorted(names_with(START)))
        return list(settings.workers)
    installed = installed_clients(repo.environ.get("PATH", ""))
    if len(installed) != 1:
        raise no_worker(installed)
    return [worker_named(settings, installed[0])]


def installed_clients(path: str) -> list[str]:
    from shutil import which

    return [name for name in sorted(names_with(START)) if which(CLIENTS[name].program, path=path)]


def _slot(settings: Settings, worker: Worker, agent: str, wish: Wish) -> Slot:
    model = wish.model or worker.model
    price = price_of(settings, worker, model)
    limits = BudgetLimits(
        run_time_ms=worker.run_time_ms,
        run_tokens=worker.run_tokens,
        run_money_micros=worker.run_money_micros,
        run_memory_bytes=worker.run_memory_bytes,
        task_tokens=settings.budgets_task_tokens,
        task_money_micros=settings.budgets_task_money_micros,
        day_tokens=settings.budgets_day_tokens,
        day_money_micros=settings.budgets_day_money_micros,
    )
    tells_cost = CLIENTS[worker.stream or worker.client].tells_cost
    refusal = needs_price(worker.name, model, limits, is_cost_known=tells_cost or price is not None)
    if refusal is not None:
        raise refusal
    return Slot(
        agent,
        worker.client,
        limits=limits,
        labels=frozenset((*worker.labels, worker.client, worker.name)),
        command=worker.command,
        model=model,
        permissions=worker.permissions,
        has_worktree=worker.worktree,
        env=worker.env,
        stream=worker.stream,
        sandbox=worker.sandbox,
        price=price,
        tells_cost=tells_cost,
    )


def price_of(settings: Settings, worker: Worker, model: str) -> Price | None:
    """By its model, else by its client."""
    prices = settings.prices
    return prices.get(model) or prices.get(worker.name) or prices.get(worker.client)


# -- one at a time ----------------------------------------------------------------------------


def supervise(
    repo: Repo,
    caller: Caller,
    wish: Wish,
    tell: Callable[[News], None],
    show: Callable[[list[dict[str, Any]]], None],
    beside: AbstractContextManager[object],
) -> Supervisor:
    """Run until nothing more can be done. `tell` gets each piece of news, `show` the board every second;
    `beside` is open while it runs."""
    slots = make_slots(repo, wish)
    _require_trust(repo, slots)
    _require_room(repo, slots)
    try:
        bond = repo.bonds.hold(SUPERVISOR)
    except Refusal as refusal:
        raise _already_running(repo) from refusal
    try:
        with beside, Jobs(min(THREADS_MAX, len(slots) + 4)) as jobs:
            rules = _rules(repo.settings, wish)
            world = HostWorld(repo, jobs, lands=rules.lands)
            status = _Status(repo, slots, show)
            supervisor = Supervisor(repo.store, caller, world, slots, rules, tell, status.look)
            try:
                supervisor.run()
            finally:
                status.remove()
                world.close()
    finally:
        bond.release()
    return supervisor


def _rules(settings: Settings, wish: Wish) -> Rules:
    return Rules(
        silence_ms=settings.run_silence_ms,
        grace_ms=settings.run_grace_ms,
        lease_ms=settings.tasks_lease_ms,
        save_every_ms=settings.snapshots_every_ms,
        log_bytes=settings.run_log_size_bytes,
        prompt_bytes=settings.run_prompt_size_bytes,
        disk_floor_bytes=settings.worktrees_disk_reserve_bytes // 4,
        heeds_loops=settings.run_loops,
        only=wish.tasks,
        is_staying=wish.is_staying,
        lands=settings.run_land if wish.lands is None else wish.lands,
    )


def _require_trust(repo: Repo, slots: list[Slot]) -> None:
    """Commands that came with the repository are started only once a person has looked at them."""
    from lineclear.wiring.trust import require_trust

    names = sorted({slot.agent.rpartition("-")[0] for slot in slots})
    require_trust(repo, ["worktrees", "checks", *(f"workers.{name}" for name in names)])


def _require_room(repo: Repo, slots: list[Slot]) -> None:
    """For as many worktrees as can be needed at once."""
    from lineclear.app.tasks import list_ready
    from lineclear.wiring.provisioning import require_room

    ready = len(repo.store.read(lambda view: list_ready(view, limit=len(slots))))
    count = min(ready, sum(slot.has_worktree for slot in slots))
    if count:
        require_room(repo, count)


def _already_running(repo: Repo) -> Refusal:
    found = read_status(repo)
    if found is None:
        return supervisor_running(0, "", 0)
    return supervisor_running(found["pid"], found["since"], len(found["agents"]))


def is_supervised(repo: Repo) -> bool:
    return repo.bonds.is_held(SUPERVISOR)


def read_status(repo: Repo) -> dict[str, Any] | None:
    """What the live supervisor last wrote of its agents; None when there is none."""
    if not is_supervised(repo):
        return None
    try:
        with open(os.path.join(repo.state_directory, STATUS_FILE), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


# -- from another process ---------------------------------------------------------------------


def ask_and_wait(repo: Repo, caller: Caller, agent: str, what: str, wait_s: float = 30) -> dict[str, Any]:
    """Ask for an agent to stop, pause or resume, and wait until its supervisor has done it.

    Without a supervisor an agent that works on is stopped here; the next `run` ends its run in the log.
    """
    answer = records.ask(repo.store, caller, agent, what)
    number = answer["run"]["id"]
    if not is_supervised(repo):
        return _ask_nobody(repo, agent, number, what)
    deadline = time.monotonic() + wait_s
    with repo.store.listen() as bell:
        while time.monotonic() < deadline:
            run = repo.store.read(lambda view: view.get(RUN, (number,)))
            if run is None or run.state == ENDED or not run.asked:
                words = f"{agent}: {run.how or run.state}" if run is not None else agent
                return {**answer, "is_done": True, "words": words}
            bell.wait(1)
    return {
        **answer,
        "is_done": False,
        "words": f"{agent} was asked to {what}; its supervisor has not answered.",
    }


def _ask_nobody(repo: Repo, agent: str, number: int, what: str) -> dict[str, Any]:
    run = repo.store.read(lambda view: view.get(RUN, (number,)))
    if run is None or not RepoTraces(repo, RepoClients(repo)).is_of_this_clone(run):
        raise refuse("run.none")
    group = RepoClients(repo).find_again(run)
    if what in (records.STOP, records.STOP_HARD):
        group.sweep(0 if what == records.STOP_HARD else repo.settings.run_grace_ms / 1000)
    else:
        group.send(signal.SIGSTOP if what == records.PAUSE else signal.SIGCONT)
    words = f"{agent} was asked to {what}. There is no supervisor; `lineclear run` takes over from here."
    return {"run": records.show_run(run), "asked": what, "is_done": True, "words": words}


class _Status:
    """Keeps the status file fresh: for `--join`, `status` and the page. A hint; the truth is the log."""

    def __init__(self, repo: Repo, slots: list[Slot], show: Callable[[list[dict[str, Any]]], None]) -> None:
        self._path = os.path.join(repo.state_directory, STATUS_FILE)
        self._slots, self._show, self._at_ns = slots, show, 0
        self._since = show_wall(repo.clock.now().wall_ns)

    def look(self, now_ns: int) -> None:
        if now_ns - self._at_ns < STATUS_EVERY_NS:
            return
        self._at_ns = now_ns
        lines = board([slot for slot in self._slots if slot.phase != CLOSED or slot.live is not None], now_ns)
        text = json.dumps({"pid": os.getpid(), "since": self._since, "agents": lines})
        try:
            write_atomically(self._path, text.encode(), is_durable=False, temporary=f"{self._path}.new")
        except OSError:
            pass  # a full disk stops agents, not the supervisor
        self._show(lines)

    def remove(self) -> None:
        try:
            os.unlink(self._path)
        except OSError:
            pass
