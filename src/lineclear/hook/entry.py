"""`lineclear hook CLIENT EVENT`: reads the host's JSON, answers in the host's own protocol.

Never raises to the host and never exits with its "block" code: on any error of ours the call passes
(or, with `on_error = "closed"`, an edit is denied in words), and the error is in hook-errors.log.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

    from lineclear.clients.hooking.registry import Hooking
    from lineclear.core.claims import Request
    from lineclear.core.hooks import HookCall
    from lineclear.settings import Settings
    from lineclear.wiring.repo import Repo

MOST_INPUT_BYTES = 16 << 20
# Until the settings are read, and for reading the host's words.
FIRST_LIMIT_S = 5.0
# A new worktree is provisioned, by the project's own commands, too.
WORKTREE_LIMIT_S = 570.0
ERROR_LOG, MOST_LOG_BYTES = "hook-errors.log", 64 * 1024


class OutOfTime(BaseException):
    """Our own time limit: no `except Exception` on the way may take it for something else."""


class _Situation:
    """How far we came, for whoever has to end it."""

    __slots__ = ("call", "event", "hooking", "layout", "mirror", "settings")

    def __init__(self) -> None:
        self.event = ""
        self.mirror: _Mirror | None = None
        self.hooking: Hooking | None = None
        self.call: HookCall | None = None
        self.layout: Any = None
        self.settings: Settings | None = None


class _Mirror:
    """The files for agents that only read files, where somebody switched them on; loaded when needed."""

    __slots__ = ("is_stale",)

    def __init__(self) -> None:
        self.is_stale = False

    def refuse_locked(self, repo: Repo, request: Request) -> None:
        if repo.settings.mirror_locks:
            from lineclear.mirror.locks import refuse_foreign

            refuse_foreign(repo, request)

    def note_change(self) -> None:
        self.is_stale = True


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    """The exit code: 0, or 1 for a wrong command line, which every host takes for "go on"."""
    if len(argv) != 2:
        os.write(2, b"usage: lineclear hook CLIENT EVENT < the host's JSON\n")
        return 1
    now = _Situation()
    try:
        _limit_time(FIRST_LIMIT_S)
        output, code = _answer(now, argv[0], argv[1], environ)
        _limit_time(0)
    except BaseException as error:  # noqa: BLE001  the one boundary: an agent never suffers from our error
        _stop_clock()
        output, code = _after_error(now, argv, error)
    if not output and now.call is not None and now.call.event == "worktree_create":
        output = _plain_worktree(now, argv)
    try:
        while output:
            output = output[os.write(1, output) :]
    except OSError:
        pass  # the host no longer listens
    if now.mirror is not None and now.mirror.is_stale:
        _publish(now, argv, environ)
    return code


def _answer(now: _Situation, client: str, event: str, environ: Mapping[str, str]) -> tuple[bytes, int]:
    from lineclear.clients.hooking.registry import hooking

    found = hooking(client)
    if found is None:
        os.write(2, f"lineclear hook: unknown client {client!r}\n".encode("utf-8", "replace")[:300])
        return b"", 1
    now.event, now.hooking = event, found
    data = _read_input()
    if type(data) is not dict:
        raise ValueError("the host's JSON is no object")
    now.call = found.read_call(event, data)
    if now.call is None:
        return b"", 0
    return _respond(now, now.call, environ)


def _respond(now: _Situation, call: HookCall, environ: Mapping[str, str]) -> tuple[bytes, int]:
    from lineclear.wiring import hooking as wired

    now.layout = wired.layout_for(call, environ)
    if now.layout is None or now.hooking is None:
        return b"", 0
    now.settings = wired.settings_for(now.layout, environ)
    if not wired.is_coordinated(now.layout, now.settings):
        return b"", 0
    is_long = call.event == "worktree_create"
    _limit_time(WORKTREE_LIMIT_S if is_long else now.settings.hooks_timeout_ms / 1000)
    if now.settings.mirror_tasks or now.settings.mirror_coordination or now.settings.mirror_locks:
        now.mirror = _Mirror()
    reply = wired.respond(now.layout, now.settings, call, environ, now.mirror)
    return now.hooking.write_answer(now.event, reply)


def _plain_worktree(now: _Situation, argv: list[str]) -> bytes:
    """A client that asks for a worktree gets one, with or without us."""
    try:
        from lineclear.core.hooks import HookAnswer
        from lineclear.wiring.hooking_worktree import make_plain

        if now.hooking is None or now.call is None or now.layout is None:
            return b""
        reply = HookAnswer()
        reply.path = make_plain(now.layout, now.call.name)
        return now.hooking.write_answer(now.event, reply)[0]
    except BaseException as error:  # noqa: BLE001  as in main
        return _after_error(now, argv, error)[0]


def _publish(now: _Situation, argv: list[str], environ: Mapping[str, str]) -> None:
    """Others see what we did in their files at once. The answer is out, so that nothing here can harm it."""
    try:
        _limit_time(now.settings.hooks_timeout_ms / 1000 if now.settings is not None else FIRST_LIMIT_S)
        from lineclear.mirror.publishing import publish_quietly
        from lineclear.wiring.repo import Repo, open_store

        if now.settings is None:
            return
        repo = Repo(now.layout, now.settings, open_store(now.layout, now.settings), environ)
        try:
            publish_quietly(repo, wait_s=0)
        finally:
            repo.close()
        _limit_time(0)
    except BaseException as error:  # noqa: BLE001  as in main
        _stop_clock()
        try:
            _log(now, argv, error)
        except OSError:
            pass


def _read_input() -> Any:
    from lineclear.core.quick_json import read_json

    pieces, size = [], 0
    while piece := os.read(0, 1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_INPUT_BYTES:
            raise ValueError(f"the host's JSON is larger than {MOST_INPUT_BYTES} bytes")
    return read_json(b"".join(pieces).decode("utf-8", "replace"))


# -- time -------------------------------------------------------------------------------------


def _limit_time(seconds: float) -> None:
    """Raise OutOfTime then. Should that be swallowed, a second later the process ends without a word."""
    # The module behind `signal`, which itself costs an import of `enum`.
    from _signal import (  # type: ignore[import-not-found]
        ITIMER_REAL,
        SIGALRM,
        setitimer,
        signal,
    )

    if seconds:
        signal(SIGALRM, _out_of_time)
    setitimer(ITIMER_REAL, seconds, 1.0 if seconds else 0.0)


_alarms = 0


def _out_of_time(_number: int, _frame: object) -> None:
    global _alarms  # noqa: PLW0603  a signal handler has no other place
    _alarms += 1
    if _alarms > 1:
        os._exit(0)
    raise OutOfTime("out of time")


def _stop_clock() -> None:
    try:
        _limit_time(0)
    except BaseException:  # noqa: BLE001  the alarm may go off at this very moment
        pass


# -- errors -----------------------------------------------------------------------------------


def _after_error(now: _Situation, argv: list[str], error: BaseException) -> tuple[bytes, int]:
    try:
        _log(now, argv, error)
        if now.hooking is not None and _is_closed(now):
            from lineclear.core.hooks import HookAnswer
            from lineclear.core.refusals_hooks import hook_failed

            words = str(hook_failed(type(error).__name__))
            return now.hooking.write_answer(now.event, HookAnswer(is_denied=True, reason=words))
    except BaseException:  # noqa: BLE001  as in main
        pass
    return b"", 0


def _is_closed(now: _Situation) -> bool:
    from lineclear.core.hooks import BEFORE_EDIT

    is_edit = now.call is not None and now.call.event == BEFORE_EDIT
    return is_edit and now.settings is not None and now.settings.hooks_on_error == "closed"


def _log(now: _Situation, argv: list[str], error: BaseException) -> None:
    from lineclear.core.refusals import shorten

    if now.layout is None:
        return
    from time import gmtime, strftime

    trace, place = error.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename.rpartition("/")[2]
        place = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    at = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
    words = shorten(f"{type(error).__name__}: {error}", 300)
    line = f"{at} {shorten(' '.join(argv), 60)} {place} {words}\n".encode("utf-8", "replace")
    path = f"{now.layout.common_dir}/lineclear/{ERROR_LOG}"
    if os.path.exists(path) and os.path.getsize(path) > MOST_LOG_BYTES:
        os.replace(path, path + ".old")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, line)
    finally:
        os.close(fd)


def run(argv: list[str], environ: Mapping[str, str]) -> NoReturn:
    """As a program: nothing is collected on the way and nothing taken down at the end, which a process of a
    few milliseconds would pay for dearly. All output is written; the store is closed."""
    import gc

    gc.disable()
    os._exit(main(argv, environ))


if __name__ == "__main__":
    run(sys.argv[1:], os.environ)
