"""Builds the radar: what it sees of a clone, its cache, and who runs it when."""

from __future__ import annotations

import logging
import os
import time
from contextlib import closing, contextmanager
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING

import lineclear
from lineclear.app.radar import passing, saving_beside
from lineclear.app.radar.known_work import known_work
from lineclear.app.radar.ports import RadarPorts
from lineclear.app.radar.snapshotting import save_all
from lineclear.app.radar.watching import RadarWatch
from lineclear.core.radar import facts
from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.snapshots import AT_WORK
from lineclear.git.layout import MAIN_TREE, file_stem, head_branch
from lineclear.git.radar import CloneRadar
from lineclear.git.radar_watch import WorkWatch
from lineclear.git.run import GitFailed
from lineclear.git.snapshots.marks import take_mark
from lineclear.host.bonds import SUPERVISOR
from lineclear.host.interrupt_shield import shield_thread
from lineclear.host.locks import LockFile
from lineclear.host.merge_processes import MERGE_PROCESSES
from lineclear.host.server_address import is_held
from lineclear.host.session_marks import time_of
from lineclear.store.facts_cache import SqliteFactsCache
from lineclear.wiring.mirroring import live_trees
from lineclear.wiring.repo import SNAPSHOTS, mark_of, open_repo
from lineclear.wiring.worktrees import saved_work_in, scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lineclear.app.ports import Caller
    from lineclear.app.radar.known_work import KnownWork
    from lineclear.app.radar.passing import PassReport
    from lineclear.app.worktrees.saver import LiveTree
    from lineclear.wiring.repo import Repo

# What decides about facts and answers, below the package.
_CODE = ("app/radar", "app/queue/merge_trees.py", "code", "core/radar", "git/radar.py", "merge")
# How long the process beside a hook waits for its turn.
_PATIENCE_S = 60.0
_REST_AFTER_FAILURE_S = 5.0


def run_pass(repo: Repo, caller: Caller, *, snapshots: bool = False) -> PassReport:
    """One pass. `snapshots`: first save what changed in any worktree. Waits for a pass of another process."""
    if snapshots:
        save_worktrees(repo)
    with _pass_lock(repo) as lock:
        return _run(repo, caller, lock)


def save_worktrees(repo: Repo) -> int:
    """Save every worktree that changed since its last snapshot; returns how many there were."""
    trees = live_trees(repo)
    return save_all(saved_work_in(repo), trees, _known_work(repo), partial(_branch_of, repo))


def _branch_of(repo: Repo, tree: LiveTree) -> str:
    name, common_dir = tree.name.removeprefix(scope_of(repo)), repo.layout.common_dir
    git_dir = common_dir if name == MAIN_TREE else f"{common_dir}/worktrees/{name}"
    return head_branch(git_dir) or ""


def _known_work(repo: Repo) -> KnownWork:
    silence_ms = repo.settings.agents_silence_ms
    return known_work(repo.store, repo.presence, live_trees(repo), silence_ms=silence_ms)


# -- one pass -------------------------------------------------------------------------------------


def _run(repo: Repo, caller: Caller, lock: LockFile) -> PassReport:
    began_ns = time.time_ns()
    with closing(cache_of(repo)) as cache, closing(git_of(repo, cache)) as git:
        ports = RadarPorts(git=git, cache=cache, rules=MERGE_PROCESSES, store=repo.store, caller=caller)
        report = passing.run_pass(ports)
        if report.parsed or report.merged_pairs:
            cache.prune()
    os.pwrite(lock.fd, f"{began_ns:<20}".encode(), 0)
    return report


def cache_of(repo: Repo) -> SqliteFactsCache:
    path = os.path.join(repo.state_directory, "radar.db")
    return SqliteFactsCache(path, _version(), lambda: int(time.time()))


def _version() -> str:
    """Changes with the code whose answers are cached."""
    words = [str(facts.VERSION)]
    root = os.path.dirname(lineclear.__file__)
    for place in _CODE:
        path = os.path.join(root, place)
        paths = [path] if os.path.isfile(path) else [
            os.path.join(above, name) for above, _, names in os.walk(path) for name in names
        ]  # fmt: skip
        for one in sorted(paths):
            if one.endswith(".py"):
                found = os.stat(one)
                words.append(f"{os.path.relpath(one, root)} {found.st_size} {found.st_mtime_ns}")
    return "\n".join(words)


