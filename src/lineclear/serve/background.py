"""The background work of `serve`: the queue, snapshots, files for agents, ends of leases.

Each job is a thread with its own repository, reopened after every failure and whenever the settings change.
Without these jobs the commands do the same work, only later. So a job that fails reports it, rests and
continues, and all of them may be killed at any time.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

from lineclear.app.ports import Caller
from lineclear.core.instants import show_wall
from lineclear.core.trust import RECORD
from lineclear.core.words.refusals import Refusal
from lineclear.host.host_names import person_name
from lineclear.host.interrupt_shield import shield_thread
from lineclear.serve.background_jobs import JOBS, hear
from lineclear.settings import LOCAL_FILE, TEAM_FILE
from lineclear.wiring.repo import read_settings, settings_root

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lineclear.settings import Settings
    from lineclear.wiring.repo import Repo

    Marks = tuple[tuple[int, int, int], ...]

SETTINGS_EVERY_S = 2.0
FIRST_REST_S, LONGEST_REST_S = 0.5, 30.0
TELL_AGAIN_S = 600.0
STARTING, WAITING, OFF, FAILING, ENDED = "starting", "waiting", "off", "failing", "ended"


def _write_down(words: str, is_trouble: bool) -> None:
    logging.getLogger("lineclear.background").log(logging.WARNING if is_trouble else logging.INFO, words)


class Background:
    """All jobs of one repository. `tell` gets a line for the server's log, and whether it reports a problem;
    a job's thread calls `on_gone` once when the repository or its state directory is gone."""

    def __init__(
        self,
        open_repo: Callable[[], Repo],
        *,
        tell: Callable[[str, bool], None] = _write_down,
        on_gone: Callable[[], None] = lambda: None,
    ) -> None:
        self._open_repo, self._tell, self._on_gone = open_repo, tell, on_gone
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self.rings = 0
        self._surroundings: _Surroundings | None = None
        self._bell = _Thread(self, "bell", lambda _: True, hear)
        self._jobs = [_Thread(self, one.name, one.is_wanted, one.run) for one in JOBS]

    def start(self) -> None:
        for thread in (self._bell, *self._jobs):
            thread.start()

    def stop(self, within_s: float = 10.0) -> bool:
        """End all jobs; a running check stops as after Ctrl-C. False if some have not ended in time."""
        self._stopped.set()
        self.ring()
        deadline = time.monotonic() + within_s
        threads = [thread for thread in (self._bell, *self._jobs) if thread is not threading.current_thread()]
        for thread in threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def status(self) -> dict[str, dict[str, Any]]:
        """For each job its state, its last action and its last error, with their times."""
        return {thread.name: thread.status() for thread in self._jobs}

    # -- for the threads ----------------------------------------------------------------------

    def ring(self) -> None:
        """Wake all jobs: the log has changed, or we stop."""
        self.rings += 1
        for thread in (self._bell, *self._jobs):
            thread.rung.set()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def rest(self, seconds: float) -> bool:
        """Sleep; False if we must stop."""
        return not self._stopped.wait(seconds)

    def open(self) -> tuple[Repo, Marks]:
        """The repository, and the marks of the settings it was opened with."""
        before = self.marks()
        repo = self._open_repo()
        with self._lock:
            if self._surroundings is None:
                self._surroundings = _Surroundings(repo)
        return repo, before or self.marks()

    def marks(self) -> Marks:
        """File times and sizes that change with the settings or the trust; empty before the first open."""
        if self._surroundings is None:
            return ()
        if not self._surroundings.is_there():
            self._end_for_good()
        return self._surroundings.marks()

    def _end_for_good(self) -> None:
        with self._lock:
            is_first = not self._stopped.is_set()
            self._stopped.set()
        if is_first:
            self._tell("The repository is gone.", True)
            self.ring()
            self._on_gone()

    def tell(self, words: str, *, is_trouble: bool) -> None:
        self._tell(words, is_trouble)


class _Surroundings:
    """The files that decide how jobs run; checked every few seconds for all of them."""

    def __init__(self, repo: Repo) -> None:
        self._directory = repo.state_directory
        self._paths = (
            os.path.join(settings_root(repo.layout), TEAM_FILE),
            os.path.join(repo.state_directory, LOCAL_FILE),
            os.path.join(repo.state_directory, RECORD),
        )
        self._lock = threading.Lock()
        self._looked_at_s, self._marks = 0.0, ()
        self.marks()

    def is_there(self) -> bool:
        return os.path.isdir(self._directory)

    def marks(self) -> Marks:
        with self._lock:
            if not self._marks or time.monotonic() - self._looked_at_s >= SETTINGS_EVERY_S:
                self._looked_at_s = time.monotonic()
                self._marks = tuple(_mark(path) for path in self._paths)
            return self._marks

    _marks: Marks


def _mark(path: str) -> tuple[int, int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)


