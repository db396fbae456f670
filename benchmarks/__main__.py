"""`python -m benchmarks [NAME ...] [--quick] [--json | --markdown]`: measure, and print one table.

Each subject is a module with `TITLE` and `run(quick) -> Report`. The exit code says whether the
measurements could be made, never how they came out: time depends on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from importlib import import_module

from benchmarks.harness import Report, as_data, as_markdown, as_text, machine

SUBJECTS = (
    "claim",
    "overlap",
    "contention",
    "waiting",
    "replay",
    "start",
    "hook",
    "worktree",
    "snapshot",
    "stack",
    "queue",
    "mcp",
    "mcp_http",
    "supervisor",
    "background",
    "team",
    "parallel",
)


def main() -> int:
    args = _arguments()
    about = machine()
    plain = not (args.json or args.markdown)
    print(
        f"{about}{' (--quick: numbers are rough)' if args.quick else ''}",
        file=sys.stdout if plain else sys.stderr,
    )
    reports: dict[str, Report] = {}
    for name in args.names or SUBJECTS:
        began = time.monotonic()
        subject = import_module(f"benchmarks.{name}")
        report: Report = subject.run(args.quick)
        reports[subject.TITLE] = report
        took = f"{time.monotonic() - began:.0f} s, load average {os.getloadavg()[0]:.2f}"
        if plain:
            print(f"\n{as_text(subject.TITLE, report)}\n   [{name}: {took}]", flush=True)
        else:
            print(f"{name}: {took}", file=sys.stderr, flush=True)
    if args.json:
        print(json.dumps(as_data(reports, about), indent=2))
    elif args.markdown:
        print(as_markdown(reports, about))
    else:
        _print_summary(reports)
    return 0


def _print_summary(reports: dict[str, Report]) -> None:
    verdicts = [row.verdict for report in reports.values() for row in report.rows]
    print(f"\n{verdicts.count('ok')} targets ok, {verdicts.count('MISSED')} missed.")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure lineclear beside its floors."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(SUBJECTS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs, for a first look")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the numbers as JSON")
    form.add_argument(
        "--markdown", action="store_true", help="print the block for docs/explanation/performance.md"
    )
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in SUBJECTS]
    if unknown:
        parser.error(f"there is no subject {unknown[0]}; there are {', '.join(SUBJECTS)}")
    return args


if __name__ == "__main__":
    sys.exit(main())
