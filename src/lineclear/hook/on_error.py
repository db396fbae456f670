"""An error of ours, or a call that we cannot read: log it, and let the call pass unless `hooks.on_error` is
"closed"."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.hook.answering import Situation

ERROR_LOG, MOST_LOG_BYTES = "hook-errors.log", 64 * 1024
# What clients call the event before a tool. If its JSON cannot be read, the tool may be an edit.
BEFORE_TOOL = frozenset(("PreToolUse", "preToolUse", "BeforeTool"))


def after_error(now: Situation, error: BaseException) -> tuple[bytes, int]:
    """Log the error. The call passes, or an edit is denied with a reason if the settings say "closed"."""
    try:
        if now.layout is None:
            _find_repository(now)
        log(now, error)
        if now.hooking is not None and _is_closed(now):
            from lineclear.core.agents.hooks import HookAnswer
            from lineclear.core.words.refusals import refuse

            words = str(refuse("hook.failed", error=type(error).__name__))
            return now.hooking.write_answer(now.event, HookAnswer(is_denied=True, reason=words)), 0
    except BaseException:  # noqa: BLE001  our error must never stop an agent
        pass
    return b"", 0


def _find_repository(now: Situation) -> None:
    """For a call that could not be read: the repository is the one that the hook was started in."""
    from lineclear.core.agents.hooks import HookCall
    from lineclear.wiring.hooks import is_coordinated, layout_for
    from lineclear.wiring.repo import read_settings

    layout = layout_for(HookCall(now.client, now.event), now.environ, now.cwd)
    if layout is not None:
        settings = read_settings(layout, now.environ, for_agent=True)
        if is_coordinated(layout, settings):
            now.layout, now.settings = layout, settings


def _is_closed(now: Situation) -> bool:
    from lineclear.core.agents.hooks import BEFORE_EDIT

    is_edit = now.call.event == BEFORE_EDIT if now.call is not None else now.event in BEFORE_TOOL
    return is_edit and now.settings is not None and now.settings.hooks_on_error == "closed"


def log(now: Situation, error: BaseException) -> None:
    from lineclear.core.words.refusals import shorten

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
    line = f"{at} {shorten(f'{now.client} {now.event}', 60)} {place} {words}\n".encode("utf-8", "replace")
    path = f"{now.layout.common_dir}/lineclear/{ERROR_LOG}"
    if os.path.exists(path) and os.path.getsize(path) > MOST_LOG_BYTES:
        os.replace(path, path + ".old")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, line)
    finally:
        os.close(fd)
