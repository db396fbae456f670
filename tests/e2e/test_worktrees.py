"""One repository, several worktrees: the same file is the same resource from everywhere."""

from __future__ import annotations

import sys

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo


def test_an_absolute_path_into_the_main_tree_means_the_same_file_from_a_linked_one(
    repo: TemporaryRepo, line: CommandLine
) -> None:
    linked = line.at(repo.add_worktree("feature"))
    claim = linked.json("claim", str(repo.path / "README.md"), "--mode", "exclusive", "--as", "codex-1")
    claim = claim["claims"][0]
    assert (claim["resource"], claim["tree"]) == ("file:README.md", "feature")
    assert line.refused("claim", "README.md", "--as", "codex-2", code=3)["holder"] == "codex-1"
    assert linked.holders("./sub/../README.md") == ["codex-1"]


def test_a_path_counts_from_where_one_stands(repo: TemporaryRepo, line: CommandLine) -> None:
    repo.commit("Add", {"src/deep/a.py": ""})
    inside = line.at(repo.path / "src" / "deep")
    assert inside.json("claim", "a.py", "--as", "codex-1")["claims"][0]["resource"] == "file:src/deep/a.py"
    assert inside.json("task", "add", "Here", "--scope", "a.py", "--scope", "..")["task"]["scope"] == [
        "file:src/deep/a.py",
        "file:src/",
    ]
    assert inside.json("who", "file:src/deep/a.py")["holders"][0]["agent"] == "codex-1"


def test_what_a_task_produces_counts_from_where_one_stands_and_in_a_list_from_the_root(
    repo: TemporaryRepo, line: CommandLine
) -> None:
    repo.commit("Add", {"src/deep/a.py": ""})
    inside = line.at(repo.path / "src" / "deep")
    words = ("--produces", "b.js", "--produces", "../dist/", "--produces", "[id].js")
    made = inside.json("task", "add", "Here", *words)["task"]
    assert made["produces"] == ["src/deep/b.js", "src/dist", "src/deep/[id].js"]
    assert "  produces: src/deep/b.js, src/dist, src/deep/[id].js" in inside.ok("task", "show", "1").out
    exported = line.ok("task", "export").out
    assert inside.run("task", "import", "-", stdin=exported).code == 0
    assert line.json("task", "show", "2")["produces"] == made["produces"]
    assert line.json("task", "edit", "1", "--produces", "")["task"]["produces"] == []


def test_what_lies_outside_of_the_repository_cannot_be_produced(
    repo: TemporaryRepo, line: CommandLine
) -> None:
    (repo.path / "out").symlink_to(repo.path.parent)
    for path in ("../a.js", "/etc/hosts", "out/a.js"):
        assert line.refused("task", "add", "Title", "--produces", path, code=4)["code"] == "resource.outside"
    assert line.refused("task", "add", "Title", "--produces", ".", code=2)["code"] == "input.bad"
    (repo.path / "list.md").write_text("- [ ] One (produces: out/a.js)\n")
    assert line.refused("task", "import", "list.md", code=4)["code"] == "resource.outside"


def test_the_agent_of_a_linked_worktree_needs_no_name(repo: TemporaryRepo, line: CommandLine) -> None:
    linked = line.at(repo.add_worktree("feature"))
    linked.ok("claim", "a", "--as", "codex-1")
    assert linked.json("claim", "b")["claims"][0]["agent"] == "codex-1"
    assert line.json("status")["me"] == "person"


def test_announced_work_in_another_worktree_is_told_not_stopped(
    repo: TemporaryRepo, line: CommandLine
) -> None:
    linked = line.at(repo.add_worktree("feature"))
    linked.ok("claim", "src/auth/", "--mode", "intent", "--note", "the login", "--as", "codex-1")
    answer = line.ok("claim", "src/auth/a.py", "--as", "codex-2", "--json")
    assert answer.data["told"] == ["codex-1"]
    assert "codex-2 now holds file:src/auth/a.py" in linked.ok("inbox", "--as", "codex-1").out


def test_an_agent_that_names_no_mode_stops_nobody_in_another_worktree(
    repo: TemporaryRepo, line: CommandLine
) -> None:
    ada, ben = line.at(repo.add_worktree("ada")), line.at(repo.add_worktree("ben"))

    def mode(place: CommandLine, *words: str) -> str:
        return str(place.json("claim", *words)["claims"][0]["mode"])

    assert mode(ada, "README.md", "--as", "codex-1") == "intent"
    assert mode(ben, "README.md", "--as", "codex-2") == "intent"
    assert mode(ada, "logo.png", "--as", "codex-1") == "exclusive"
    assert mode(ada, "a.py", "port:3000", "--as", "codex-1") == "exclusive"
    # The main tree has no copies that could be merged, and a person means "leave this to me".
    assert mode(line, "b.py", "--as", "codex-3") == "exclusive"
    assert mode(line.at(repo.add_worktree("sam")), "c.py") == "exclusive"
    held = (
        "with",
        "d.py",
        "--as",
        "codex-1",
        "--",
        sys.executable,
        "-m",
        "lineclear",
        "who",
        "d.py",
        "--json",
    )
    assert '"mode": "exclusive"' in ada.ok(*held).out
