"""The supervisor, wired: worktrees, snapshots, landing, clients behind its ports, one ground per thread."""

from __future__ import annotations

import os
import sys
import threading
from uuid import uuid4

from lineclear.app.queue import candidates
from lineclear.app.runs.records import live_runs
from lineclear.app.runs.workers import (
    HANDED_OVER,
    LANDED,
    NEEDS_YOU,
    Came,
    Checked,
    Landed,
    Place,
    Saved,
    Slot,
)
from lineclear.clients.launch import PROMPT_INPUT, Launch
from lineclear.clients.registry import CLIENTS, start_of, stream_of, why_missing
from lineclear.core.agents.identity import SIGNS
from lineclear.core.log.tables import AGENT, WORKTREE, split_names
from lineclear.core.runs.budgets import BudgetLimits
from lineclear.core.tasks.states import show_id
from lineclear.core.words.refusals import Refusal
from lineclear.git.layout import linked_git_dir
from lineclear.host import groups, processes
from lineclear.host.files import free_bytes, used_bytes, write_atomically
from lineclear.host.threads import Jobs
from lineclear.wiring import outputs, returning, snapshots, stray_main, worktrees
from lineclear.wiring import queue as queueing
from lineclear.wiring.provisioning import sandboxed
from lineclear.wiring.repo import host_name, open_repo, settings_root
from lineclear.wiring.tokens import new_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from lineclear.app.ports import Caller
    from lineclear.app.runs.ports import Bond, Reader
    from lineclear.core.log.tables import Run, Task
    from lineclear.core.runs.signs import Usage
    from lineclear.host.groups import ClientProcess
    from lineclear.wiring.repo import Repo

