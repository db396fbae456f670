"""merge-file and merge-tree as git and people start them: no store, exit codes that git understands."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo

BASE = '{\n  "a": 1\n}\n'
LEFT = '{\n  "a": 1,\n  "b": 2\n}\n'
RIGHT = '{\n  "a": 1,\n  "c": 3\n}\n'
MERGED = '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n'

DJANGO = """from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("port", "{parent}")]
"""


def three_files(folder: Path, base: bytes, left: bytes, right: bytes) -> list[str]:
    names = []
    for name, content in (("base", base), ("left", left), ("right", right)):
        (folder / name).write_bytes(content)
        names.append(str(folder / name))
    return names


def two_branches(
    repo: TemporaryRepo, base: dict[str, str], left: dict[str, str], right: dict[str, str]
) -> None:
    repo.commit("base", base)
    repo.git("tag", "base")
    for name, files in (("left", left), ("right", right)):
        repo.git("checkout", "--quiet", "-b", name, "base")
        repo.commit(name, files)
    repo.git("checkout", "--quiet", "main")


def test_0_a_file_that_can_be_merged_is_printed(bare_line: CommandLine, tmp_path: Path) -> None:
    files = three_files(tmp_path, BASE.encode(), LEFT.encode(), RIGHT.encode())
    answer = bare_line.run("merge-file", *files, "--path", "data.json", "--explain")
    assert (answer.code, answer.out) == (0, MERGED)
    assert "keys" in answer.err


def test_1_conflicts_are_written_with_markers_into_the_named_file(
    bare_line: CommandLine, tmp_path: Path
) -> None:
    files = three_files(tmp_path, b"depth=4\n", b"depth=5\n", b"depth=deep\n")
    out = tmp_path / "out"
    answer = bare_line.run("merge-file", *files, "--path", "p.properties", "-o", str(out), "--json")
    assert answer.code == 1
    assert answer.data["clean"] is False
    assert answer.data["conflicts"][0]["first_line"] == 1
    assert out.read_text().startswith("<<<<<<< ours")


@pytest.mark.parametrize(
    "words", [("merge-file", "a"), ("merge-file", "a", "b", "c"), ("merge-tree", "x", "y", "z")]
)
def test_129_and_more_for_every_failure(bare_line: CommandLine, words: tuple[str, ...]) -> None:
    answer = bare_line.run(*words)
    assert answer.code >= 129
    assert "Next: run" in answer.err


def test_bytes_that_are_not_utf_8_come_out_as_they_were(bare_line: CommandLine, tmp_path: Path) -> None:
    files = three_files(tmp_path, b"a=1\nb=\xe9\nc=1\n", b"a=2\nb=\xe9\nc=1\n", b"a=1\nb=\xe9\nc=2\n")
    out = tmp_path / "out"
    assert bare_line.run("merge-file", *files, "--path", "p.properties", "-o", str(out)).code == 0
    assert out.read_bytes() == b"a=2\nb=\xe9\nc=2\n"


def test_git_calls_it_as_a_driver(repo: TemporaryRepo, bare_line: CommandLine) -> None:
    two_branches(repo, {"data.json": BASE}, {"data.json": LEFT}, {"data.json": RIGHT})
    bare_line.ok("setup", "git-merge")
    repo.git("checkout", "--quiet", "left")
    repo.git("merge", "--quiet", "--no-edit", "right")
    assert (repo.path / "data.json").read_text() == MERGED


PYTHON_WITHOUT_US = """#!/bin/sh
echo "No module named lineclear" >&2
exit 1
"""


@pytest.mark.parametrize("python", [None, "", PYTHON_WITHOUT_US], ids=["there", "gone", "without lineclear"])
def test_no_side_is_lost_when_the_driver_cannot_start(
    repo: TemporaryRepo, bare_line: CommandLine, tmp_path: Path, python: str | None
) -> None:
    names = ("data.json", "-x.json")
    two_branches(repo, dict.fromkeys(names, BASE), dict.fromkeys(names, LEFT), dict.fromkeys(names, RIGHT))
    bare_line.ok("setup", "git-merge")
    assert bare_line.json("setup", "git-merge", "--check")["state"] == "fired"
    if python is not None:
        other, driver = tmp_path / "python3", repo.git("config", "merge.lineclear.driver")
        repo.git("config", "merge.lineclear.driver", driver.replace(shlex.quote(sys.executable), str(other)))
        if python:
            other.write_text(python)
            other.chmod(0o755)
        assert bare_line.run("setup", "git-merge", "--check").code == 6
    repo.git("checkout", "--quiet", "left")
    if python is None:
        repo.git("merge", "--quiet", "--no-edit", "right")
    else:
        with pytest.raises(AssertionError):
            repo.git("merge", "--quiet", "--no-edit", "right")
    for name in names:
        text = (repo.path / name).read_text()
        if python is None:
            assert text == MERGED
        else:
            assert text.startswith("{\n")
            assert "<<<<<<< ours" in text
            assert ">>>>>>> theirs" in text
    assert repo.git("status", "--porcelain", "--untracked-files=all", "--ignored").count("??") == 0


def test_trees_are_merged_without_a_store_or_a_work_tree(repo: TemporaryRepo, bare_line: CommandLine) -> None:
    two_branches(repo, {"data.json": BASE}, {"data.json": LEFT}, {"data.json": RIGHT})
    answer = bare_line.run("merge-tree", "base", "left", "right")
    assert answer.code == 0
    tree = answer.out.split()[0]
    assert repo.git("show", f"{tree}:data.json") == MERGED.rstrip("\n")
    assert repo.git("status", "--porcelain") == ""
    assert not (repo.path / ".git" / "lineclear").exists()


def test_a_conflict_in_a_tree_is_1_and_named(repo: TemporaryRepo, bare_line: CommandLine) -> None:
    two_branches(repo, {"p.ini": "depth = 4\n"}, {"p.ini": "depth = 5\n"}, {"p.ini": "depth = deep\n"})
    answer = bare_line.run("merge-tree", "base", "left", "right", "--json")
    assert answer.code == 1
    assert [file["path"] for file in answer.data["files"]] == ["p.ini"]
    assert "<<<<<<< left" in repo.git("show", f"{answer.data['tree']}:p.ini")


def conflicting(repo: TemporaryRepo) -> dict[str, str]:
    """One line with two values; gives the commits of both sides."""
    two_branches(repo, {"p.ini": "depth = 4\n"}, {"p.ini": "depth = 5\n"}, {"p.ini": "depth = deep\n"})
    return {side: repo.git("rev-parse", side) for side in ("left", "right")}


def test_a_conflict_names_the_authors_of_both_sides_without_a_store(
    repo: TemporaryRepo, bare_line: CommandLine
) -> None:
    commits = conflicting(repo)
    told = [line.strip() for line in bare_line.run("merge-tree", "base", "left", "right").out.splitlines()]
    for side, commit in commits.items():
        assert f'{side}: Test Author, last in {commit[:7]} "{side}"' in told
    (file,) = bare_line.run("merge-tree", "base", "left", "right", "--json").data["files"]
    author = {"task": "", "agent": "", "author": "Test Author", "title": "left", "subject": "left"}
    assert file["sides"]["left"] == [{**author, "commit": commits["left"]}]
    assert [hand["commit"] for hand in file["sides"]["right"]] == [commits["right"]]
    assert not (repo.path / ".git" / "lineclear").exists()


def test_trees_without_commits_have_no_authors(repo: TemporaryRepo, bare_line: CommandLine) -> None:
    conflicting(repo)
    answer = bare_line.run("merge-tree", "base", "left^{tree}", "right", "--json")
    assert answer.code == 1
    assert "sides" not in answer.data["files"][0]


def test_in_a_repository_of_ours_a_conflict_names_task_and_agent(
    repo: TemporaryRepo, line: CommandLine
) -> None:
    repo.commit("base", {"p.ini": "depth = 4\n"})
    repo.git("tag", "base")
    line.ok("task", "add", "Go deeper")
    line.ok("worktree", "add", "ada", "--agent", "ada", "--branch", "ada")
    line.ok("task", "next", "--as", "ada")
    place = Path(line.json("worktree", "list")["worktrees"][0]["path"])
    repo.commit("Work", {"p.ini": "depth = 5\n"}, at=place)
    repo.commit("Mine", {"p.ini": "depth = deep\n"})
    (file,) = line.run("merge-tree", "base", "main", "ada", "--json").data["files"]
    told = {side: [(hand["task"], hand["agent"]) for hand in hands] for side, hands in file["sides"].items()}
    assert told == {"left": [("", "")], "right": [("T-1", "ada")]}
    text = line.run("merge-tree", "base", "main", "ada").out
    assert "ada: T-1 by ada, last in " in text
    assert '"Go deeper"' in text


def test_a_finding_names_both_sides_too(repo: TemporaryRepo, bare_line: CommandLine) -> None:
    two_branches(
        repo, {"a.css": ".a { top: 0 }\n"}, {"b.css": ".b { top: 1px }\n"}, {"c.css": ".b { top: 2px }\n"}
    )
    (finding,) = bare_line.run("merge-tree", "base", "left", "right", "--json").data["findings"]
    assert [hand["subject"] for side in ("left", "right") for hand in finding["sides"][side]] == [
        "left",
        "right",
    ]


def test_many_conflicted_files_come_out_alike_on_all_cores(
    repo: TemporaryRepo, bare_line: CommandLine
) -> None:
    names = [f"t{number}.json" for number in range(12)]
    two_branches(repo, dict.fromkeys(names, BASE), dict.fromkeys(names, LEFT), dict.fromkeys(names, RIGHT))
    answer = bare_line.run("merge-tree", "base", "left", "right")
    assert answer.code == 0
    tree = answer.out.split()[0]
    assert {repo.git("show", f"{tree}:{name}") for name in names} == {MERGED.rstrip("\n")}


def test_two_migrations_with_one_number_are_put_in_a_row(repo: TemporaryRepo, bare_line: CommandLine) -> None:
    folder = "port/migrations"
    two_branches(
        repo,
        {f"{folder}/0001_initial.py": DJANGO.format(parent="0000")},
        {f"{folder}/0002_tug.py": DJANGO.format(parent="0001_initial")},
        {f"{folder}/0002_ferry.py": DJANGO.format(parent="0001_initial")},
    )
    answer = bare_line.run("merge-tree", "base", "left", "right", "--json")
    assert answer.code == 0
    assert answer.data["renames"] == [{"from": f"{folder}/0002_ferry.py", "to": f"{folder}/0003_ferry.py"}]
    text = repo.git("show", f"{answer.data['tree']}:{folder}/0003_ferry.py")
    assert '("port", "0002_tug")' in text


def test_binary_files_stay_as_they_are_and_conflict(bare_line: CommandLine, tmp_path: Path) -> None:
    files = three_files(tmp_path, b"\0a", b"\0b", b"\0c")
    out = tmp_path / "out"
    assert bare_line.run("merge-file", *files, "--path", "p.png", "-o", str(out)).code == 1
    assert out.read_bytes() == b"\0b"


def test_the_driver_is_installed_once_and_taken_away_without_a_trace(
    repo: TemporaryRepo, bare_line: CommandLine
) -> None:
    repo.git("config", "merge.other.driver", "true")
    before = repo.git("config", "--local", "--list")
    planned = bare_line.ok("setup", "git-merge", "--dry-run").out
    assert repo.git("config", "--local", "--list") == before
    assert bare_line.ok("setup", "git-merge").out == planned
    assert repo.git("config", "merge.default") == "lineclear"
    assert bare_line.ok("setup", "git-merge").out == "Nothing to change.\n"
    bare_line.ok("setup", "git-merge", "--remove")
    assert repo.git("config", "--local", "--list") == before


def test_another_driver_is_not_replaced(repo: TemporaryRepo, bare_line: CommandLine) -> None:
    repo.git("config", "merge.default", "union")
    assert bare_line.run("setup", "git-merge").code == 2
    bare_line.ok("setup", "git-merge", "--remove")
    assert repo.git("config", "merge.default") == "union"


def test_the_doctor_finds_the_driver_of_an_older_release(line: CommandLine, repo: TemporaryRepo) -> None:
    def problems() -> list[str]:
        answer = line.run("--json", "doctor")
        return [one["text"] for one in answer.data["checks"] if "merge driver" in one["text"]]

    line.ok("setup", "git-merge")
    assert problems() == []
    repo.git("config", "merge.lineclear.driver", "lineclear merge-file %O %A %B --path %P -o %A")
    assert [text.endswith("run `lineclear setup git-merge`") for text in problems()] == [True]
    line.ok("setup", "git-merge")
    assert problems() == []
