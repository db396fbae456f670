"""Runs the merge rules in child processes that stay warm, and turns a crash into an answer about one file.

A child that crashes, or uses more processor time or memory than it may, is replaced; the file that it was
working on gets a `RuleFailure`. Children are started, never forked: `serve` has threads. A child ends by
itself when its input ends, so nothing is left behind if we are killed.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, cast

from lineclear.host.spawning import spawn
from lineclear.merge.rule_jobs import CPU_SECONDS, MEMORY_BYTES, RuleFailure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from lineclear.merge.rule_jobs import Job

# With fewer files a second process costs more than it saves.
_WORTH_SPREADING = 8
# The child limits its own processor time; this is for one that does not run at all.
_PATIENCE_S = 300.0
_MOST_REMEMBERED = 256
_HEAD_BYTES = 8  # as in merge_child
_COMMAND = (sys.executable, "-P", "-m", "lineclear.host.merge_child")


class MergeProcesses:
    """Implements the port `MergeRules`. Threads may share it: a child works for one caller at a time."""

    def __init__(self, command: Sequence[str] = _COMMAND, patience_s: float = _PATIENCE_S) -> None:
        self.command, self._patience_s = command, patience_s
        self.idle: list[_Child] = []
        self._lock = threading.Lock()
        # A stack is built again and again: what crashed once need not crash again.
        self._known: dict[bytes, RuleFailure] = {}

    def close(self) -> None:
        """End the children that have nothing to do. The next job starts a new one."""
        with self._lock:
            idle, self.idle = self.idle, []
        for child in idle:
            child.end()

    def run(self, jobs: Sequence[Job]) -> list[Any]:
        """The answers in the order of the jobs; a `RuleFailure` where the rules failed."""
        answers: list[Any] = [None] * len(jobs)
        waiting = deque(range(len(jobs)))
        most = 1 if len(jobs) < _WORTH_SPREADING else min(len(jobs), os.cpu_count() or 1)
        busy: dict[int, tuple[int, bytes, _Child]] = {}
        try:
            while waiting or busy:
                while waiting and len(busy) < most:
                    at = waiting.popleft()
                    why_not = jobs[at].why_not()
                    if why_not:
                        answers[at] = RuleFailure(why_not)
                        continue
                    data = json.dumps(jobs[at].to_json()).encode()
                    if data in self._known:
                        answers[at] = self._known[data]
                        continue
                    child = self._take()
                    busy[child.fd] = (at, data, child)
                    child.send(data)
                ready = _readable(list(busy), self._patience_s) if busy else []
                if not ready:
                    for _, _, child in busy.values():
                        child.stop()
                for fd in ready:
                    at, data, child = busy[fd]
                    found = child.take_answer()
                    del busy[fd]
                    if found is None:
                        waiting.appendleft(at)  # it had gone home just before the job came
                    else:
                        answers[at] = self._finish(jobs[at], data, child, found)
        finally:
            for _, _, child in busy.values():
                child.end()
        return answers

    def _finish(self, job: Job, data: bytes, child: _Child, found: dict[str, Any]) -> Any:
        if "answer" in found:
            with self._lock:
                self.idle.append(child)
            return job.read_answer(found["answer"])
        child.end()
        failure = RuleFailure(_reason(found))
        if found["failed"] != "killed":  # the system may have ended it for no fault of the file
            while len(self._known) >= _MOST_REMEMBERED:
                self._known.pop(next(iter(self._known)), None)
            self._known[data] = failure
        return failure

    def _take(self) -> _Child:
        while True:
            with self._lock:
                child = self.idle.pop() if self.idle else None
            if child is None:
                return _Child(self.command, self._patience_s)
            if child.is_alive():
                return child
            child.end()


class _Child:
    """One process. After anything but a good answer it must be ended."""

    def __init__(self, command: Sequence[str], patience_s: float) -> None:
        self._patience_s = patience_s
        self._is_ready = self._is_late = False
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        theirs, self.to = os.pipe()
        self.fd, answers = os.pipe()
        try:
            # In a group of its own, so that Ctrl-C in a terminal does not reach it.
            fds = {0: theirs, 1: answers, 2: null}
            self.pid = spawn(command[0], command, os.environ, fds=fds, own_group=True)
        except OSError:
            os.close(self.to)
            os.close(self.fd)
            raise
        finally:
            for fd in (null, theirs, answers):
                os.close(fd)
        os.set_blocking(self.to, False)

    def is_alive(self) -> bool:
        """An idle child says nothing: if there is something to read, it is the end."""
        return not _readable([self.fd], 0)

    def send(self, data: bytes) -> None:
        data = len(data).to_bytes(_HEAD_BYTES, "big") + data
        waiter = select.poll()
        waiter.register(self.to, select.POLLOUT)
        try:
            while data:
                if not waiter.poll(self._patience_s * 1000):
                    return self.stop()
                data = data[os.write(self.to, data) :]
        except BrokenPipeError:
            return None  # it has ended, and take_answer says how

    def stop(self) -> None:
        """Kill it because it takes too long."""
        self._is_late = True
        os.kill(self.pid, signal.SIGKILL)

    def take_answer(self) -> dict[str, Any] | None:
        """None if it ended of its own accord before it saw the job."""
        data = self._message()
        if data and not self._is_ready:
            self._is_ready = True
            data = self._message()
        if data:
            return cast("dict[str, Any]", json.loads(data))
        status = self._wait()
        if not self._is_ready:
            raise ChildProcessError(f"the process for merge rules did not start (status {status})")
        if self._is_late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
            return {"failed": "time"}
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            what = signal.Signals(number).name
            return {"failed": "killed" if number == signal.SIGKILL else "crash", "what": what}
        code = os.WEXITSTATUS(status)
        return {"failed": "crash", "what": f"exit code {code}"} if code else None

    def end(self) -> None:
        """Calling it again has no effect."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            self._wait()
        for fd in (self.to, self.fd):
            if fd >= 0:
                os.close(fd)
        self.to = self.fd = -1

    def _wait(self) -> int:
        pid, self.pid = self.pid, 0
        return os.waitpid(pid, 0)[1] if pid else 0

    def _message(self) -> bytes:
        size = int.from_bytes(self._read(_HEAD_BYTES), "big")
        data = self._read(size)
        return data if len(data) == size else b""

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            if not _readable([self.fd], self._patience_s):
                self.stop()
            part = os.read(self.fd, min(size, 1 << 20))
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _readable(fds: list[int], timeout_s: float) -> list[int]:
    waiter = select.poll()
    for fd in fds:
        waiter.register(fd, select.POLLIN)
    return [fd for fd, _ in waiter.poll(timeout_s * 1000)]


def _reason(found: dict[str, Any]) -> str:
    if found["failed"] == "time":
        return f"the merge rules needed more than {CPU_SECONDS} s of processor time for this file"
    if found["failed"] == "memory":
        return f"the merge rules needed more than {MEMORY_BYTES >> 30} GB of memory for this file"
    return f"the merge rules crashed on this file ({found['what']})"


# One set for the whole process: a child keeps nothing between jobs, and starting one costs more than a job.
MERGE_PROCESSES = MergeProcesses()
