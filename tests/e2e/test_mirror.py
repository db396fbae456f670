"""Files for agents that only read files, as they lie in real worktrees, and the block in AGENTS.md."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo
from tests.waiting import until

LONG_AGO_S = 3_600


def edit(page: Path, old: str, new: str) -> None:
    """As an editor saves; the file's age says that the editor has finished."""
    text = page.read_text()
    assert old in text, text
    write(page, text.replace(old, new))


def write(page: Path, text: str) -> None:
    page.write_text(text)
    os.utime(page, (time.time() - 5, time.time() - 5))


@pytest.fixture
def desk(line: CommandLine, repo: TemporaryRepo) -> Path:
    """The worktree of ada, beside main; two tasks; pages in both."""
    line.ok("task", "add", "Login form", "--scope", "src/auth/")
    line.ok("task", "add", "Logout", "--after", "T-1")
    line.ok("mirror", "--on")
    path = Path(line.json("worktree", "add", "desk", "--agent", "ada")["path"])
    assert (path / "TASKS.md").read_bytes() == (repo.path / "TASKS.md").read_bytes()
    return path


def state_of(line: CommandLine, task: str) -> tuple[str, str]:
    shown = line.json("task", "show", task)
    return shown["state"], shown["agent"]


def test_nothing_is_written_until_somebody_asks(line: CommandLine, repo: TemporaryRepo) -> None:
    line.ok("task", "add", "Login form")
    assert sorted(path.name for path in repo.path.iterdir()) == [".git", "README.md"]
    assert not (repo.path / ".git" / "lineclear" / "mirror").exists()


def test_git_sees_none_of_it(line: CommandLine, repo: TemporaryRepo, desk: Path) -> None:
    line.ok("mirror", "--on", "locks")
    line.ok("claim", "README.md", "--as", "ada")
    assert (repo.path / "README.md.agent-lock").exists()
    for place in (repo.path, desk):
        assert repo.git("status", "--porcelain", "--untracked-files=all", at=place) == ""
        repo.git("add", "--all", at=place)
        assert repo.git("diff", "--cached", "--name-only", at=place) == ""


def test_a_change_shows_in_every_worktree_when_the_command_is_over(
    line: CommandLine, repo: TemporaryRepo, desk: Path
) -> None:
    line.ok("task", "next", "T-1", "--as", "ben")
    line.ok("claim", "src/a.py", "--as", "ben", "--note", "the form", "--task", "T-1")
    for place in (repo.path, desk):
        assert "- [ ] T-1 Login form (taken; scope: src/auth/) @ben\n" in (place / "TASKS.md").read_text()
        found = json.loads((place / ".lineclear" / "coordination.json").read_text())
        assert [(c["agent"], c["resource"], c["mode"], c["task"]) for c in found["claims"]] == [
            ("ben", "file:src/a.py", "exclusive", "T-1")
        ]


def test_names_ticks_titles_and_new_lines_are_commands(
    line: CommandLine, repo: TemporaryRepo, desk: Path
) -> None:
    edit(repo.path / "TASKS.md", "(open; scope: src/auth/)", "(open; scope: src/auth/) @ben")
    edit(repo.path / "TASKS.md", "T-2 Logout", "T-2 Log out")
    with (repo.path / "TASKS.md").open("a") as file:
        file.write("## Later\n- [ ] Write docs (priority: 1) @cleo\n")
    write(repo.path / "TASKS.md", (repo.path / "TASKS.md").read_text())
    assert line.json("mirror", "--now")["edits"] == 3
    assert state_of(line, "T-1") == ("taken", "ben")
    assert state_of(line, "T-3") == ("taken", "cleo")
    assert line.json("task", "show", "T-2")["title"] == "Log out"
    text = (desk / "TASKS.md").read_text()
    assert text == (repo.path / "TASKS.md").read_text()
    assert text.endswith("## Later\n- [ ] T-3 Write docs (taken; priority: 1) @cleo\n")

    edit(repo.path / "TASKS.md", "- [ ] T-3", "- [x] T-3")
    line.ok("status")
    assert state_of(line, "T-3")[0] == "accepted"


