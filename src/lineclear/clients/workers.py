"""Chooses the agents that a supervisor runs, from the workers in the settings and the installed clients."""

from __future__ import annotations

from shutil import which
from typing import TYPE_CHECKING

from lineclear.app.runs.workers import WorkerSlot
from lineclear.clients.registry import CLIENTS, START, names_with
from lineclear.core.runs.budgets import BudgetLimits, needs_price
from lineclear.core.words.computed.runs import no_worker
from lineclear.core.words.refusals import refuse
from lineclear.settings.workers import worker_named

if TYPE_CHECKING:
    from lineclear.app.runs.workers import RunRequest
    from lineclear.core.runs.money import Price
    from lineclear.settings import Settings
    from lineclear.settings.workers import Worker


def make_slots(settings: Settings, path: str, request: RunRequest) -> list[WorkerSlot]:
    """One slot per agent, alternating between the workers, so that even a few agents are a mixed team.

    `path` is the PATH to search for an installed client if none is named.
    """
    workers = _workers(settings, path, request)
    if len(workers) == 1:
        stated = request.count or (
            settings.run_agents if workers[0].origin == "default" else workers[0].count
        )
        counts = [stated]
    else:
        counts = [worker.count for worker in workers]
    names = [
        (worker, number)
        for number in range(1, max(counts) + 1)
        for worker, count in zip(workers, counts, strict=True)
        if number <= count
    ]
    if request.count:
        names = names[: request.count]
    return [_slot(settings, worker, f"{worker.name}-{number}", request) for worker, number in names]


def _workers(settings: Settings, path: str, request: RunRequest) -> list[Worker]:
    if request.command:
        worker = worker_named(settings, "worker")
        worker.client, worker.command = request.stream or "plain", tuple(request.command)
        return [worker]
    name = request.client or settings.run_worker
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
    installed = installed_clients(path)
    if len(installed) != 1:
        raise no_worker(installed)
    return [worker_named(settings, installed[0])]


def installed_clients(path: str) -> list[str]:
    return [name for name in sorted(names_with(START)) if which(CLIENTS[name].program, path=path)]


def _slot(settings: Settings, worker: Worker, agent: str, request: RunRequest) -> WorkerSlot:
    model = request.model or worker.model
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
    return WorkerSlot(
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
    """The price for the model, else for the worker, else for its client."""
    prices = settings.prices
    return prices.get(model) or prices.get(worker.name) or prices.get(worker.client)
