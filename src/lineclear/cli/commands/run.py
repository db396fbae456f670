"""run, attach, stop, pause, resume: the supervisor and its agents.

Only `run` imports the server that answers hooks: it takes half a second to load.
"""

from __future__ import annotations

from contextlib import contextmanager
from time import sleep
from typing import TYPE_CHECKING

from lineclear.app.runs import records
from lineclear.app.runs.reporting import report
from lineclear.app.runs.workers import RunRequest
from lineclear.app.tasks import known_task
from lineclear.cli.command import Command
from lineclear.cli.parser import task_number
from lineclear.cli.render import TextTable
from lineclear.cli.run_display import RunDisplay
from lineclear.core.words.computed.runs import nothing_to_run
from lineclear.core.words.refusals import refuse
from lineclear.core.words.row import FAILED, TIMED_OUT
from lineclear.wiring.checks import require_gates
from lineclear.wiring.runs import follow_run, supervise, supervision_of
from lineclear.wiring.starting import require_git

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from typing import Any

    from lineclear.app.runs.supervisor import Supervisor
    from lineclear.cli.command import Context

MOST_AGENTS, MOST_REASONS = 200, 20


def _declare_run(parser: ArgumentParser) -> None:
    parser.usage = "lineclear run [-n N] [TASK ...] [--client NAME | -- COMMAND ...]"
    parser.add_argument(
        "tasks",
        nargs="*",
        type=task_number,
        metavar="TASK",
        help="the tasks to work on (default: every ready task)",
    )
    parser.add_argument(
        "-n", "--agents", type=int, default=0, metavar="N", help="how many agents work at once"
    )
    parser.add_argument(
        "--client", default="", metavar="NAME", help="a client, or a worker from lineclear.toml"
    )
    parser.add_argument("--model", default="", help="the model to start the clients with")
    parser.add_argument(
        "--stream",
        default="",
        choices=("plain", "lineclear"),
        help="the output of COMMAND: text, or lineclear's JSON lines",
    )
    parser.add_argument("--stay", action="store_true", help="wait for more tasks when all are done")
    parser.add_argument("--no-land", action="store_true", help="leave finished branches for others to land")
    parser.add_argument("--join", action="store_true", help="watch the supervisor that is already running")


def run(context: Context, args: Namespace) -> int:
    if not context.caller.is_person:
        raise refuse("person.only", what="start a supervisor", agent=context.caller.name)
    board = RunDisplay(context.out)
    if args.join:
        return _join(context, board)
    if not 0 <= args.agents <= MOST_AGENTS:
        raise refuse("input.bad", name="-n", given=str(args.agents), why=f"it must be 1 to {MOST_AGENTS}")
    context.store.read(lambda view: [known_task(view, number) for number in args.tasks])
    require_git()
    context.warn_of_idle_settings()
    if not args.no_land:
        require_gates(context.repo)
    request = RunRequest(
        count=args.agents,
        client=args.client,
        command=args.command,
        model=args.model,
        stream=args.stream,
        tasks=args.tasks,
        is_staying=args.stay,
        lands=False if args.no_land else None,
    )

    def show(agents: list[dict[str, Any]]) -> None:
        board.show(agents)
        context.publish()

    with board:
        supervisor = supervise(
            context.repo, context.caller, request, board.tell, show, beside=_answering_hooks(context)
        )
    return _report(context, supervisor)


@contextmanager
def _answering_hooks(context: Context) -> Iterator[None]:
    from anyio import to_thread

    from lineclear.cli.command_runner import CommandRunner
    from lineclear.hook.serving import Hooks
    from lineclear.serve.authentication import plain_environ
    from lineclear.serve.hook_server import HookServer
    from lineclear.wiring.repo import settings_root

    repo, environ = context.repo, plain_environ(context.environ)
    runner = CommandRunner(environ, cwd=settings_root(repo.layout), is_bond=False)
    hooks = Hooks(repo.layout.common_dir, saves=True)

    async def admit(token: str) -> tuple[str, str, str]:
        return await to_thread.run_sync(runner.admit, token)

    try:
        with HookServer(repo.state_directory, environ, runner, hooks.answer, admit):
            yield
    finally:
        hooks.close()
        runner.close()