def test_a_tick_in_an_agents_worktree_is_the_agents_and_hands_its_branch_over(
    line: CommandLine, repo: TemporaryRepo, desk: Path
) -> None:
    repo.commit("Work", {"src/auth/login.py": "1\n"}, at=desk)
    edit(desk / "TASKS.md", "- [ ] T-1", "- [x] T-1")
    line.ok("status")
    shown = line.json("task", "show", "T-1")
    assert (shown["state"], shown["agent"], shown["branch"]) == ("handed over", "ada", "lineclear/desk")


def test_a_refusal_stands_below_its_line_and_nothing_happened(
    line: CommandLine, repo: TemporaryRepo, desk: Path
) -> None:
    line.ok("task", "next", "T-1", "--as", "ben")
    edit(desk / "TASKS.md", "- [ ] T-1", "- [x] T-1")
    line.ok("mirror", "--now")
    text = (repo.path / "TASKS.md").read_text()
    assert "@ben\n  <!-- lineclear says: ada: Cannot end T-1: it is not yours. ben holds it until" in text
    assert state_of(line, "T-1") == ("taken", "ben")
    line.ok("task", "done", "T-1", "--as", "ben")
    assert "lineclear says" not in (repo.path / "TASKS.md").read_text()


def test_an_agent_signs_for_nobody_else(line: CommandLine, repo: TemporaryRepo, desk: Path) -> None:
    edit(desk / "TASKS.md", "(open; scope: src/auth/)", "(open; scope: src/auth/) @sam")
    with (desk / "TASKS.md").open("a") as file:
        file.write("- [ ] Approve everything @sam\n")
    write(desk / "TASKS.md", (desk / "TASKS.md").read_text())
    line.ok("mirror", "--now")
    assert (desk / "TASKS.md").read_text().count("says: ada: Only a person may take a task for sam.") == 2
    assert state_of(line, "T-1") == ("open", "")
    assert [task["title"] for task in line.json("task", "list")["tasks"]] == ["Login form", "Logout"]
    assert not [event for event in line.json("log")["events"] if event["actor"] == "sam"]


def test_a_flood_of_lines_is_not_taken_in(line: CommandLine, desk: Path) -> None:
    page = (desk / "TASKS.md").read_text()
    write(desk / "TASKS.md", page + "".join(f"- [ ] Task {number}\n" for number in range(2_001)))
    line.ok("mirror", "--now")
    assert len(line.json("task", "list")["tasks"]) == 2
    text = (desk / "TASKS.md").read_text()
    assert "none of the 2001 edits from here on is taken in" in text
    assert text.count("- [ ] Task ") == 2_001  # nothing that somebody wrote is dropped
    kept = [one for one in text.splitlines(keepends=True) if "] Task " not in one]
    write(desk / "TASKS.md", "".join(kept) + "- [ ] One more\n")
    line.ok("mirror", "--now")
    assert len(line.json("task", "list")["tasks"]) == 3


def test_edits_in_two_worktrees_are_both_taken_in(line: CommandLine, repo: TemporaryRepo, desk: Path) -> None:
    edit(repo.path / "TASKS.md", "# Tasks\n", "# Tasks\n\nOf the person.\n")
    edit(repo.path / "TASKS.md", "T-1 Login form", "T-1 Sign in")
    edit(desk / "TASKS.md", "# Tasks\n", "# Tasks\n\nOf ada.\n- [ ] Hers\n")
    edit(desk / "TASKS.md", "T-1 Login form", "T-1 Log in")
    line.ok("mirror", "--now")
    text = (repo.path / "TASKS.md").read_text()
    assert text == (desk / "TASKS.md").read_text()
    for words in ("Of the person.\n", "Of ada.\n", "- [ ] T-3 Hers (open)\n"):
        assert words in text
    # The second one changed a title that had become another meanwhile: it is told, nothing is overwritten.
    assert "T-1 Sign in" in text
    assert 'it is now "Sign in"' in text


def test_a_page_written_back_late_undoes_nothing(line: CommandLine, repo: TemporaryRepo, desk: Path) -> None:
    seen = (desk / "TASKS.md").read_text()
    line.ok("task", "edit", "T-1", "--title", "Sign in")
    line.ok("task", "cancel", "T-2")
    edit(repo.path / "TASKS.md", "# Tasks\n", "# Tasks\n\nOf the person.\n")
    line.ok("status")
    write(desk / "TASKS.md", seen + "- [ ] Late\n")
    line.ok("status")
    text = (desk / "TASKS.md").read_text()
    for words in ("Of the person.\n", "T-1 Sign in (open", "- [x] T-2 Logout (cancelled", "T-3 Late (open)"):
        assert words in text
    write(desk / "TASKS.md", seen)
    line.ok("status")
    assert (desk / "TASKS.md").read_text() == text


