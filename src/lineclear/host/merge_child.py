"""The program of a merge child: reads a job, runs the merge rules within limits, answers, waits for the next.

The parsers are C code, and anybody may have written the text that they read. A crash ends only this process.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import sys
import time
from typing import TYPE_CHECKING

from lineclear.merge.rule_jobs import CPU_SECONDS, MEMORY_BYTES, run_job

if TYPE_CHECKING:
    from typing import Any

_STACK_BYTES = 16 << 20
_IDLE_MS = 300_000
_HEAD_BYTES = 8


def main() -> int:
    """Ends at the end of its input, or when nobody has had a job for it for some minutes."""
    answers = os.dup(1)
    os.dup2(2, 1)  # nothing that a library prints may get between the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when it ends
    _set_limits()
    _send(answers, {"ready": True})
    while (job := _next_job()) is not None:
        _allow_more_time()
        _send(answers, _answer(job))
    return 0


def _answer(job: list[Any]) -> dict[str, Any]:
    try:
        return {"answer": run_job(job)}
    except MemoryError:
        return {"failed": "memory"}
    except Exception as error:  # noqa: BLE001  the boundary: any rule may have any fault
        return {"failed": "error", "what": f"{type(error).__name__} in {_place(error)}"}


def _place(error: BaseException) -> str:
    """The file and line of the rule that raised it."""
    trace = error.__traceback__
    place = ""
    while trace is not None:
        place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _set_limits() -> None:
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_STACK, _STACK_BYTES)
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    gc.freeze()


def _allow_more_time() -> None:
    """The limit counts from the start of the process. A process that exceeds it is killed."""
    _limit(resource.RLIMIT_CPU, int(time.process_time()) + 1 + CPU_SECONDS)


def _limit(what: int, most: int) -> None:
    try:
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    except (OSError, ValueError):
        pass  # not every system has every limit; the parent still watches the clock


def _next_job() -> list[Any] | None:
    waiter = select.poll()
    waiter.register(0, select.POLLIN)
    if not waiter.poll(_IDLE_MS):
        return None
    size = int.from_bytes(_read(_HEAD_BYTES), "big")
    data = _read(size)
    return json.loads(data) if data else None


def _read(size: int) -> bytes:
    """That many bytes; fewer only at the end of the input."""
    parts = []
    while size and (part := os.read(0, min(size, 1 << 20))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _send(fd: int, value: dict[str, Any]) -> None:
    data = json.dumps(value).encode()
    data = len(data).to_bytes(_HEAD_BYTES, "big") + data
    while data:
        data = data[os.write(fd, data) :]


if __name__ == "__main__":
    sys.exit(main())
