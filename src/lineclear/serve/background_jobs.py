"""The background jobs, one function each: do what is due, then wait until the log changes.

A function returns when its context says so, and is called again with fresh settings.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.agents.lease_ends import end_leases
from lineclear.app.queue import candidates as queue
from lineclear.app.queue.runner import QueueNews
from lineclear.core.queue.candidates import show_number
from lineclear.core.words.refusals import Refusal
from lineclear.mirror.publishing import REFRESH_S, look_of, publish_noted
from lineclear.wiring import queue as wired_queue
from lineclear.wiring.mirroring import live_trees, parts_on
from lineclear.wiring.radar import radar_watch, run_pass
from lineclear.wiring.runs import supervision_of
from lineclear.wiring.saving import saver_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.ports import View
    from lineclear.serve.background import JobContext
    from lineclear.settings import Settings

# How late we notice a change if its ring is lost. The other jobs do not ask the store before the bell rings,
# so that an idle server asks it less than once a second.
HEAD_EVERY_S = 5.0
LISTEN_S = 0.5
# Calls come in bursts, and background work slows them down: handle changes together.
GATHER_S = 0.1
TREES_EVERY_S, TREES_AT_MOST_EVERY_S = 2.5, 1.0
# Without an agent at work; one that begins rings.
TREES_IDLE_EVERY_S = 10.0
# An edited file rings no bell.
PAGES_EVERY_S = 0.5
SAVES_EVERY_S = 0.25
SAVES_END_WITHIN_S = 5.0
# Check all leases at most this often, and for at most this share of the time.
LEASES_EVERY_S, LEASES_SHARE = 1.0, 0.05
# Nobody rings when a process dies. Without one that holds anything, we only wait for leases to run out.
DEATHS_EVERY_S, IDLE_EVERY_S = 2.0, 30.0
# A running supervisor runs the queue itself and learns more from it, so let it go first.
YIELD_S = 5.0
TURN_EVERY_S = 1.0
# An obstacle (a person's files, a main that fails) may disappear without an event.
FIRST_RETRY_S, LONGEST_RETRY_S = 5.0, 60.0
RUNNING, ELSEWHERE, WAITING = "running", "another process runs it", "waiting"


def hear(job: JobContext) -> None:
    """Listen for all jobs, and wake them when the log has grown."""
    store, head, look_at_s, is_rung = job.repo.store, -1, 0.0, True
    try:
        with store.listen() as ear:
            while job.goes_on():
                if is_rung or time.monotonic() >= look_at_s:
                    look_at_s = time.monotonic() + HEAD_EVERY_S
                    now = store.read(lambda view: view.head)
                    if now != head:
                        head = now
                        job.ring()
                        job.rest(GATHER_S)
                job.did()
                is_rung = ear.wait(LISTEN_S)
    finally:
        job.ring()  # if the store is out of reach, the others find out, too


# -- files for agents ---------------------------------------------------------------------------


def keep_files(job: JobContext) -> None:
    """Publish after every change of the log, of the pages, and of the list of worktrees."""
    repo, seen, published_at_s = job.repo, None, 0.0
    trees, listed_at_s = live_trees(repo), time.monotonic()
    while job.goes_on():
        now_s = time.monotonic()
        if now_s - listed_at_s >= TREES_EVERY_S:
            trees, listed_at_s = live_trees(repo), now_s
        # Read before publishing, so that a change in between shows the next time.
        now = (job.rings, look_of(trees))
        if now != seen or now_s - published_at_s > REFRESH_S:
            done = publish_noted(repo)
            if done is not None:
                is_news = seen is None or now[0] != seen[0] or done.edits > 0
                seen, published_at_s = now, now_s
                job.did(f"took in {done.edits} edits" if done.edits else "")
                for trouble in done.troubles if is_news else ():
                    job.failed(trouble)
        job.wait(PAGES_EVERY_S)


# -- snapshots ----------------------------------------------------------------------------------


def save_work(job: JobContext) -> None:
    saver, supervision = saver_in(job.repo), supervision_of(job.repo)
    chosen_at_s, state, looked = float("-inf"), (-1, False), 0
    try:
        while job.goes_on():
            # Agents come and go with an event; a supervisor may die without one.
            now = (job.rings, supervision.is_running())
            usual_s = TREES_EVERY_S if saver.places or now[1] else TREES_IDLE_EVERY_S
            if time.monotonic() - chosen_at_s >= (TREES_AT_MOST_EVERY_S if now != state else usual_s):
                state, chosen_at_s = now, time.monotonic()
                saver.choose()
            for trouble in saver.step():
                job.failed(trouble)
            if saver.looked != looked:
                looked = saver.looked
                job.did(f"{saver.saved} taken", is_news=False)
            job.rest(SAVES_EVERY_S)
    finally:
        saver.close(SAVES_END_WITHIN_S)


# -- the radar ----------------------------------------------------------------------------------


def watch_work(job: JobContext) -> None:
    watch = radar_watch(job.repo, lambda: run_pass(job.repo, job.caller))
    while job.goes_on():
        report, rest_s = watch.step()
        if report is not None:
            count = len(report.findings)
            job.did(f"{count} {'finding' if count == 1 else 'findings'}", is_news=False)
        job.rest(rest_s)


# -- leases -------------------------------------------------------------------------------------


def end_lapses(job: JobContext) -> None:
    repo = job.repo
    while job.goes_on():
        began_s = time.monotonic()
        lapse = end_leases(repo.store, repo.liveness, job.caller)
        job.did(f"{lapse.ended} ended" if lapse.ended else "")
        rest_s = max(LEASES_EVERY_S, (time.monotonic() - began_s) / LEASES_SHARE)
        job.rest(rest_s)
        longest_s = DEATHS_EVERY_S if lapse.can_die else IDLE_EVERY_S
        next_s = lapse.next_ms / 1_000 + 0.001 if lapse.next_ms >= 0 else longest_s
        job.wait(min(next_s, longest_s) - rest_s)


# -- the queue ----------------------------------------------------------------------------------


def run_queue(job: JobContext) -> None:
    """Like `queue run`, but hold the queue only while something can be done, so that others can run it
    meanwhile."""
    seen, rings, again_at_s, retry_s = -1, -1, 0.0, FIRST_RETRY_S
    while job.goes_on():
        is_due = time.monotonic() >= again_at_s
        if job.rings == rings and not is_due:
            job.wait(TURN_EVERY_S)
            continue
        rings = job.rings
        head, has_work = job.repo.store.read(_has_work)
        is_new = head != seen
        if not has_work:
            again_at_s = float("inf")  # until the bell rings
            continue
        if not is_new and not is_due:
            continue
        if is_new and supervision_of(job.repo).is_running():
            job.rest(YIELD_S)
            has_work = job.repo.store.read(_has_work)[1]
        found = _run_once(job) if has_work else head
        if found < 0:
            again_at_s = 0.0
            job.rest(TURN_EVERY_S)
            continue
        retry_s = FIRST_RETRY_S if is_new else min(LONGEST_RETRY_S, retry_s * 2)
        seen, again_at_s = found, time.monotonic() + retry_s


def _has_work(view: View) -> tuple[int, bool]:
    return view.head, queue.state(view)[0] != queue.PAUSED and queue.has_waiting(view)


def _run_once(job: JobContext) -> int:
    """The log's head when nothing more could be done; -1 while another process runs the queue."""

    def tell(news: QueueNews) -> None:
        name = show_number(news.candidate) if news.candidate else ""
        job.did(f"{name} {news.kind}: {news.text}".lstrip())

    job.is_at(RUNNING)
    try:
        found = wired_queue.landings_of(job.repo).run_once(job.caller, tell=tell, is_over=job.is_stopped)
    except Refusal as refusal:
        if refusal.code == "queue.running":
            job.is_at(ELSEWHERE)
            return -1
        if job.is_stopped():  # the processes that we stopped fail; that is expected
            return -1
        raise
    job.is_at(WAITING)
    job.did()
    return found


@dataclass(frozen=True, slots=True)
class BackgroundJob:
    name: str
    is_wanted: Callable[[Settings], bool]
    run: Callable[[JobContext], None]


JOBS = (
    BackgroundJob("mirror", lambda settings: settings.serve_mirror and bool(parts_on(settings)), keep_files),
    BackgroundJob("queue", lambda settings: settings.serve_queue, run_queue),
    BackgroundJob("snapshots", lambda settings: settings.serve_snapshots, save_work),
    BackgroundJob("radar", lambda settings: settings.serve_radar and settings.radar_on, watch_work),
    BackgroundJob("leases", lambda _: True, end_lapses),
)
