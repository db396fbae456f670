"""`python -m lineclear` and the installed `lineclear` command."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def main() -> int:
    argv = sys.argv[1:]
    if argv[:1] == ["hook"] and not {"-h", "--help"} & set(argv):
        # Its own way in: an agent waits for it at every edit.
        from lineclear.hook.entry import run as answer

        answer(argv[1:], os.environ)
    code, environ = _ask_server(argv)
    if code is not None:
        return code
    from lineclear.cli.main import run

    return run(argv, environ)


def _ask_server(argv: list[str]) -> tuple[int | None, Mapping[str, str]]:
    """Before anything heavy is loaded: a server that runs has it loaded."""
    from lineclear.cli.calling import command, is_worth_asking
    from lineclear.cli.index import is_served

    if is_served(argv) and is_worth_asking(os.environ):
        return command(argv, os.environ)
    return None, os.environ


if __name__ == "__main__":
    sys.exit(main())
