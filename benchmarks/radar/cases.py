"""`python -m benchmarks.radar cases [open|unread]`: precision and recall on labelled scenarios."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.radar.scenarios import HALVES, OPEN, ROOT, commit_all, load_scenarios
from benchmarks.radar.score import Verdict, describe, judge, tables
from lineclear.core.radar.findings import Finding
from tests.repository import TemporaryRepo, clean_environment

Compare = Callable[[str, str, str], list[Finding]]


def run(
    compare: Compare, halves: tuple[str, ...] = HALVES, *, show_wrong: bool = False, root: Path = ROOT
) -> None:
    for half in halves:
        began = time.process_time()
        verdicts = judge_all(compare, root / half)
        print(f"\n== {half}: {len(verdicts)} scenarios, {time.process_time() - began:.1f} s of CPU")
        print("\n".join(tables(verdicts)))
        wrong = [verdict for verdict in verdicts if not verdict.is_right]
        print(f"{len(verdicts) - len(wrong)} of {len(verdicts)} scenarios are entirely right")
        if show_wrong and half == OPEN:
            for verdict in wrong:
                print("\n".join(_explain(verdict)))


def judge_all(compare: Compare, directory: Path) -> list[Verdict]:
    scenarios = load_scenarios(directory)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch, "home")
        home.mkdir()
        repo = TemporaryRepo.create(Path(scratch, "repo"), clean_environment(home))
        commits = commit_all(repo.path, scenarios)
        return [
            judge(scenario, compare(str(repo.path), left, right))
            for scenario, (left, right) in zip(scenarios, commits, strict=True)
        ]


def _explain(verdict: Verdict) -> list[str]:
    lines = [f"\n{verdict.scenario.language}: {verdict.scenario.title}"]
    lines += [f"  missed {each.kind} {each.first} {each.second} `{each.symbol}`" for each in verdict.missed]
    return lines + [f"  false  {describe(finding)}" for finding in verdict.wrong]