def _join(context: Context, board: Any) -> int:
    """Watch another process's supervisor until it ends or until interrupted (it keeps working)."""
    supervision = supervision_of(context.repo)
    found = supervision.read_status()
    if found is None:
        raise refuse("run.none")
    with board:
        board.greet(found["agents"])
        while found is not None:
            board.show(found["agents"])
            sleep(1)
            found = supervision.read_status()
    context.out.data({"ended": True}, "The supervisor has ended. `lineclear` shows the state of the tasks.")
    return 0


def _report(context: Context, supervisor: Supervisor) -> int:
    facts = context.store.read(lambda view: report(view, supervisor))
    if not supervisor.is_stopping and not facts["runs"] and not facts["landed"]:
        if supervisor.refusal is not None:
            raise supervisor.refusal
        if not facts["broken"]:
            raise nothing_to_run(facts["blocked"], facts["ended"])
    context.out.data(facts, *_report_lines(facts))
    if supervisor.is_stopping:
        return 130
    return FAILED if facts["unfinished"] or facts["broken"] else 0


def _report_lines(facts: dict[str, Any]) -> list[Any]:
    rows = [[r["agent"], r["task"], r["result"], r["why"]] for r in facts["runs"]]
    lines: list[Any] = [TextTable(["AGENT", "TASK", "RESULT", "WHY"], rows)] if rows else []
    if facts["landed_before"]:
        lines.append(f"Landed, from earlier work: {', '.join(facts['landed_before'])}.")
    if facts["runs"] or facts["landed"]:
        lines += [f"Not started: {reason}." for reason in facts["blocked"][:MOST_REASONS]]
    if facts["is_interrupted"]:
        lines.append("Stopped. All work is kept; `lineclear run` continues where this one stopped.")
    return lines


# -- one agent --------------------------------------------------------------------------------


def _declare_agent(parser: ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT")


def _declare_stop(parser: ArgumentParser) -> None:
    _declare_agent(parser)
    parser.add_argument("--hard", action="store_true", help="kill it immediately instead of asking it to end")


def stop(context: Context, args: Namespace) -> int:
    return _ask(context, args.agent, records.STOP_HARD if args.hard else records.STOP)


def pause(context: Context, args: Namespace) -> int:
    return _ask(context, args.agent, records.PAUSE)


def resume(context: Context, args: Namespace) -> int:
    return _ask(context, args.agent, records.RESUME)


def _ask(context: Context, agent: str, what: str) -> int:
    """Ask the supervisor and wait until it has acted; without a supervisor, stop the agent here."""
    if not context.caller.is_person:
        raise refuse("person.only", what=f"{what} an agent", agent=context.caller.name)
    answer = supervision_of(context.repo).ask_and_wait(context.caller, agent, what)
    context.out.data(answer, answer["words"])
    return 0 if answer["is_done"] else TIMED_OUT


def _declare_attach(parser: ArgumentParser) -> None:
    _declare_agent(parser)
    parser.add_argument("--raw", action="store_true", help="the client's own output, byte for byte")
    parser.add_argument("--all", action="store_true", help="start at the beginning, not at the end")


def attach(context: Context, args: Namespace) -> int:
    for item in follow_run(context.repo, args.agent, is_raw=args.raw, is_whole=args.all):
        context.out.stream(item, item["text"])
    return 0


COMMANDS = {
    "run": Command(run, _declare_run, wraps_command=True),
    "attach": Command(attach, _declare_attach),
    "stop": Command(stop, _declare_stop),
    "pause": Command(pause, _declare_agent),
    "resume": Command(resume, _declare_agent),
}
