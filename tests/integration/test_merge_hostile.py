"""Hostile texts: the rules survive the ones we know, and the queue survives the ones that we do not know."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.host.merge_processes import MERGE_PROCESSES
from lineclear.merge import Labels, MergeResult
from lineclear.merge.lines import MARKERS
from lineclear.merge.rule_jobs import MergeJob, RuleFailure
from tests.merge_hostile import CASES, sides
from tests.sampling import some

MERGE_CASES = Path(__file__).parents[1] / "merge_cases"
PATHS = {"ignore-list": ".gitignore", "python": "shop.py"}
PIECES = (
    "", "\x00", "\ufeff", "\ud800", "\udcff", "\r", "\r\n", "\n\n", "\x0b", "\x0c", "\x85", "\u2028", "\t",
    " ", '"', "'", "`", '"""', "```\n", "{", "}", "[", "]", "(", ")", "<", ">", "</", "/*", "*/", "<!--",
    "-->", "#", "-", "- ", ":", ": ", "=", ",", "\\", "/", "&a ", "*a", "|\n", ">\n", "%", "<<<<<<< a\n",
    "=======\n", "@@", "{{", "${", "1" * 400, "a" * 4_000, "([{" * 300, "- " * 130, "<a>" * 300, "a." * 500,
    "\U0001f6a2",
)  # fmt: skip
# A word that says something: numbers, and so versions, may be chosen among.
WORD = re.compile(r"[A-Za-z]{4,}")


@pytest.mark.slow
def test_no_known_text_makes_a_rule_fail() -> None:
    jobs = [MergeJob(path, *sides(text), Labels()) for path, text in CASES.values()]
    answers = dict(zip(CASES, MERGE_PROCESSES.run(jobs), strict=True))
    assert {name: found.reason for name, found in answers.items() if isinstance(found, RuleFailure)} == {}
    for name, found in answers.items():
        is_marked = any(line.lstrip("\ufeff").startswith(MARKERS[0]) for line in found.text.split("\n"))
        assert found.is_clean != is_marked, name
        assert not found.is_clean, f"{name}: both sides changed one value"


def triples() -> list[tuple[str, tuple[str, str, str]]]:
    """Path, base, left and right of every hostile text and of every case of the merge rules."""
    found = []
    for path, text in CASES.values():
        found.append((path, sides(text if len(text) < 4_000 else text[:1_000] + text[-1_000:])))
    for case in sorted(MERGE_CASES.glob("*/*")):
        base, left, right = (
            (case / part).read_bytes().decode("utf-8", "surrogateescape")
            for part in ("base", "left", "right")
        )
        found.append((PATHS.get(case.parent.name, case.parent.name), (base, left, right)))
    return found


TRIPLES = triples()
MUTATION = st.tuples(
    st.sampled_from([(0, 1, 2), (0, 1, 2), (0,), (1,), (2,)]),  # of which versions
    st.sampled_from(["insert", "insert", "delete", "repeat", "swap lines", "nest", "line ends"]),
    st.floats(0, 1),
    st.sampled_from([0, 1, 2, 5, 20, 200]),
    st.sampled_from(PIECES),
)


def mutated(text: str, what: str, share: float, size: int, piece: str) -> str:
    at = int(share * len(text))
    if what == "insert":
        return text[:at] + piece + text[at:]
    if what == "delete":
        return text[:at] + text[at + size :]
    if what == "repeat":
        return text[: at + size] + text[at : at + size] * 3 + text[at + size :]
    if what == "nest":
        return text[:at] + piece * min(size, 40) + text[at:]
    lines = text.split("\n")
    row = int(share * (len(lines) - 1))
    if what == "swap lines" and row + 1 < len(lines):
        lines[row], lines[row + 1] = lines[row + 1], lines[row]
        return "\n".join(lines)
    return text.replace("\n", ("\r\n", "\r", "\n\n")[size % 3], size)


@pytest.mark.slow
@settings(max_examples=some(6_000, 12))
@given(st.sampled_from(TRIPLES), st.lists(MUTATION, min_size=1, max_size=4))
def test_no_mutated_text_makes_a_rule_raise_or_lose_a_word(
    triple: tuple[str, tuple[str, str, str]], mutations: list[tuple[tuple[int, ...], str, float, int, str]]
) -> None:
    path, versions = triple[0], list(triple[1])
    for which, *mutation in mutations:
        for number in which:
            versions[number] = mutated(versions[number], *mutation)  # type: ignore[arg-type]
    base, left, right = versions
    found = MERGE_PROCESSES.run([MergeJob(path, base, left, right, Labels())])[0]
    if isinstance(found, RuleFailure):
        assert "Error in" not in found.reason, "a rule of ours raised it; a parser may crash"
        return
    assert isinstance(found, MergeResult)
    assert all(conflict.doubt for conflict in found.conflicts), "each conflict has a reason"
    if not found.is_clean:
        assert MARKERS[0] in found.text
    assert lost_words(base, left, right, found.text) == set()


def lost_words(base: str, left: str, right: str, merged: str) -> set[str]:
    """Words that nobody removed, or that one side wrote, and that are not in the result."""
    b, ours, theirs = (Counter(WORD.findall(text)) for text in (base, left, right))
    kept = {word for word in b if b[word] == ours[word] == theirs[word] == 1}
    added = {word for word in (ours | theirs) if word not in b}
    return (kept | added) - set(WORD.findall(merged))
