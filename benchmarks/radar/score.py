"""True and false positives of the radar on labelled scenarios.

A finding is right if an expected one has the same kind, names the same thing, and, where one side changed
what the other uses (`signature`, `removed`), has the same sides in the same order. Two names are the same if
their last parts are (`Cart.total` and `total`), and an expected file counts as named if it is among the
finding's files. Every other finding is a false positive, with one exception: `same-symbol` beside an expected
finding of another kind, on the same name or in the same file, only repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.radar.scenarios import Expected, Scenario
from lineclear.core.radar.findings import KINDS, REMOVED, SAME_SYMBOL, SIGNATURE, Finding

DIRECTED = (SIGNATURE, REMOVED)


@dataclass(slots=True)
class Verdict:
    """What the radar said about one scenario, held against its labels."""

    scenario: Scenario
    right: list[Expected] = field(default_factory=list)
    missed: list[Expected] = field(default_factory=list)
    wrong: list[Finding] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        return not self.missed and not self.wrong


@dataclass(slots=True)
class Count:
    cases: int = 0
    right: int = 0
    wrong: int = 0
    missed: int = 0

    def cells(self) -> tuple[str, ...]:
        counts = (str(number) for number in (self.cases, self.right, self.wrong, self.missed))
        return (
            *counts,
            share(self.right, self.right + self.wrong),
            share(self.right, self.right + self.missed),
        )


def share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def judge(scenario: Scenario, findings: Iterable[Finding]) -> Verdict:
    verdict = Verdict(scenario)
    told = list(findings)
    matched: list[Finding] = []
    for expected in scenario.expected:
        # One cause may be told file by file: each of those findings is right.
        fitting = [finding for finding in told if fits(expected, finding)]
        (verdict.right if fitting else verdict.missed).append(expected)
        matched += fitting
    verdict.wrong = [
        finding
        for finding in told
        if finding not in matched and not _only_repeats(finding, scenario.expected, matched)
    ]
    return verdict


def fits(expected: Expected, finding: Finding) -> bool:
    if finding.kind != expected.kind:
        return False
    if expected.kind in DIRECTED and finding.agents[:2] != (expected.first, expected.second):
        return False
    return names_same(expected.symbol, finding.symbol) or expected.symbol in finding.files


def names_same(one: str, other: str) -> bool:
    return one == other or bare_name(one) == bare_name(other) != ""


def bare_name(symbol: str) -> str:
    """The last part of a dotted name; a route, a path or a package stands for itself."""
    if "/" in symbol or " " in symbol or symbol.startswith((".", "@", "-")):
        return symbol
    return re.split(r"\.|::|#|->|\\", symbol.removesuffix("()"))[-1]


def _only_repeats(finding: Finding, expected: list[Expected], matched: list[Finding]) -> bool:
    if finding.kind != SAME_SYMBOL:
        return False
    others = [each for each in expected if each.kind != SAME_SYMBOL]
    if any(each.symbol in finding.files or names_same(each.symbol, finding.symbol) for each in others):
        return True
    return any(set(each.files) & set(finding.files) for each in matched if each.kind != SAME_SYMBOL)


def tables(verdicts: list[Verdict]) -> list[str]:
    """Per kind: a case counts for each kind that it expects, or as `none`; a false positive counts for the
    kind that was reported. Per language and in total: every case once."""
    kinds: dict[str, Count] = {kind: Count() for kind in (*KINDS, "none")}
    languages: dict[str, Count] = {}
    total = Count()
    for verdict in verdicts:
        _count(verdict, languages.setdefault(verdict.scenario.language, Count()))
        _count(verdict, total)
        for kind in {expected.kind for expected in verdict.scenario.expected} or {"none"}:
            kinds[kind].cases += 1
        for expected in verdict.right:
            kinds[expected.kind].right += 1
        for expected in verdict.missed:
            kinds[expected.kind].missed += 1
        for finding in verdict.wrong:
            kinds[finding.kind].wrong += 1
    lines = [_line("", ("cases", "right", "false", "missed", "precision", "recall"))]
    lines += [_line(f"kind {name}", count.cells()) for name, count in kinds.items()]
    lines += [_line(f"language {name}", count.cells()) for name, count in sorted(languages.items())]
    return [*lines, _line("all", total.cells())]


def _count(verdict: Verdict, count: Count) -> None:
    count.cases += 1
    count.right += len(verdict.right)
    count.wrong += len(verdict.wrong)
    count.missed += len(verdict.missed)


def _line(name: str, cells: tuple[str, ...]) -> str:
    return f"{name:24}" + "".join(f"{cell:>10}" for cell in cells)


def describe(finding: Finding) -> str:
    sides = " ".join(finding.agents)
    forms = f" {finding.old!r} -> {finding.new!r}" if finding.old or finding.new else ""
    mark = "!" if finding.interrupts else " "
    what = f"{mark} {finding.kind} {sides} `{finding.symbol}` in {', '.join(finding.files)}"
    return f"{what}{forms} {finding.detail}"