class JobContext:
    """What a running job has to work with: its repository, who acts, and when to end."""

    def __init__(self, thread: _Thread, repo: Repo, marks: Marks) -> None:
        self.repo, self._thread, self._marks = repo, thread, marks
        self._judged, self._is_off = marks, False
        # The server acts for the person on this machine, even if it was started in an agent's shell.
        name = person_name(repo.settings.agents_person, repo.environ)
        self.caller = Caller(name, is_person=True, tree=repo.tree)

    def goes_on(self) -> bool:
        """False if the job must return: we stop, or the settings have changed."""
        background = self._thread.background
        return background.marks() == self._marks and not background.is_stopped

    def is_stopped(self) -> bool:
        """True if we stop or this job was turned off; other changes of the settings do not interrupt it."""
        marks = self._thread.background.marks()
        if marks != self._judged:
            self._judged, self._is_off = marks, not self._thread.is_wanted(self._settings_now())
        return self._is_off or self._thread.background.is_stopped

    def _settings_now(self) -> Settings:
        try:
            return read_settings(self.repo.layout, self.repo.environ)
        except Refusal:
            return self.repo.settings

    def wait(self, timeout_s: float) -> None:
        """Sleep until the log changes, the time is over, or we stop."""
        if self._thread.rung.wait(max(0.0, timeout_s)):
            self._thread.rung.clear()

    def rest(self, seconds: float) -> None:
        """Sleep until the time is over, or we stop."""
        self._thread.background.rest(seconds)

    def ring(self) -> None:
        self._thread.background.ring()

    @property
    def rings(self) -> int:
        """How often the bell rang: if the number differs, the log has changed."""
        return self._thread.background.rings

    def is_at(self, state: str) -> None:
        """Set the state that the status shows."""
        self._thread.state = state

    def did(self, words: str = "", *, is_news: bool = True) -> None:
        """Record an action: `words` for the status and, if `is_news`, for the log."""
        self._thread.did(words, is_news)

    def failed(self, words: str) -> None:
        """Record that a part of the job failed; the rest continues."""
        self._thread.failed(words)


class _Thread(threading.Thread):
    def __init__(
        self,
        background: Background,
        name: str,
        is_wanted: Callable[[Settings], bool],
        run: Callable[[JobContext], None],
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.background, self.is_wanted, self._work = background, is_wanted, run
        self.rung = threading.Event()
        self.state = STARTING
        self._last_done, self._done_at_ns = "", 0
        self._last_error, self._failed_at_ns = "", 0
        self._failures = 0
        self._told, self._told_at_s = "", 0.0

    def status(self) -> dict[str, Any]:
        return {
            "state": self.state if self.is_alive() or self.state == STARTING else ENDED,
            "last_done": self._last_done,
            "last_done_at": show_wall(self._done_at_ns) if self._done_at_ns else "",
            "last_error": self._last_error,
            "last_error_at": show_wall(self._failed_at_ns) if self._failed_at_ns else "",
        }

    def did(self, words: str, is_news: bool) -> None:
        self._last_done, self._done_at_ns = words or self._last_done, time.time_ns()
        self._failures = 0
        if words and is_news:
            self.background.tell(f"{self.name}: {words}", is_trouble=False)

    def failed(self, words: str) -> None:
        self._last_error, self._failed_at_ns = words, time.time_ns()
        # Do not fill the log with the same line.
        if words != self._told or time.monotonic() - self._told_at_s > TELL_AGAIN_S:
            self._told, self._told_at_s = words, time.monotonic()
            self.background.tell(f"{self.name}: {words}", is_trouble=True)

    def run(self) -> None:
        shield_thread()
        while not self.background.is_stopped:
            try:
                self._open_and_work()
            except Exception as error:  # noqa: BLE001 - the one boundary of this surface: the job continues
                self._rest_after(error)
        self.state = ENDED

    def _open_and_work(self) -> None:
        repo, marks = self.background.open()
        with closing(repo):
            job = JobContext(self, repo, marks)
            if self.is_wanted(repo.settings):
                self.state = WAITING
                self._work(job)
                return
            self.state = OFF
            while job.goes_on():
                job.rest(SETTINGS_EVERY_S)

    def _rest_after(self, error: Exception) -> None:
        """Rest longer after each failure in a row; return at once when the settings change."""
        words = error.what if isinstance(error, Refusal) else f"{type(error).__name__}: {error}"
        self.failed(words)
        self.state = FAILING
        marks = self.background.marks()
        seconds = min(LONGEST_REST_S, FIRST_REST_S * 2**self._failures)
        self._failures = min(self._failures + 1, 16)
        deadline = time.monotonic() + seconds
        while (left_s := deadline - time.monotonic()) > 0 and self.background.marks() == marks:
            if not self.background.rest(min(left_s, SETTINGS_EVERY_S)):
                return
