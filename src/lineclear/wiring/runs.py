"""Builds the supervisor and what it works with: store, worktrees, queue and clients of one repository."""

from __future__ import annotations

import os
from contextlib import contextmanager
from copy import copy
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from lineclear.app.runs import attaching
from lineclear.app.runs.landing import RunLanding
from lineclear.app.runs.outputs import Deliveries, WorkChecks
from lineclear.app.runs.ports import RunPorts
from lineclear.app.runs.run_worktrees import RunPlaces, RunSnapshots
from lineclear.app.runs.supervision import Supervision
from lineclear.app.runs.workers import RunPlace, RunSnapshot, SupervisorRules
from lineclear.clients.processes import ClientProcesses
from lineclear.clients.registry import STREAM, names_with, stream_of
from lineclear.clients.workers import make_slots
from lineclear.core.runs.states import RUN_BOND
from lineclear.git.branch_moves import checkouts_of
from lineclear.git.layout import linked_git_dir
from lineclear.host.bonds import SUPERVISOR
from lineclear.host.commands import run_to_end
from lineclear.host.patient_store import PatientStore, wait_out
from lineclear.host.supervision import THREADS_MAX, LocalHost, RunTraces, StatusFile, is_worktree
from lineclear.host.threads import Jobs
from lineclear.host.tokens import new_secret
from lineclear.settings.stated_checks import stated_checks
from lineclear.wiring.checks import repo_by, settings_in_force
from lineclear.wiring.queue import landings_of
from lineclear.wiring.radar import radar_beside
from lineclear.wiring.repo import open_repo, settings_root
from lineclear.wiring.returned_work import returned_work_of
from lineclear.wiring.strays import strays_of
from lineclear.wiring.trust import trust_of
from lineclear.wiring.worktrees import (
    sandboxed,
    saved_work_in,
    scope_of,
    workplace_of,
    worktree_files,
    worktrees_in,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from lineclear.app.ports import Caller
    from lineclear.app.queue.runner import QueueNews
    from lineclear.app.runs.ports import OutputReader
    from lineclear.app.runs.run_news import RunNews
    from lineclear.app.runs.supervisor import Supervisor
    from lineclear.app.runs.workers import RunRequest
    from lineclear.core.queue.landing_results import NeedsYou, Stray
    from lineclear.settings import Settings
    from lineclear.wiring.repo import Repo


def supervise(
    repo: Repo,
    caller: Caller,
    request: RunRequest,
    tell: Callable[[RunNews], None],
    show: Callable[[list[dict[str, Any]]], None],
    beside: AbstractContextManager[object],
) -> Supervisor:
    """Run a supervisor until nothing more can be done. `beside` is open while it runs."""
    slots = make_slots(repo.settings, repo.environ.get("PATH", ""), request)
    rules = _rules(repo.settings, request)
    return supervision_of(repo).supervise(
        caller,
        slots,
        rules,
        _local_host(repo, caller, min(THREADS_MAX, len(slots) + 4), lands=rules.lands, beside=beside),
        since_ns=repo.clock.now().wall_ns,
        scope=scope_of(repo),
        require_trust=trust_of(repo).require,
        require_room=lambda count: worktree_files(repo).require_room(count),
        tell=tell,
        show=show,
    )


def supervision_of(repo: Repo) -> Supervision:
    return Supervision(
        repo.store,
        clients_of(repo),
        traces_of(repo),
        StatusFile(os.path.join(repo.state_directory, "supervisor.json")),
        hold=partial(repo.bonds.hold, SUPERVISOR),
        is_running=partial(repo.bonds.is_held, SUPERVISOR),
        grace_s=repo.settings.run_grace_ms / 1000,
    )


def _rules(settings: Settings, request: RunRequest) -> SupervisorRules:
    return SupervisorRules(
        silence_ms=settings.run_silence_ms,
        grace_ms=settings.run_grace_ms,
        lease_ms=settings.tasks_lease_ms,
        save_every_ms=settings.snapshots_every_ms,
        log_bytes=settings.run_log_size_bytes,
        prompt_bytes=settings.run_prompt_size_bytes,
        disk_floor_bytes=settings.worktrees_disk_reserve_bytes // 4,
        heeds_loops=settings.run_loops,
        only=request.tasks,
        is_staying=request.is_staying,
        lands=settings.run_land if request.lands is None else request.lands,
    )


@contextmanager
def _local_host(
    repo: Repo, caller: Caller, threads: int, *, lands: bool, beside: AbstractContextManager[object]
) -> Iterator[LocalHost]:
    cwd, strayed, closing = repo.layout.worktree, dict[str, str](), Event()

    def is_over() -> bool:
        return closing.is_set() or jobs.interrupts > 0

    def open_ports() -> RunPorts:
        opened = wait_out(lambda: open_repo(cwd, repo.environ), is_over)
        return _ports_of(opened, is_over, lands=lands, strayed=strayed)

    with beside, radar_beside(repo, caller), Jobs(threads) as jobs:
        host = LocalHost(jobs, repo.clock, repo.state_directory, open_ports)
        try:
            yield host
        finally:
            closing.set()
            host.close()


def _ports_of(opened: Repo, is_over: Callable[[], bool], *, lands: bool, strayed: dict[str, str]) -> RunPorts:
    repo = copy(opened)
    repo.store = PatientStore(opened.store, is_over)
    made, returned = _Worktrees(repo), returned_work_of(repo)
    return RunPorts(
        store=repo.store,
        liveness=repo.liveness,
        presence=repo.presence,
        trees=RunPlaces(repo.store, made, returned, is_worktree, settings_root(repo.layout)),
        snapshots=RunSnapshots(_Snapshots(repo)),
        landing=RunLanding(
            repo.store,
            deliveries_of(repo),
            # A landing must not be repeated blindly: the runner recovers from the log.
            _Queue(opened),
            _Main(repo),
            returned,
            made,
            lands=lands,
            strayed=strayed,
        ),
        clients=clients_of(repo),
        traces=traces_of(repo),
        scope=scope_of(repo),
    )


def clients_of(repo: Repo) -> ClientProcesses:
    settings, common_dir = repo.settings, repo.layout.common_dir
    # An agent may run the commands itself that check its work.
    checks = [settings.checks_gate, settings.checks_full, *(c.command for c in settings.check_paths)]

    def in_sandbox(tree: str, argv: list[str], tmp: str, writable: list[str]) -> list[str]:
        return sandboxed(repo, worktrees_in(repo).find(tree).path, argv, tmp=tmp, writable=writable)

    return ClientProcesses(
        os.path.join(repo.state_directory, "runs"),
        repo.environ,
        common_dir=common_dir,
        git_dir_of=lambda path: linked_git_dir(os.path.join(path, ".git")) or common_dir,
        checks=[command for command in dict.fromkeys(checks) if command],
        log_bytes=settings.run_log_size_bytes,
        sandboxed=in_sandbox,
        hold_bond=partial(repo.hold_bond, RUN_BOND),
        new_token=new_secret,
    )


def traces_of(repo: Repo) -> RunTraces:
    return RunTraces(
        repo.host,
        repo.bonds,
        repo.liveness,
        repo.clock,
        clients_of(repo).directory,
        is_team=bool(repo.settings.store_url),
    )


def follow_run(repo: Repo, agent: str, *, is_raw: bool, is_whole: bool) -> Iterator[dict[str, Any]]:
    def reader_of(client: str) -> OutputReader:
        return stream_of(client if client in names_with(STREAM) else "plain").reader()

    return attaching.follow_run(
        repo.store, clients_of(repo), reader_of, agent, is_raw=is_raw, is_whole=is_whole
    )


# -- the work of a run -----------------------------------------------------------------------------


def deliveries_of(repo: Repo) -> Deliveries:
    root = settings_root(repo.layout)
    at_main = repo_by(repo, settings_in_force(repo))

    def checkout_of(branch: str) -> str:
        places = checkouts_of(repo.layout.common_dir, f"refs/heads/{branch}")
        return places[0].path if places else ""

    def run_command(command: str, cwd: str, env: dict[str, str], timeout_s: float) -> tuple[int, str]:
        ended = run_to_end(command, cwd=cwd, env=env, timeout_s=timeout_s)
        return ended.code, ended.tail

    return Deliveries(
        repo.store,
        workplace=partial(workplace_of, repo),
        checkout_of=checkout_of,
        checks=WorkChecks(
            stated_checks(at_main.settings),
            repo.environ,
            partial(trust_of(at_main).require, ("checks.gate", "checks.paths")),
            run_command,
        ),
        is_in_main_tree=lambda name: os.path.lexists(os.path.join(root, name)),
        scope=repo.settings.run_scope,
    )


# -- the ports of places and landing, for one repository -------------------------------------------


class _Worktrees:
    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def prepare(self, caller: Caller, task: int, base: str) -> RunPlace:
        made = worktrees_in(self._repo).prepare(caller, agent=caller.name, task=task, base=base)
        return RunPlace(made.tree, made.path, made.branch, made.base, made.env)

    def place_of(self, tree: str) -> RunPlace:
        found = worktrees_in(self._repo).find(tree)
        return RunPlace(found.tree, found.path, found.branch, found.base, found.env)

    def discard(self, caller: Caller, tree: str, why: str) -> None:
        worktrees_in(self._repo).discard(caller, tree, why=why)


class _Snapshots:
    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def take(self, agent: str, tree: str, path: str, why: str, task: int) -> RunSnapshot | None:
        taken = saved_work_in(self._repo).take(agent=agent, tree=tree, path=path, why=why, task=task)
        return RunSnapshot(taken.commit, taken.tree, taken.left_out) if taken is not None else None

    def latest(self, agent: str) -> RunSnapshot | None:
        found = saved_work_in(self._repo).latest(agent)
        return RunSnapshot(found.commit, found.tree) if found is not None else None


class _Queue:
    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def submit(self, caller: Caller, branch: str, task: int) -> str:
        found = landings_of(self._repo).submit(caller, branch=branch, task=task, agent=caller.name)
        return str(found["candidate"])

    def submit_again(self, caller: Caller) -> dict[int, str]:
        return landings_of(self._repo).submit_again(caller)

    def run_once(self, caller: Caller, tell: Callable[[QueueNews], None], is_over: Callable[[], bool]) -> int:
        return landings_of(self._repo).run_once(caller, tell=tell, is_over=is_over)

    def settle(self, caller: Caller, *, lands: bool) -> list[str]:
        return landings_of(self._repo).settle(caller, lands=lands)


class _Main:
    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def name(self) -> str:
        return strays_of(self._repo).main_name()

    def find_stray(self) -> Stray | None:
        return strays_of(self._repo).find()

    def restore(self, stray: Stray) -> str | NeedsYou:
        return strays_of(self._repo).restore(stray.old, stray.new, stray.agent)
