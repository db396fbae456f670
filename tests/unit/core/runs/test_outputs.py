"""What a run brought, held against what its task asks for."""

from __future__ import annotations

import pytest

from lineclear.core.runs.outputs import (
    OutputCheck,
    Problem,
    RunWork,
    conclude,
    named,
    outside_scope,
    validate,
)


def kinds(work: RunWork, scope: str = "warn") -> list[tuple[str, bool]]:
    return [(problem.kind, problem.fatal) for problem in validate(work, scope=scope)]


def test_work_that_is_as_asked_has_no_problem() -> None:
    work = RunWork(
        changed=["src/a.py", "docs/a.md"],
        scope=["file:src/", "file:docs/a.md"],
        produces=["docs/a.md", "value:plan"],
        present={"docs/a.md", "value:plan"},
        checks=[OutputCheck("make test", 0, "fine")],
    )
    assert validate(work, scope="refuse") == []


def test_a_branch_without_a_change_is_a_problem() -> None:
    assert kinds(RunWork()) == [("empty", True)]


def test_work_without_a_worktree_needs_no_change() -> None:
    assert kinds(RunWork(has_worktree=False)) == []


@pytest.mark.parametrize(
    ("policy", "found"), [("warn", [("scope", False)]), ("refuse", [("scope", True)]), ("off", [])]
)
def test_files_outside_the_scope_are_treated_as_the_repository_says(
    policy: str, found: list[tuple[str, bool]]
) -> None:
    assert kinds(RunWork(changed=["src/a.py", "other.py"], scope=["file:src/"]), policy) == found


def test_what_is_outside_is_named() -> None:
    problem = validate(RunWork(changed=["src/a.py", "other.py"], scope=["file:src/"]))[0]
    assert problem.files == ["other.py"]
    assert problem.words == "it changed files outside the task's scope: other.py"


@pytest.mark.parametrize(
    ("path", "scope", "inside"),
    [
        ("src/a.py", "file:src/", True),
        ("src/a.py", "file:src/a.py", True),
        ("src/a.py", "file:**/*.py", True),
        ("src/a.py", "symbol:src/a.py#Login.check", True),
        ("src/a.py", "file:src/b.py", False),
        ("app/[id]/page.tsx", "file:app/", True),
        ("*", "file:src/", False),
        ("bad\x01name", "file:src/", False),
    ],
)
def test_a_file_is_in_scope_when_a_part_of_it_is_about_it(path: str, scope: str, inside: bool) -> None:
    assert (outside_scope([path], [scope]) == []) is inside


def test_a_scope_that_names_no_files_says_nothing_about_files() -> None:
    assert outside_scope(["a"], []) == []
    assert outside_scope(["a"], ["value:plan", "port:3000"]) == []


def test_what_is_not_there_is_named() -> None:
    problem = validate(RunWork(changed=["x"], produces=["a", "b", "message"], present={"a"}))[0]
    assert (problem.kind, problem.files) == ("produces", ["b", "message"])
    assert problem.words == "it did not produce: b, message"


def test_a_failed_check_brings_the_end_of_its_output() -> None:
    problem = validate(
        RunWork(changed=["x"], checks=[OutputCheck("make test", 2, "x" * 5_000 + "\nE  1 failed\n")])
    )[0]
    assert problem.words.startswith("the check `make test` failed with exit code 2:\n")
    assert problem.words.endswith("E  1 failed")
    assert len(problem.words) < 1_300


def test_a_check_that_took_too_long_says_so() -> None:
    problem = validate(RunWork(changed=["x"], checks=[OutputCheck("make test", -1, "")]))[0]
    assert problem.words == "the check `make test` did not finish in time"


def test_many_names_are_counted() -> None:
    assert named(["a", "b"]) == "a, b"
    assert named(list("abcdefgh")) == "a, b, c, d, e and 3 more"


def test_only_what_is_fatal_decides_how_the_run_ends() -> None:
    told = Problem("scope", "outside", fatal=False)
    assert conclude([]) == ("done", "")
    assert conclude([told]) == ("done", "")
    assert conclude([told, Problem("empty", "nothing"), Problem("check", "red")]) == (
        "rejected",
        "nothing; red",
    )
    assert conclude([Problem("strayed", "elsewhere")]) == ("strayed", "elsewhere")


def test_a_reason_is_bounded() -> None:
    assert len(conclude([Problem("check", "x" * 9_000)])[1]) == 2_000
