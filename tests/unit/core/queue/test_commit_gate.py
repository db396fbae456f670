"""Which refs an agent may move, and how findings are told."""

from __future__ import annotations

import pytest

from lineclear.core.queue.commit_gate import (
    GateFinding,
    first_marker,
    is_unsafe,
    judge_move,
    pushed_refs,
    tell,
)
from lineclear.core.words.refusals import refuse


@pytest.mark.parametrize(
    ("tree", "ref", "code"),
    [
        ("ada", "refs/heads/main", "gate.main"),
        ("main", "refs/heads/main", ""),
        ("clone-1/main", "refs/heads/main", ""),
        ("ada", "refs/heads/lineclear/ada", ""),
        ("main", "refs/lineclear/snapshots/ada", "gate.ref"),
    ],
)
def test_which_refs_an_agent_may_move(tree: str, ref: str, code: str) -> None:
    refusal = judge_move(tree, ref, "refs/heads/main")
    assert (refusal.code if refusal is not None else "") == code


def test_many_findings_are_told_in_one_sentence() -> None:
    findings = [
        GateFinding(f"{number}.png", refuse("write.unlocked", resource=f"file:{number}.png"))
        for number in range(7)
    ]
    text = tell(findings)
    assert text.startswith("0.png: Cannot write file:0.png without an exclusive claim; 1.png")
    assert text.endswith("; and 2 more")


def test_a_line_of_a_push_that_is_not_whole_is_passed_over() -> None:
    lines = ["refs/heads/a 1111 refs/heads/main 0000", "refs/heads/a", ""]
    assert pushed_refs(lines) == [("1111", "refs/heads/main")]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("", "a\n<<<<<<< main\nb\n=======\nc\n>>>>>>> x\n", 2),
        ("a\n", "a\r\n<<<<<<<\r\n", 2),
        ("a\n", "a\n=======\nb\n>>>>>>> x\n", 2),
        ("<<<<<<< HEAD\n", "<<<<<<< HEAD\n<<<<<<< HEAD\n", 0),
        ("", "Heading\n=======\n\n>>> a quotation\n", 0),
        ("", ">>>>>>> quoted seven times\n", 0),
        ("", "  <<<<<<< indented\n<<<<<<<<<< ten\n", 0),
    ],
)
def test_an_added_conflict_marker_is_found_where_the_file_had_none(
    before: str, after: str, line: int
) -> None:
    assert first_marker(before, after) == line


@pytest.mark.parametrize(
    "path",
    [
        ".git/config", "a/.GIT/x", "a/../b", "./a", "a//b", ".git", "a/.g\u200cit/hooks/x", "git~1/config",
        "GIT~1", ".git /config", ".git./x", ".git::$INDEX_ALLOCATION/x", "sub\\.git\\config",
    ],
)  # fmt: skip
def test_a_path_that_no_git_checks_out_is_unsafe(path: str) -> None:
    assert is_unsafe(path)


@pytest.mark.parametrize(
    "path", [".gitignore", "git", "a/.github/x", "..a", "a..", "git~10", "...", "x.git/y", "a\\"]
)
def test_an_ordinary_path_is_safe(path: str) -> None:
    assert not is_unsafe(path)
