"""`python -m lineclear` and the installed `lineclear` command."""

from __future__ import annotations

import os
import sys


def main() -> int:
    argv = sys.argv[1:]
    if argv[:1] == ["hook"] and not {"-h", "--help"} & set(argv):
        # Its own way in: an agent waits for it at every edit.
        from lineclear.hook.entry import run as answer

        answer(argv[1:], os.environ)
    from lineclear.cli.main import run

    return run(argv)


if __name__ == "__main__":
    sys.exit(main())
