"""`python -m benchmarks.radar {cases,history,planted,speed}`: how good the radar is, as printed tables.

The exit code says whether the measurements could be made, never how they came out.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.radar import cases
from benchmarks.radar.scenarios import HALVES, UNREAD
from lineclear.wiring.radar import compare_commits


def main() -> int:
    args = _arguments()
    if args.what == "cases":
        cases.run(compare_commits, (args.half,) if args.half else HALVES, show_wrong=args.show_wrong)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.radar", description="Evaluate the radar.")
    what = parser.add_subparsers(dest="what", required=True)
    labelled = what.add_parser("cases", help="precision and recall on labelled scenarios")
    labelled.add_argument("half", nargs="?", choices=HALVES, default="", help="default: both")
    labelled.add_argument("--show-wrong", action="store_true", help="list what came out wrong (only of `open`)")
    args = parser.parse_args()
    if args.what == "cases" and args.show_wrong and args.half != "open":
        parser.error(f"--show-wrong is for `cases open` alone: nobody reads the scenarios of `{UNREAD}`")
    return args


if __name__ == "__main__":
    sys.exit(main())
