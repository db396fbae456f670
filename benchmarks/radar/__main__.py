"""`python -m benchmarks.radar {cases,history,repairs,planted,speed}`: print how good the radar is.

The exit code says whether the measurements could be made, never how they came out.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.radar import cases, history, repairs
from benchmarks.radar.repositories import VARIABLE, find_sources
from benchmarks.radar.scenarios import HALVES, UNREAD
from lineclear.wiring.radar import compare_commits


def main() -> int:
    args = _arguments()
    if args.what == "cases":
        cases.run(compare_commits, (args.half,) if args.half else HALVES, show_wrong=args.show_wrong)
    elif args.what == "history":
        history.run(
            compare_commits,
            args.sources,
            count=args.count,
            seed=args.seed,
            builds=args.builds,
            show=args.list,
        )
    elif args.what == "repairs":
        repairs.run(compare_commits, args.sources, count=args.count, seed=args.seed, show=args.list)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.radar", description="Evaluate the radar.")
    what = parser.add_subparsers(dest="what", required=True)
    labelled = what.add_parser("cases", help="precision and recall on labelled scenarios")
    labelled.add_argument("half", nargs="?", choices=HALVES, default="", help="default: both")
    labelled.add_argument(
        "--show-wrong", action="store_true", help="list what came out wrong (only of `open`)"
    )
    real = what.add_parser("history", help="alarms on real merges that git makes without a conflict")
    _add_sources(real)
    real.add_argument("--count", type=int, default=60, metavar="N", help="merges of each repository at most")
    real.add_argument("--builds", type=int, default=0, metavar="N", help="build the first N merges of each")
    real.add_argument("--list", action="store_true", help="list what interrupts, to be judged by a person")
    broken = what.add_parser("repairs", help="merges that went in broken: how many are seen")
    _add_sources(broken)
    broken.add_argument(
        "--count", type=int, default=300, metavar="N", help="merges of each repository to mine"
    )
    broken.add_argument("--list", action="store_true", help="list the mined ones")
    args = parser.parse_args()
    if args.what == "cases" and args.show_wrong and args.half != "open":
        parser.error(f"--show-wrong is for `cases open` alone: nobody reads the scenarios of `{UNREAD}`")
    if "repos" in args:
        args.sources = find_sources(args.repos)
        if not args.sources:
            parser.error(f"no git repository found: give --repos DIR, or set {VARIABLE}")
    return args


def _add_sources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--repos", nargs="+", default=[], metavar="DIR", help=f"directories of git repositories ({VARIABLE})"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the random choice of merges")


if __name__ == "__main__":
    sys.exit(main())
