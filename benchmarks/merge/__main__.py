"""`python -m benchmarks.merge [--cases DIR] [--mirror DIR] [--only TEXT] [--speed]`: score the merge engine.

Cases are rebuilt from public repositories and never stored here. The exit code is 1 when the judge found
a violation or when a clean merge of git's came out changed: those two are promises, the rest are numbers.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter

from benchmarks.merge.cases import load_cases
from benchmarks.merge.clean import check_clean_merges
from benchmarks.merge.judge import judge, tokens
from benchmarks.merge.speed import report as size_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from benchmarks.merge.cases import Case


class Row:
    """One case and how it came out: state is open, clean or crash."""

    __slots__ = ("case", "state", "is_equal", "faults", "cpu_ms", "rules", "verdict", "text")

    def __init__(self, case: Case) -> None:
        self.case = case
        self.state, self.is_equal, self.cpu_ms = "open", False, 0.0
        self.faults: list[str] = []
        self.rules: list[str] = []
        self.verdict = self.text = ""


def run_case(case: Case) -> Row:
    from lineclear.merge import merge_texts

    row = Row(case)
    began = time.process_time()
    try:
        result = merge_texts(case.path, case.base, case.left, case.right, git_text=case.git_text)
    except Exception as error:  # noqa: BLE001 - a crash of the engine is a result, not the end of the run
        row.state, row.faults = "crash", [f"crash: {type(error).__name__}: {error}"]
        return row
    row.cpu_ms = (time.process_time() - began) * 1000
    row.text, row.verdict = result.text, result.verdict
    row.rules = sorted({rule for _, rule in result.rules})
    if result.is_clean:
        row.state = "clean"
        row.is_equal = tokens(result.text) == tokens(case.resolved)
        is_gits = result.text == case.git_text
        row.faults = [] if is_gits else judge(case.path, case.base, case.left, case.right, result.text)
    return row


def table(rows: list[Row]) -> list[str]:
    lines = [f"{'':34}{'files':>6}{'resolved':>10}{'token-equal':>13}{'of resolved':>13}{'violations':>12}"]
    groups: dict[str, list[Row]] = {"all": rows}
    for row in rows:
        groups.setdefault(f"category {row.case.category}", []).append(row)
    for row in rows:
        groups.setdefault(f"language {row.case.language}", []).append(row)
    for name, members in groups.items():
        lines.append(_line(name, members))
    return lines


def _line(name: str, rows: list[Row]) -> str:
    done = sum(row.state == "clean" for row in rows)
    equal = sum(row.is_equal for row in rows)
    wrong = sum(bool(row.faults) for row in rows)
    share = f"{100 * equal / done:.0f}%" if done else "-"
    of_all = f"{done:5} {100 * done / len(rows):3.0f}%{equal:8} {100 * equal / len(rows):3.0f}%"
    return f"{name[:34]:34}{len(rows):6}{of_all}{share:>13}{wrong:12}"


def details(rows: list[Row]) -> list[str]:
    lines = ["", "violations:"]
    for row in rows:
        for fault in row.faults:
            lines.append(f"  {row.case.id} {row.case.path}: {fault}   [{', '.join(row.rules)}]")
    rules = Counter(fault.split(":")[0] for row in rows for fault in {f.split(":")[0] for f in row.faults})
    lines += [
        "",
        "by rule: " + (", ".join(f"{rule} {count}" for rule, count in rules.most_common()) or "none"),
    ]
    lines += ["", "clean, but not what people made:"]
    for row in rows:
        if row.state == "clean" and not row.is_equal:
            lines.append(f"  {row.case.id} {row.case.path} ({row.case.category}) [{', '.join(row.rules)}]")
    lines += ["", "resolved and equal:"]
    for row in rows:
        if row.is_equal:
            lines.append(f"  {row.case.id} {row.case.path} ({row.case.category}) [{', '.join(row.rules)}]")
    lines += ["", "left as conflicts:"]
    for row in rows:
        if row.state == "open":
            lines.append(f"  {row.case.id} {row.case.path} ({row.case.category}) {row.verdict[:120]}")
    return lines


def speed(rows: list[Row]) -> str:
    slow = max(rows, key=lambda row: row.cpu_ms)
    total = sum(row.cpu_ms for row in rows)
    which = f"{slow.case.id}, {max(len(slow.case.left), len(slow.case.right)) // 1000} KB"
    return f"CPU: {total / len(rows):.1f} ms a file, slowest {slow.cpu_ms:.0f} ms ({which})"


def main() -> int:
    args = _arguments()
    failed = False
    if args.speed:
        print(size_report())
    if args.cases:
        rows = [run_case(case) for case in load_cases(args.cases, args.only)]
        failed = any(row.faults for row in rows)
        report = [*table(rows), "", speed(rows)]
        print("\n".join(report))
        full = "\n".join([*report, *details(rows), ""])
        if args.report:
            with open(args.report, "w", encoding="utf-8") as file:
                file.write(full)
        else:
            print("\n".join(details(rows)))
        if args.out:
            _write_out(args.out, rows)
    if args.mirror:
        failed = check_clean_merges(args.mirror, args.merges) or failed
    return int(failed)


def _write_out(directory: str, rows: list[Row]) -> None:
    os.makedirs(directory, exist_ok=True)
    for row in rows:
        with open(
            os.path.join(directory, f"{row.case.id}.{row.state}"), "w", encoding="utf-8", newline=""
        ) as file:
            file.write(row.text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.merge")
    parser.add_argument(
        "--cases", default=os.environ.get("LINECLEAR_MERGE_CASES", ""), help="directory of cases"
    )
    parser.add_argument(
        "--mirror", default="", help="directory of git repositories: replay merges git makes cleanly"
    )
    parser.add_argument("--merges", type=int, default=300, help="merges to replay per repository")
    parser.add_argument("--only", default="", help="cases whose id, path or category holds this text")
    parser.add_argument("--report", default="", help="write the full report to this file")
    parser.add_argument("--out", default="", help="write every merged text into this directory")
    parser.add_argument("--speed", action="store_true", help="also time conflicted files from 10 to 1,000 KB")
    args = parser.parse_args()
    if not args.cases and not args.mirror and not args.speed:
        parser.error("give --cases DIR (or LINECLEAR_MERGE_CASES), --mirror DIR or --speed")
    return args


if __name__ == "__main__":
    sys.exit(main())
