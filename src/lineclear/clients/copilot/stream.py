"""GitHub Copilot CLI: `copilot -p --output-format json`, one JSON line per event of the session."""

from __future__ import annotations

from lineclear.clients.launch import EDIT, FULL, Started, option, shell_prefixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.clients.json_values import Json
    from lineclear.clients.launch import Launch
    from lineclear.clients.stream_reader import Reader
    from lineclear.core.signs import Usage

PROGRAM = "copilot"
INSTALL = "npm install -g @github/copilot"
LOGIN = "copilot login"
TELLS_COST = False

EDITS = frozenset({"apply_patch", "create", "edit", "str_replace_editor"})
SHELLS = frozenset({"bash", "write_bash"})


def launch(asked: Launch) -> Started:
    argv = [*(asked.command or [PROGRAM]), "--output-format", "json", "--no-color", *_permissions(asked)]
    argv += option("--model", asked.model)
    # One option for both: an id that is unknown begins a session.
    argv += option("--session-id", asked.resume_session or asked.session)
    return Started(argv, session=asked.resume_session or asked.session)


def _permissions(asked: Launch) -> list[str]:
    if asked.permissions == FULL:
        return ["--allow-all-tools", "--allow-all-paths"]
    if asked.permissions != EDIT:
        return []
    # Of other commands than git it knows only the program, not what it is asked to do.
    rules = [
        prefix if prefix.startswith("git ") else prefix.partition(" ")[0] for prefix in shell_prefixes(asked)
    ]
    shells = [f"shell({rule}:*)" for rule in dict.fromkeys(rules)]
    return [f"--allow-tool={tool}" for tool in ("write", "lineclear", *shells)]


def reader(worktree: str = "", before: Usage | None = None) -> Reader:
    from lineclear.clients.stream_reader import Reader

    return Reader("Copilot CLI", _understand, worktree=worktree, before=before)


def _understand(event: Json, out: Reader) -> None:
    kind, data = event.text("type"), event.inner("data")
    if kind == "session.tools_updated":
        out.model(data.text("model"))
    elif kind == "assistant.message":
        out.said(data.text("content"))
    elif kind == "tool.execution_start":
        tool = data.text("toolName")
        out.call(
            data.text("toolCallId"),
            tool,
            data.value("arguments"),
            is_edit=tool in EDITS,
            is_shell=tool in SHELLS,
        )
    elif kind == "tool.execution_complete":
        _tool_result(data, out)
    elif kind in ("session.error", "model.call_failure"):
        status = max(data.count("statusCode"), data.count("status"), 0)
        out.trouble(data.text("message") or data.text("errorMessage") or data.text("error"), status=status)
    elif kind == "result":
        _result(event, out)


def _tool_result(data: Json, out: Reader) -> None:
    failed = data.inner("shellExecution").count("exitCode") > 0
    answer = data.inner("result").text("content") or data.inner("error").text("message")
    out.call_done(data.text("toolCallId"), data.flag("success") and not failed, answer)


def _result(event: Json, out: Reader) -> None:
    """The only line with the session's id. Tokens are nowhere."""
    out.session(event.text("sessionId"))
    code = event.count("exitCode")
    out.ended(code == 0, "" if code == 0 else out.last_trouble)