RUNS, PROMPT = "runs", "prompt.md"
# What tells a client that it runs inside another agent's session, or binds git to one repository.
_FOREIGN = frozenset(
    (*SIGNS, "LINECLEAR_TOKEN", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")
)
THREADS_MAX = 40


class RepoGround:
    """Everything one thread of the supervisor needs, on a store connection of its own."""

    def __init__(self, repo: Repo, *, lands: bool, strayed: dict[str, str]) -> None:
        self.repo = repo
        self.store, self.liveness, self.presence = repo.store, repo.liveness, repo.presence
        self.trees = RepoTrees(repo)
        self.snapshots = RepoSnapshots(repo)
        self.landing = RepoLanding(repo, lands=lands, strayed=strayed)
        self.clients = RepoClients(repo)
        self.traces = RepoTraces(repo, self.clients)


class RepoTrees:
    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def prepare(self, caller: Caller, task: Task) -> Place:
        """Where work came back, on top of that work, with main merged in and what does not fit left open."""
        came_back = returning.returned_candidate(self._repo, task)
        made = worktrees.prepare(
            self._repo,
            caller,
            agent=caller.name,
            task=task.id,
            base=came_back.tip if came_back is not None else "",
            is_saved=lambda tree: snapshots.is_saved(self._repo, tree),
        )
        if came_back is not None:
            returning.bring_main(self._repo, caller, made.path, task.id)
        return Place(made.tree, made.path, made.branch, made.base, made.env)

    def find(self, _caller: Caller, run: Run) -> Place | None:
        place = self.place_of(run)
        return place if place.tree and place.branch == run.branch and self.is_there(place) else None

    def place_of(self, run: Run) -> Place:
        if not run.tree:
            return self.shared(None)
        row = self._repo.store.read(lambda view: view.get(WORKTREE, (run.tree,)))
        if row is None:
            return Place(run.tree, "", run.branch, run.base)
        found = worktrees.place_of(self._repo, row.name)
        return Place(found.tree, found.path, found.branch, run.base or found.base, found.env)

    def shared(self, _caller: Caller | None) -> Place:
        return Place("", settings_root(self._repo.layout))

    def discard(self, caller: Caller, place: Place, why: str) -> None:
        saved: Callable[[str], bool] = lambda tree: snapshots.is_saved(self._repo, tree)  # noqa: E731
        worktrees.discard(self._repo, caller, place.tree, why=why, is_saved=saved)

    def is_there(self, place: Place) -> bool:
        return not place.tree or is_worktree(place.path)


def is_worktree(path: str) -> bool:
    return bool(path) and os.path.lexists(os.path.join(path, ".git"))


class RepoSnapshots:
    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def take(self, agent: str, place: Place, why: str, task: int) -> Saved | None:
        if not place.tree:
            return None
        taken = snapshots.take_for(
            self._repo, agent=agent, tree=place.tree, path=place.path, why=why, task=task
        )
        return Saved(taken.commit, taken.tree, taken.left_out) if taken is not None else None

    def latest(self, agent: str, place: Place) -> Saved | None:
        if not place.tree:
            return None
        found = snapshots.latest(self._repo, agent)
        return Saved(found.commit, found.tree) if found is not None else None


class RepoClients:
    """Clients as processes of this host; what a run leaves on disk is in a directory of its own."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def directory(self, run: int) -> str:
        return os.path.join(self._repo.state_directory, RUNS, str(run))

    def start(
        self, slot: Slot, place: Place, run: int, prompt: str, token: str, bond: Bond, resume: str
    ) -> tuple[ClientProcess, str]:
        directory = self.directory(run)
        os.makedirs(directory, mode=0o700, exist_ok=True)
        prompt_file = os.path.join(directory, PROMPT)
        write_atomically(prompt_file, prompt.encode())
        launch = Launch(
            prompt=prompt,
            prompt_file=prompt_file,
            model=slot.model,
            permissions=slot.permissions,
            resume_session=resume,
            session="" if resume else str(uuid4()),
            allowed_commands=self._checks(),
            worktree=place.path,
            git_dir=linked_git_dir(os.path.join(place.path, ".git")) or self._repo.layout.common_dir,
            common_dir=self._repo.layout.common_dir,
            command=slot.command or CLIENTS[slot.client].program.split(),
        )
        started = start_of(slot.client).launch(launch)
        env = {**self._environment(slot, place, token, prompt_file), **started.env}
        argv = self._sandboxed(slot, place, run, started.argv)
        group = groups.start(
            argv,
            cwd=place.path,
            env=env,
            directory=directory,
            mark=_mark(run, bond.name),
            stdin=prompt_file if started.stdin == PROMPT_INPUT else "",
            bond_fd=bond.inheritable(),
        )
        return group, started.session

    def _checks(self) -> list[str]:
        """What the repository checks work with is what an agent may run itself."""
        settings = self._repo.settings
        commands = [settings.checks_gate, settings.checks_full, *(c.command for c in settings.check_paths)]
        return [command for command in dict.fromkeys(commands) if command]

    def _environment(self, slot: Slot, place: Place, token: str, prompt_file: str) -> dict[str, str]:
        environ = {name: value for name, value in self._repo.environ.items() if name not in _FOREIGN}
        ours = {
            "LINECLEAR_AGENT": slot.agent,
            "LINECLEAR_TOKEN": token,
            "LINECLEAR_TASK": show_id(slot.task),
            "LINECLEAR_PROMPT": prompt_file,
            # Whoever moves main with git is named in main's reflog.
            "GIT_REFLOG_ACTION": f"lineclear:{slot.agent}",
            "PWD": place.path,
            "PATH": _path_with_us(environ),
        }
        return {**environ, **place.env, **slot.env, **ours}

    def _sandboxed(self, slot: Slot, place: Place, run: int, argv: list[str]) -> list[str]:
        if slot.sandbox == "off" or not place.tree:
            return argv
        tmp = os.path.join(self.directory(run), "tmp")
        os.makedirs(tmp, mode=0o700, exist_ok=True)
        homes = [os.path.expanduser(path) for path in CLIENTS[slot.client].home_paths]
        writable = [self.directory(run), *(path for path in homes if os.path.exists(path))]
        return sandboxed(
            self._repo, worktrees.place_of(self._repo, place.tree), argv, tmp=tmp, writable=writable
        )

    def find_again(self, run: Run) -> ClientProcess:
        return groups.find_again(self.directory(run.id), _mark(run.id, run.bond))

    def reader(self, slot: Slot, place: Place, before: Usage | None = None) -> Reader:
        return stream_of(slot.stream).reader(place.path, before)

    def hold_bond(self, _agent: str) -> tuple[str, Any]:
        return self._repo.hold_bond("agent")

    def new_token(self) -> tuple[str, str]:
        return new_secret()

    def why_missing(self, slot: Slot, error: OSError) -> str:
        if isinstance(error, FileNotFoundError) and error.filename:
            return why_missing(slot.client, str(error.filename))
        return f"{os.strerror(error.errno or 0)}: {error.filename or slot.client}"

    def forget(self, run: int) -> None:
        groups.cut_output(self.directory(run), self._repo.settings.run_log_size_bytes)
        for name in (groups.PID, groups.EXIT):
            try:
                os.unlink(os.path.join(self.directory(run), name))
            except OSError:
                pass


def _mark(run: int, bond: str) -> str:
    """In the environment of all that a run starts; the bond's random part tells two repositories apart."""
    return f"{run}-{bond.rpartition('-')[2]}"


def _path_with_us(environ: Mapping[str, str]) -> str:
    """The agent's own `lineclear` commands work, also when ours is in a virtual environment."""
    ours = os.path.dirname(os.path.abspath(sys.argv[0]))
    path = environ.get("PATH", os.defpath)
    if os.path.exists(os.path.join(ours, "lineclear")) and ours not in path.split(os.pathsep):
        return f"{path}{os.pathsep}{ours}"
    return path


class RepoTraces:
    def __init__(self, repo: Repo, clients: RepoClients) -> None:
        self._repo, self._clients = repo, clients

    def is_of_this_clone(self, run: Run) -> bool:
        """Runs of a team's other clones are in the same store; their directories are not."""
        if not self._repo.settings.store_url:
            return True
        host, _, name = run.bond.partition("/")
        is_here = host == host_name() and self._repo.bonds.is_held(name)
        return is_here or os.path.isdir(self._clients.directory(run.id))

    def is_of_earlier_boot(self, run: Run) -> bool:
        return not run.bond.startswith(host_name() + "/")

    def is_bond_free(self, run: Run) -> bool:
        return not self._repo.bonds.is_held(run.bond.partition("/")[2])

    def is_unattended(self, agent: str) -> bool:
        """Of this host without the grace that others are given: only a supervisor restarts its agents."""
        row = self._repo.store.read(lambda view: view.get(AGENT, (agent,)))
        if row is None or not row.bond:
            return True
        host, _, name = row.bond.partition("/")
        if host == host_name():
            return not self._repo.bonds.is_held(name)
        return self._repo.liveness.is_dead(row.bond)

    def age_ns(self, run: Run) -> int:
        return self._repo.clock.now().wall_ns - run.started_ns

    def oom_kills(self) -> int:
        return processes.oom_kills()

    def slot_of(self, run: Run) -> Slot:
        return Slot(
            run.agent, run.client, limits=BudgetLimits(), model=run.model, has_worktree=bool(run.tree)
        )


class RepoLanding:
    """`strayed`: who was seen to have moved main itself; one for all threads of a supervisor."""

    def __init__(self, repo: Repo, *, lands: bool, strayed: dict[str, str]) -> None:
        self._repo, self._lands, self._strayed = repo, lands, strayed

    def check(self, caller: Caller, task: Task, run: Run, place: Place) -> Checked:
        if not place.tree:
            found = outputs.deliver_without_tree(self._repo, task, agent=caller.name, since=run.id)
            result = ", ".join(split_names(task.produces)) or f"by {caller.name}"
            return Checked(found.how, found.reason, result=result, notes=found.notes)
        returning.end_sync(self._repo, caller, place.path)
        found = outputs.deliver(
            self._repo,
            task,
            agent=caller.name,
            path=place.path,
            branch=place.branch,
            since=run.id,
            env=place.env,
            has_queue=self._lands,
        )
        return Checked(found.how, found.reason, branch=found.branch, notes=found.notes)

    def land(self, caller: Caller, task: Task, branch: str) -> Landed:
        if not self._lands:
            return Landed(HANDED_OVER)
        self._see_stray()
        found = queueing.submit(self._repo, caller, branch=branch, task=task.id, agent=caller.name)
        return Landed(HANDED_OVER, f"it waits as {found['candidate']}")

    def run_queue(self, caller: Caller, is_over: Callable[[], bool], tell: Callable[[Came], None]) -> int:
        def pass_on(news: queueing.News) -> None:
            if not news.candidate:
                tell(Came(0, 0, Landed(NEEDS_YOU, news.text)))
                return
            row = self._repo.store.read(lambda view: candidates.known(view, news.candidate))
            if news.kind == LANDED:
                self._discard(caller, row.branch)
            tell(Came(row.id, row.task, Landed(news.kind, row.reason, row.commit)))

        try:
            return queueing.run_once(self._repo, caller, tell=pass_on, is_over=is_over)
        except Refusal as refusal:
            if refusal.code != "queue.running":
                raise
            # Somebody else sees to it; what they do is in the log, and makes us look again.
            return self._repo.store.read(lambda view: view.head)

    def _discard(self, caller: Caller, branch: str) -> None:
        """A worktree whose work has landed goes, if its agent is not at work there again."""
        saved: Callable[[str], bool] = lambda tree: snapshots.is_saved(self._repo, tree)  # noqa: E731
        rows = self._repo.store.read(lambda view: view.scan(WORKTREE, "key"))
        live = {run.tree for run in self._repo.store.read(live_runs)}
        for row in rows:
            if row.branch == branch and row.name not in live:
                try:
                    worktrees.discard(self._repo, caller, row.name, why="landed", is_saved=saved)
                except Refusal:
                    pass  # something in it is in no commit: it stays to be looked at

    def returned(self, task: Task, place: Place) -> str:
        return returning.tell(self._repo, task, place.path)

    def main_name(self) -> str:
        return stray_main.watch_main(self._repo)[0].removeprefix("refs/heads/")

    def settle(self, caller: Caller) -> list[str]:
        return queueing.settle(self._repo, caller, lands=self._lands)

    def strays(self, agents: Sequence[str], *, is_end: bool = False) -> list[tuple[str, str]]:
        stray = self._see_stray()
        if stray is not None and stray.agent in agents:
            words = self._put_back(stray)
            if stray.agent in self._strayed:
                self._strayed[stray.agent] = words
        found = [(agent, self._strayed.get(agent, "")) for agent in agents]
        for agent in agents if is_end else ():
            self._strayed.pop(agent, None)
        return [(agent, words) for agent, words in found if words]

    def _see_stray(self) -> stray_main.Stray | None:
        """Noted before anything is done about it: the agent may be ending at this moment."""
        stray = stray_main.find_stray(self._repo)
        if stray is not None:
            self._strayed.setdefault(stray.agent, "main is being put back")
        return stray

    def _put_back(self, stray: stray_main.Stray) -> str:
        kept = stray_main.restore_main(self._repo, stray.old, stray.new, stray.agent)
        if not isinstance(kept, stray_main.NeedsYou):
            return f"main was put back, its commits are at {kept}"
        if stray_main.find_stray(self._repo) is None:  # by another thread, or by a landing
            return "main was put back"
        return f"it could not be put back: {kept.why}"


class HostWorld:
    """Time, threads and processes of this host, for one supervisor."""

    def __init__(self, repo: Repo, jobs: Jobs, *, lands: bool) -> None:
        self._repo, self._jobs, self._lands = repo, jobs, lands
        self._cwd, self._environ = repo.layout.worktree, repo.environ
        self._own = threading.local()
        self._strayed: dict[str, str] = {}
        self._grounds: list[RepoGround] = []

    def now_ns(self) -> int:
        return self._repo.clock.now().tick_ns

    def submit(self, key: str, job: Callable[[Any], Any], /) -> None:
        self._jobs.submit(key, lambda: job(self._ground()))

    def _ground(self) -> RepoGround:
        ground = getattr(self._own, "ground", None)
        if ground is None:
            repo = open_repo(self._cwd, self._environ)
            ground = self._own.ground = RepoGround(repo, lands=self._lands, strayed=self._strayed)
            self._grounds.append(ground)
        return ground

    def wait(self, timeout_s: float, /) -> list[tuple[str, Any]]:
        return self._jobs.wait(timeout_s)

    def interrupts(self) -> int:
        return self._jobs.interrupts

    def use(self, pids: list[int], /) -> dict[int, tuple[int, int]]:
        people, leaders = processes.take_census(), [pid for pid in pids if pid > 0]
        families = processes.families(people, leaders, processes.adopted(people, groups.MARK, leaders))
        return {pid: (family.busy_ns, family.memory_bytes) for pid, family in families.items()}

    def is_worktree(self, path: str, /) -> bool:
        return is_worktree(path)

    def free_disk_bytes(self) -> int:
        return free_bytes(self._repo.state_directory)

    def disk_use_bytes(self, path: str, /) -> int:
        return used_bytes(path)

    def close(self) -> None:
        for ground in self._grounds:
            ground.repo.close()