def git_of(repo: Repo, cache: SqliteFactsCache) -> CloneRadar:
    return CloneRadar(
        repo.layout,
        snapshots=os.path.join(repo.state_directory, SNAPSHOTS),
        scratch=os.path.join(repo.state_directory, "radar.objects"),
        scope=scope_of(repo),
        known=lambda: _known_work(repo),
        answers=cache,
        rules=MERGE_PROCESSES,
        live_for_s=repo.settings.radar_live_for_ms // 1_000,
        now_s=lambda: int(time.time()),
    )


def _pass_lock(repo: Repo) -> LockFile:
    return LockFile(os.path.join(repo.state_directory, "radar.lock"))


def scan_beside(repo: Repo, caller: Caller) -> None:
    """One pass, unless the radar is off or another process sees the news. If several wait for their turn, the
    pass of the first one counts for all."""
    if not repo.settings.radar_on or is_watched(repo):
        return
    asked_ns, lock = time.time_ns(), _pass_lock(repo)
    if not lock.take(_PATIENCE_S):
        return
    with lock:
        words = os.pread(lock.fd, 20, 0).split()
        began_ns = int(words[0]) if words and words[0].isdigit() else 0
        if not asked_ns < began_ns <= time.time_ns():
            _run(repo, caller, lock)


# -- processes that stay --------------------------------------------------------------------------


def is_watched(repo: Repo) -> bool:
    """Does a server or a supervisor run the radar for this clone?"""
    return _is_served(repo) or repo.bonds.is_held(SUPERVISOR)


def _is_served(repo: Repo) -> bool:
    return repo.settings.serve_radar and is_held(repo.state_directory)


def radar_watch(repo: Repo, run: Callable[[], PassReport | None]) -> RadarWatch:
    work = WorkWatch(repo.layout.common_dir, os.path.join(repo.state_directory, SNAPSHOTS))
    return RadarWatch(work.stamp, run)


@contextmanager
def radar_beside(repo: Repo, caller: Caller) -> Iterator[None]:
    """While it is open, a thread runs the radar, unless a server does."""
    if not repo.settings.radar_on:
        yield
        return
    is_over = Event()
    thread = Thread(target=_watch, args=(repo, caller, is_over), name="radar", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(10)


def _watch(repo: Repo, caller: Caller, is_over: Event) -> None:
    shield_thread()
    while not is_over.is_set():
        try:
            with closing(open_repo(repo.layout.worktree, repo.environ)) as own:
                _watch_until(own, caller, is_over)
        except Exception as error:  # noqa: BLE001  the boundary of this thread: the agents work without it
            logging.getLogger("lineclear.radar").warning("the radar failed: %s", error)
            is_over.wait(_REST_AFTER_FAILURE_S)


def _watch_until(repo: Repo, caller: Caller, is_over: Event) -> None:
    watch = radar_watch(repo, lambda: None if _is_served(repo) else run_pass(repo, caller))
    while not is_over.is_set():
        is_over.wait(watch.step()[1])


# -- beside a hook --------------------------------------------------------------------------------


def save_beside(repo: Repo, caller: Caller) -> None:
    """What the process does that a hook starts: see app/radar/saving_beside.py."""
    saved, mark, every_ms = saved_work_in(repo), mark_of(repo, repo.tree), repo.settings.snapshots_every_ms

    def save(is_first: bool) -> bool:
        try:
            taken = saved.take(
                agent=caller.name,
                tree=repo.tree,
                path=repo.layout.worktree,
                why=AT_WORK,
                if_new=not is_first,
            )
        except Refusal:
            return False  # the worktree is gone
        if taken is not None and not is_first:
            take_mark(mark, 0)
        return taken is not None

    def scan() -> None:
        try:
            scan_beside(repo, caller)
        except (Refusal, GitFailed, OSError):
            pass  # the next pass sees the same; the next snapshot is more important

    def rest() -> None:
        left_ns = time_of(mark) + every_ms * 1_000_000 - time.time_ns()
        time.sleep(min(max(left_ns, 0), every_ms * 1_000_000) / 1e9)

    @contextmanager
    def stay() -> Iterator[bool]:
        name = repo.tree.removeprefix(scope_of(repo))
        lock = LockFile(f"{file_stem(f'{repo.state_directory}/{SNAPSHOTS}', name)}.stay")
        is_ours = lock.take(0)
        try:
            yield is_ours
        finally:
            lock.free()

    saving_beside.save_beside(saving_beside.BesidePorts(save=save, scan=scan, rest=rest, stay=stay))
