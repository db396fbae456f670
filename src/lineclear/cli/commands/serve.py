"""serve: run a server for hooks, commands, tools over HTTP and background work.

Only the server itself imports the web framework: it takes half a second to load.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from lineclear.cli.command import Command
from lineclear.cli.parser import whole_number
from lineclear.cli.server_client import ask
from lineclear.core.words.refusals import refuse
from lineclear.host import server_address
from lineclear.host.spawning import start_detached

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lineclear.cli.command import Context
    from lineclear.host.server_address import ServerAddress

START_WITHIN_S, STOP_WITHIN_S = 20.0, 20.0


def _declare(parser: ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--detach", action="store_true", help="return once it is running, and leave it in the background"
    )
    what.add_argument("--status", action="store_true", help="show its address and what it does")
    what.add_argument("--stop", action="store_true", help="stop it; running work is finished or handed back")
    what.add_argument(
        "--install", action="store_true", help="install a service that starts with your session"
    )
    what.add_argument("--uninstall", action="store_true", help="stop and remove that service")
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on (default: only this machine)"
    )
    parser.add_argument(
        "--port",
        type=whole_number(0, 65_535),
        default=-1,
        help="the port; 0 for any (default: the last one used)",
    )
    parser.add_argument(
        "--name", action="append", default=[], dest="names", metavar="HOST",
        help="another host name that clients use",
    )  # fmt: skip
    parser.add_argument(
        "--tools", choices=("default", "all"), default="default", help="as for `lineclear mcp`"
    )


def serve(context: Context, args: Namespace) -> int:
    if args.status:
        return _status(context)
    if args.stop:
        return _stop(context)
    if args.install or args.uninstall:
        return _service(context, is_wanted=args.install)
    context.warn_of_idle_settings()
    return _detach(context, args) if args.detach else _serve(context, args)


def _serve(context: Context, args: Namespace) -> int:
    from anyio import to_thread

    from lineclear.cli.command_runner import CommandRunner
    from lineclear.hook.serving import Hooks
    from lineclear.serve.authentication import plain_environ
    from lineclear.serve.background import Background
    from lineclear.serve.running import ServerPlan, run
    from lineclear.wiring.repo import open_repo, settings_root

    repo = context.repo
    root, environ = settings_root(repo.layout), plain_environ(context.environ)
    runner = CommandRunner(environ, cwd=root, is_bond=False)

    async def admit(token: str) -> tuple[str, str, str]:
        return await to_thread.run_sync(runner.admit, token)

    def say(address: ServerAddress) -> None:
        context.out.stream(
            {"url": address.url, "socket": address.socket, "pid": address.pid, "repository": root},
            f"lineclear serves {root} at {address.url} (tools: {address.url}/mcp). Press Ctrl-C to stop.",
        )

    plan = ServerPlan(
        repo.state_directory, root, environ, host=args.host, port=args.port, names=tuple(args.names),
        is_all=args.tools == "all",
    )  # fmt: skip
    hooks = Hooks(repo.layout.common_dir)
    work = Background(lambda: open_repo(root, environ))
    try:
        return run(plan, runner, hooks.answer, admit, work, say)
    finally:
        hooks.close()


def _detach(context: Context, args: Namespace) -> int:
    directory = context.repo.state_directory
    before = server_address.read_address(directory)
    argv = [sys.executable, "-P", "-m", "lineclear", "serve", "-C", context.cwd, "--host", args.host]
    argv += ["--tools", args.tools]
    if args.port >= 0:
        argv += ["--port", str(args.port)]
    for name in args.names:
        argv += ["--name", name]
    if server_address.is_held(directory):
        raise refuse("serve.running", url=before.url if before else "", pid=before.pid if before else 0)
    start_detached(argv, context.environ)
    end = time.monotonic() + START_WITHIN_S
    while time.monotonic() < end:
        found = server_address.read_address(directory)
        # An address with the old key was left behind, or belongs to `lineclear run`.
        if (
            found is not None
            and (before is None or found.key != before.key)
            and server_address.is_held(directory)
        ):
            context.out.data(_as_data(found), f"lineclear is serving at {found.url} (process {found.pid}).")
            return 0
        time.sleep(0.02)
    raise refuse("serve.start", seconds=int(START_WITHIN_S))


def _status(context: Context) -> int:
    found = server_address.read_address(context.repo.state_directory)
    reply = ask(found, "GET", "/") if found is not None else None
    if found is None or reply is None:
        raise refuse("serve.absent")
    data = reply["data"]
    lines = [f"lineclear {data['version']} serves {data['repository']} at {found.url} (process {found.pid})."]
    lines += [f"  {name}: {work['state']}" for name, work in data["work"].items()]
    context.out.data({**data, "socket": found.socket}, *lines)
    return 0


def _stop(context: Context) -> int:
    directory = context.repo.state_directory
    found = server_address.read_address(directory)
    if found is None or ask(found, "POST", "/stop") is None:
        if not server_address.is_held(directory):
            raise refuse("serve.absent")
        raise refuse("serve.stuck", pid=found.pid if found else 0, seconds=0)
    end = time.monotonic() + STOP_WITHIN_S
    while server_address.is_held(directory):
        if time.monotonic() > end:
            raise refuse("serve.stuck", pid=found.pid, seconds=int(STOP_WITHIN_S))
        time.sleep(0.02)
    context.out.data({"pid": found.pid}, "The server has ended.")
    return 0


def _service(context: Context, *, is_wanted: bool) -> int:
    from lineclear.serve import installing

    if not context.repo.caller(context.given).is_person:
        raise refuse("person.only", what="change the services of your session", agent=context.caller.name)
    if is_wanted:
        report = installing.install(context.repo, context.environ)
        verb = "was written and started" if report["changed"] else "is up to date"
        lines = [report["text"].rstrip("\n"), f"{report['path']} {verb}."]
    else:
        report = installing.uninstall(context.repo, context.environ)
        verb = "is removed" if report["removed"] else "does not exist"
        lines = [f"{report['path']} {verb}."]
    context.out.data(report, *lines, *report["notes"])
    return 0


def _as_data(address: ServerAddress) -> dict[str, object]:
    return {"url": address.url, "socket": address.socket, "pid": address.pid}


COMMANDS = {"serve": Command(serve, _declare)}