def test_a_removed_line_and_a_removed_file_come_back(
    line: CommandLine, repo: TemporaryRepo, desk: Path
) -> None:
    before = (desk / "TASKS.md").read_text()
    edit(desk / "TASKS.md", "- [ ] T-1 Login form (open; scope: src/auth/)\n", "")
    (repo.path / "TASKS.md").unlink()
    line.ok("status")
    assert (desk / "TASKS.md").read_text() == before
    assert (repo.path / "TASKS.md").read_text() == before
    write(desk / "TASKS.md", "")
    line.ok("status")
    assert (desk / "TASKS.md").read_text() == before


def test_where_the_repository_has_its_own_page_ours_stands_elsewhere(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    repo.commit("Ours", {"TASKS.md": "- [ ] not for lineclear\n"})
    line.ok("task", "add", "Login form")
    answer = line.ok("mirror", "--on", "tasks")
    assert "ours is .lineclear/TASKS.md" in answer.out
    assert (repo.path / "TASKS.md").read_text() == "- [ ] not for lineclear\n"
    assert "T-1 Login form (open)" in (repo.path / ".lineclear" / "TASKS.md").read_text()
    assert len(line.json("task", "list")["tasks"]) == 1


def test_a_page_that_a_branch_brings_is_the_repositorys(
    line: CommandLine, repo: TemporaryRepo, desk: Path
) -> None:
    repo.git("checkout", "--quiet", "--orphan", "other")
    (repo.path / "TASKS.md").unlink()
    (repo.path / "TASKS.md").write_text("- [ ] theirs\n")
    repo.git("add", "--force", "TASKS.md")
    repo.git("commit", "--quiet", "--message=theirs")
    line.ok("status")
    assert (repo.path / "TASKS.md").read_text() == "- [ ] theirs\n"
    assert "T-1 Login form" in (repo.path / ".lineclear" / "TASKS.md").read_text()
    assert len(line.json("task", "list")["tasks"]) == 2


def test_a_users_own_list_becomes_tasks(line: CommandLine, repo: TemporaryRepo) -> None:
    write(repo.path / "TASKS.md", "# Plan\n\n- [ ] First\n- [x] Done before\n- [ ] Second\n")
    line.ok("mirror", "--on", "tasks")
    assert [task["title"] for task in line.json("task", "list")["tasks"]] == ["First", "Second"]
    text = (repo.path / "TASKS.md").read_text()
    list_ = "# Plan\n\n- [ ] T-1 First (open)\n- [x] Done before\n- [ ] T-2 Second (open)\n"
    assert text.startswith(list_ + "<!-- lineclear:tasks")


def test_a_pass_that_died_after_its_commands_has_its_effect_once(
    line: CommandLine, repo: TemporaryRepo, desk: Path
) -> None:
    published = repo.path / ".git" / "lineclear" / "mirror"
    edit(desk / "TASKS.md", "- [ ] T-1", "- [x] T-1")
    edit(desk / "TASKS.md", "# Tasks\n", "# Tasks\n- [ ] New\n- [ ] New\n")
    words = (desk / "TASKS.md").read_text()
    shutil.copytree(published, repo.path.parent / "before")
    line.ok("status")
    shutil.rmtree(published)
    shutil.copytree(repo.path.parent / "before", published)
    write(desk / "TASKS.md", words)
    line.ok("status")
    assert [task["title"] for task in line.json("task", "list")["tasks"]].count("New") == 2
    assert state_of(line, "T-1")[0] == "accepted"
    text = (desk / "TASKS.md").read_text()
    assert (text.count("New"), text.count("T-1 Login"), text.count("lineclear says")) == (2, 1, 0)


def test_many_processes_at_once_leave_the_newest_picture(
    line: CommandLine, repo: TemporaryRepo, desk: Path
) -> None:
    running = [line.start("task", "add", f"Number {number}", "--as", "ben") for number in range(8)]
    assert [process.wait() for process in running] == [0] * 8
    text = (desk / "TASKS.md").read_text()
    assert text == (repo.path / "TASKS.md").read_text()
    assert text.count("Number ") == 8
    assert line.json("audit")["findings"] == []


def test_a_watcher_takes_edits_in_by_itself(line: CommandLine, repo: TemporaryRepo, desk: Path) -> None:
    watcher = line.start("mirror", "--watch")
    edit(desk / "TASKS.md", "- [ ] T-1", "- [x] T-1")
    until(lambda: "- [x] T-1" in (repo.path / "TASKS.md").read_text())
    watcher.end()
    assert state_of(line, "T-1")[0] == "accepted"


def test_what_is_held_around_a_command_shows_while_it_runs(
    line: CommandLine, repo: TemporaryRepo, desk: Path
) -> None:
    line.ok("mirror", "--on", "locks")
    seen = line.ok("with", "README.md", "--as", "ada", "--", "cat", "README.md.agent-lock")
    assert "agent: ada\nresource: file:README.md\n" in seen.out
    assert not (repo.path / "README.md.agent-lock").exists()
    assert not (desk / "README.md.agent-lock").exists()


def test_a_lock_of_another_tool_keeps_others_out_until_it_is_stale(
    line: CommandLine, repo: TemporaryRepo, desk: Path
) -> None:
    lock = desk / "README.md.agent-lock"
    lock.write_text("other tool at work")
    line.ok("claim", "README.md", "--as", "ben")
    line.ok("release", "--all", "--as", "ben")
    line.ok("mirror", "--on", "locks")
    error = line.refused("claim", "README.md", "--as", "ben", code=3)
    assert (error["code"], error["words"]) == ("claim.lock_file", "other tool at work")
    assert line.run("with", "README.md", "--as", "ben", "--", "true").code == 3
    line.ok("claim", "README.md", "--as", "ben", "--mode", "intent")
    os.utime(lock, (time.time() - LONG_AGO_S, time.time() - LONG_AGO_S))
    line.ok("claim", "README.md", "--as", "ben")
    assert lock.read_text() == "other tool at work"
    assert (repo.path / "README.md.agent-lock").exists()


def test_links_are_not_followed_out_of_a_worktree(
    line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "TASKS.md").write_text("- [ ] not ours\n")
    (repo.path / ".lineclear").symlink_to(outside)
    (repo.path / "TASKS.md").symlink_to(outside / "TASKS.md")
    line.ok("mirror", "--on")
    line.ok("task", "add", "Login form")
    assert sorted(path.name for path in outside.iterdir()) == ["TASKS.md"]
    assert (outside / "TASKS.md").read_text() == "- [ ] not ours\n"
    assert "TASKS.md in main" in line.run("doctor").out


def test_a_lock_is_not_written_through_a_link(
    line: CommandLine, repo: TemporaryRepo, desk: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (desk / "src").symlink_to(tmp_path / "outside")
    (repo.path / "src").mkdir()
    line.ok("mirror", "--on", "locks")
    line.ok("claim", "src/a.py", "--as", "ben")
    assert (repo.path / "src" / "a.py.agent-lock").exists()
    assert list((tmp_path / "outside").iterdir()) == []


def test_off_takes_out_exactly_what_on_put_in(line: CommandLine, repo: TemporaryRepo) -> None:
    exclude = repo.path / ".git" / "info" / "exclude"
    exclude.write_text("# mine\n*.log")
    line.ok("mirror", "--on", "tasks", "coordination", "locks")
    line.ok("claim", "README.md")
    line.ok("mirror", "--off")
    assert sorted(path.name for path in repo.path.iterdir()) == [".git", "README.md"]
    assert exclude.read_text() == "# mine\n*.log\n"
    line.ok("task", "add", "Login form")
    assert not (repo.path / "TASKS.md").exists()


def test_a_page_that_was_there_before_us_is_its_authors_again(line: CommandLine, repo: TemporaryRepo) -> None:
    page, own = repo.path / "TASKS.md", "# Mine\r\n\r\n- [ ] buy milk\r\n\r\nnot a task"
    page.write_bytes(own.encode())
    os.utime(page, (time.time() - 5, time.time() - 5))
    line.ok("mirror", "--on")
    line.ok("task", "add", "Login form")
    assert "T-1 buy milk (open)" in page.read_text()
    answer = line.json("mirror", "--off")
    assert page.read_bytes() == own.encode()
    assert answer["restored"] == [str(page)]
    assert str(page) not in answer["removed"]

    line.ok("mirror", "--on")
    assert [task["title"] for task in line.json("task", "list")["tasks"]] == ["buy milk", "Login form"]
    edit(page, "not a task", "a later thought")
    line.ok("mirror", "--now")
    line.ok("mirror", "--off")
    kept = page.read_text()
    assert "a later thought" in kept
    assert "T-1 buy milk" in kept
    assert "<!-- lineclear" not in kept


def test_uninstall_leaves_no_file_behind(line: CommandLine, repo: TemporaryRepo) -> None:
    line.ok("mirror", "--on", "tasks", "coordination", "locks")
    line.ok("claim", "README.md")
    line.ok("uninstall", "--yes")
    assert sorted(path.name for path in repo.path.iterdir()) == [".git", "README.md"]
    assert not (repo.path / ".git" / "lineclear").exists()


def test_the_doctor_tells_of_drift(line: CommandLine, repo: TemporaryRepo, desk: Path) -> None:
    assert "tasks, coordination in 2 worktrees, up to date" in line.ok("doctor").out
    (desk / ".lineclear" / "coordination.json").unlink()
    assert "files are missing or edited in desk" in line.ok("doctor").out
    line.ok("setup", "conventions")
    assert "AGENTS.md matches the settings" in line.ok("doctor").out
    (repo.path / "lineclear.toml").write_text(
        '[[strategy]]\nmatch = "vendor/"\nstrategy = "read-only"\n[mirror]\ntasks = true\n'
    )
    assert "the block in AGENTS.md is not up to date" in line.ok("doctor").out


def test_the_block_is_planned_applied_checked_and_removed(
    bare_line: CommandLine, repo: TemporaryRepo
) -> None:
    theirs = b"# Mine\r\n\r\nkeep\r\n"
    (repo.path / "CLAUDE.md").write_bytes(theirs)
    planned = bare_line.ok("setup", "conventions", "--dry-run")
    assert "AGENTS.md: create it with the block" in planned.out
    assert "file you did not touch" in planned.out
    assert not (repo.path / "AGENTS.md").exists()
    bare_line.ok("setup", "conventions")
    bare_line.ok("setup", "conventions", "--check")
    assert b"\r\n@AGENTS.md\r\n" in (repo.path / "CLAUDE.md").read_bytes()
    assert "\n@AGENTS.md\n" in (repo.path / "GEMINI.md").read_text()

    edit(repo.path / "AGENTS.md", "Never push", "Do push")
    assert bare_line.run("setup", "conventions", "--check").code == 6
    assert bare_line.refused("setup", "conventions", code=7)["code"] == "conventions.edited"
    bare_line.ok("setup", "conventions", "--force")
    bare_line.ok("setup", "conventions", "--remove")
    assert (repo.path / "CLAUDE.md").read_bytes() == theirs
    assert sorted(path.name for path in repo.path.iterdir()) == [".git", "CLAUDE.md", "README.md"]


def test_a_claude_md_that_is_a_link_to_agents_md_is_one_file(
    bare_line: CommandLine, repo: TemporaryRepo
) -> None:
    (repo.path / "AGENTS.md").write_text("# Mine\n")
    (repo.path / "CLAUDE.md").symlink_to("AGENTS.md")
    bare_line.ok("setup", "conventions")
    assert (repo.path / "CLAUDE.md").is_symlink()
    assert (repo.path / "AGENTS.md").read_text().count("lineclear:begin") == 1
    bare_line.ok("setup", "conventions", "--remove")
    assert (repo.path / "AGENTS.md").read_text() == "# Mine\n"


def test_a_link_out_of_the_repository_is_refused(
    bare_line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.md").write_text("not yours\n")
    (repo.path / "AGENTS.md").symlink_to(tmp_path / "elsewhere.md")
    assert bare_line.refused("setup", "conventions", code=4)["code"] == "conventions.broken"
    assert (tmp_path / "elsewhere.md").read_text() == "not yours\n"
