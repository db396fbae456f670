"""The gate in git's hooks: agents are stopped with the way out, people are warned, own hooks go on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo

AGENT = {"LINECLEAR_AGENT": "ada"}
TOML = '[[strategy]]\nmatch = "LICENSE"\nstrategy = "read-only"\n'


class Shell:
    """Git as somebody types it, with that one's environment."""

    def __init__(self, line: CommandLine) -> None:
        self.line = line

    def git(
        self, *words: str, at: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words],
            cwd=at or self.line.place,
            env={**self.line.environment, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def shell(line: CommandLine, repo: TemporaryRepo) -> Shell:
    repo.commit("Assets", {"logo.png": "1", "LICENSE": "free\n", "lineclear.toml": TOML})
    line.ok("setup", "git")
    return Shell(line)


def change(repo: TemporaryRepo, name: str, text: str = "2", at: Path | None = None) -> None:
    ((at or repo.path) / name).write_text(text)


def test_a_locked_file_stops_an_agents_commit_until_it_is_claimed(
    shell: Shell, line: CommandLine, repo: TemporaryRepo
) -> None:
    change(repo, "logo.png")
    refused = shell.git("commit", "-am", "new logo", env=AGENT)
    assert refused.returncode == 1
    assert "lineclear claim file:logo.png --mode exclusive" in refused.stderr
    line.ok("claim", "logo.png", "--mode", "exclusive", "--as", "ada")
    assert shell.git("commit", "-am", "new logo", env=AGENT).returncode == 0


def test_conflict_markers_come_in_by_no_door(shell: Shell, line: CommandLine, repo: TemporaryRepo) -> None:
    marked = "<<<<<<< main\nx = 1\n=======\nx = 2\n>>>>>>> ada\n"
    repo.commit("About markers", {"help.md": marked, "a.py": "x = 0\n"})
    repo.git("switch", "--quiet", "-c", "ada")
    change(repo, "a.py", f"import os\n{marked}")
    change(repo, "help.md", f"{marked}more\n")
    refused = shell.git("commit", "-am", "both", env=AGENT)
    assert refused.returncode == 1
    assert "a.py adds a conflict marker at line 2." in refused.stderr
    assert "help.md" not in refused.stderr
    warned = shell.git("commit", "-am", "both")
    assert warned.returncode == 0
    assert "warning: a.py adds a conflict marker at line 2." in warned.stderr
    checked = line.run("check", "ada")
    assert checked.code == 6
    assert "a.py adds a conflict marker at line 2." in checked.out
    landed = line.run("land", "ada")
    assert landed.code == 6
    assert "ada: it adds conflict markers: a.py at line 2." in landed.out
    assert repo.git("show", "main:a.py") == "x = 0"
    change(repo, "a.py", "x = 2\n")
    assert shell.git("commit", "-am", "settled", env=AGENT).returncode == 0
    line.ok("land", "ada")
    assert repo.git("show", "main:help.md").endswith("more")


def test_a_person_is_warned_and_goes_on(shell: Shell, repo: TemporaryRepo) -> None:
    change(repo, "logo.png")
    done = shell.git("commit", "-am", "new logo")
    assert done.returncode == 0
    assert "warning: Cannot write file:logo.png without an exclusive claim" in done.stderr


def test_a_read_only_file_is_no_agents(shell: Shell, repo: TemporaryRepo) -> None:
    change(repo, "LICENSE")
    refused = shell.git("commit", "LICENSE", "-m", "mine now", env=AGENT)
    assert refused.returncode == 1
    assert "read-only for agents" in refused.stderr


def test_what_another_holds_stays_out(shell: Shell, line: CommandLine, repo: TemporaryRepo) -> None:
    line.ok("claim", "README.md", "--mode", "exclusive", "--as", "ben")
    change(repo, "README.md")
    refused = shell.git("commit", "-am", "read me", env=AGENT)
    assert refused.returncode == 1
    assert "ben" in refused.stderr


def test_of_a_held_symbol_only_what_touches_it_stays_out(
    shell: Shell, line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    code = "def check():\n    return 1\n\n\ndef load():\n    return 2\n"
    repo.commit("Code", {"a.py": code})
    line.ok("worktree", "add", "ada", "--agent", "ada")
    tree = repo.path.parent / "repo.worktrees/ada"
    line.ok("claim", "symbol:a.py#check", "--mode", "exclusive", "--as", "ben")
    change(repo, "a.py", code.replace("return 1", "return 10"), tree)
    refused = shell.git("commit", "-am", "check", at=tree, env=AGENT)
    assert refused.returncode == 1
    assert "ben holds symbol:a.py#check" in refused.stderr

    change(repo, "a.py", code.replace("return 2", "return 20"), tree)
    done = shell.git("commit", "-am", "load", at=tree, env=AGENT)
    assert done.returncode == 0, done.stderr
    remote = tmp_path / "remote.git"
    shell.git("init", "--bare", str(remote))
    pushed = shell.git("push", str(remote), "HEAD:refs/heads/ada", at=tree, env=AGENT)
    assert pushed.returncode == 0, pushed.stderr
    line.at(tree).ok("land", "--as", "ada")
    assert "return 20" in repo.git("show", "main:a.py")

    change(repo, "a.py", code.replace("return 1", "return 10"), tree)
    shell.git("commit", "--no-verify", "-am", "check", at=tree, env=AGENT)
    assert line.at(tree).run("land", "--as", "ada").code != 0
    assert "return 10" not in repo.git("show", "main:a.py")


def test_other_files_pass(shell: Shell, repo: TemporaryRepo) -> None:
    change(repo, "README.md")
    assert shell.git("commit", "-am", "read me", env=AGENT).returncode == 0


def test_another_agents_worktree_is_refused(shell: Shell, line: CommandLine, repo: TemporaryRepo) -> None:
    line.ok("worktree", "add", "ben", "--agent", "ben")
    tree = repo.path.parent / "repo.worktrees/ben"
    change(repo, "README.md", at=tree)
    refused = shell.git("commit", "-am", "x", at=tree, env=AGENT)
    assert refused.returncode == 1
    assert "It belongs to ben" in refused.stderr
    assert shell.git("commit", "-am", "x", at=tree).returncode == 0


def test_an_agent_with_a_worktree_does_not_move_main_itself(
    shell: Shell, line: CommandLine, repo: TemporaryRepo
) -> None:
    line.ok("worktree", "add", "ada", "--agent", "ada")
    tree = repo.path.parent / "repo.worktrees/ada"
    change(repo, "README.md", at=tree)
    assert shell.git("commit", "-am", "x", at=tree, env=AGENT).returncode == 0
    main = repo.git("rev-parse", "main")
    refused = shell.git("update-ref", "refs/heads/main", "HEAD", at=tree, env=AGENT)
    assert refused.returncode != 0
    assert "lineclear land" in refused.stderr
    assert repo.git("rev-parse", "main") == main
    assert shell.git("branch", "aside", at=tree, env=AGENT).returncode == 0
    line.at(tree).ok("land", "--as", "ada")
    assert repo.git("rev-parse", "main") != main


def test_a_push_past_the_commit_gate_is_stopped(shell: Shell, line: CommandLine, repo: TemporaryRepo) -> None:
    repo.git("init", "--quiet", "--bare", "../remote.git")
    repo.git("remote", "add", "origin", str(repo.path.parent / "remote.git"))
    repo.git("push", "--quiet", "origin", "main")
    line.ok("worktree", "add", "ada", "--agent", "ada")
    tree = repo.path.parent / "repo.worktrees/ada"
    change(repo, "logo.png", at=tree)
    assert shell.git("commit", "--no-verify", "-am", "x", at=tree, env=AGENT).returncode == 0
    refused = shell.git("push", "origin", "HEAD:refs/heads/mine", at=tree, env=AGENT)
    assert refused.returncode == 1
    assert "logo.png" in refused.stderr
    past = shell.git("push", "origin", "HEAD:refs/heads/main", at=tree, env=AGENT)
    assert "Only landings move" in past.stderr


def test_a_merge_of_main_is_not_held_against_the_agent(
    shell: Shell, line: CommandLine, repo: TemporaryRepo
) -> None:
    line.ok("worktree", "add", "ada", "--agent", "ada")
    tree = repo.path.parent / "repo.worktrees/ada"
    change(repo, "README.md", at=tree)
    assert shell.git("commit", "-am", "x", at=tree, env=AGENT).returncode == 0
    change(repo, "logo.png", "by the person")
    assert shell.git("commit", "-am", "logo").returncode == 0
    assert shell.git("merge", "--no-commit", "main", at=tree, env=AGENT).returncode == 0
    merged = shell.git("commit", "-m", "merge main", at=tree, env=AGENT)
    assert merged.returncode == 0, merged.stderr


def test_hooks_switched_off_are_made_up_for_at_landing(
    shell: Shell, line: CommandLine, repo: TemporaryRepo
) -> None:
    """As Gemini CLI does it: git with core.hooksPath empty runs no hook at all."""
    line.ok("worktree", "add", "ada", "--agent", "ada")
    tree = repo.path.parent / "repo.worktrees/ada"
    change(repo, "logo.png", at=tree)
    assert shell.git("-c", "core.hooksPath=", "commit", "-am", "x", at=tree, env=AGENT).returncode == 0
    main = repo.git("rev-parse", "main")
    told = line.at(tree).run("land", "--as", "ada")
    assert told.code != 0
    assert "logo.png" in told.out + told.err
    assert repo.git("rev-parse", "main") == main
    line.ok("claim", "logo.png", "--mode", "exclusive", "--as", "ada")
    line.at(tree).ok("land", "--as", "ada")


def own_hook(path: Path, log: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "$0 $*" >>"{log}"\ncat >>"{log}"\n')
    path.chmod(0o755)


def test_the_users_own_hooks_go_on(bare_line: CommandLine, repo: TemporaryRepo, tmp_path: Path) -> None:
    log = tmp_path / "log"
    own_hook(repo.path / ".git/hooks/pre-commit", log)
    own_hook(repo.path / ".git/hooks/reference-transaction", log)
    bare_line.ok("init")
    bare_line.ok("setup", "git")
    log.write_text("")
    shell = Shell(bare_line)
    change(repo, "README.md")
    assert shell.git("commit", "-am", "x", env=AGENT).returncode == 0
    text = log.read_text()
    assert "pre-commit" in text
    assert "reference-transaction" in text
    assert " refs/heads/main" in text


@pytest.mark.parametrize("directory", [".husky/_", ".githooks"])
def test_a_manager_of_hooks_is_chained_and_not_touched(
    line: CommandLine, repo: TemporaryRepo, tmp_path: Path, directory: str
) -> None:
    log = tmp_path / "log"
    for name in ("pre-commit", "commit-msg", "pre-push"):
        own_hook(repo.path / directory / name, log)
    repo.git("config", "core.hooksPath", directory)
    repo.commit("Hooks", {"logo.png": "1"})
    before = {path.name: path.read_bytes() for path in (repo.path / directory).iterdir()}
    line.ok("setup", "git")
    assert line.json("setup", "git")["steps"] == []
    assert {path.name: path.read_bytes() for path in (repo.path / directory).iterdir()} == before
    log.write_text("")
    shell = Shell(line)
    change(repo, "README.md")
    assert shell.git("commit", "-am", "x", env=AGENT).returncode == 0
    # Under their own names: husky looks at the name it was called by.
    assert f"{directory}/pre-commit" in log.read_text()
    assert f"{directory}/commit-msg" in log.read_text()
    change(repo, "logo.png")
    assert shell.git("commit", "-am", "x", env=AGENT).returncode == 1
    assert line.json("setup", "git", "--check")["state"] == "fired"
    line.ok("setup", "git", "--remove")
    assert repo.git("config", "core.hooksPath") == directory


def test_a_hook_that_another_tool_moved_aside_is_still_found(line: CommandLine, repo: TemporaryRepo) -> None:
    """As `pre-commit install` does it: the hook it finds becomes NAME.legacy, and is called first."""
    hooks = repo.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 0\n")
    line.ok("setup", "git")
    (hooks / "pre-commit").rename(hooks / "pre-commit.legacy")
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 0 # theirs\n")
    line.ok("setup", "git", "--remove")
    assert (hooks / "pre-commit").read_text() == "#!/bin/sh\nexit 0 # theirs\n"
    assert (hooks / "pre-commit.legacy").read_text() == "#!/bin/sh\nexit 0\n"
    assert not list(hooks.glob("*.kept-by-lineclear"))


def test_a_check_sees_that_somebody_set_another_path(line: CommandLine, repo: TemporaryRepo) -> None:
    line.ok("setup", "git")
    assert line.json("setup", "git", "--check")["state"] == "fired"
    repo.git("config", "core.hooksPath", ".husky/_")
    told = line.run("setup", "git", "--check")
    assert told.code == 6
    assert "core.hooksPath" in told.out


def test_without_a_store_git_goes_on(shell: Shell, repo: TemporaryRepo) -> None:
    (repo.path / ".git/lineclear/state.db").unlink()
    change(repo, "logo.png")
    done = shell.git("commit", "-am", "x", env=AGENT)
    assert done.returncode == 0
    assert "git continues" in done.stderr


def test_a_broken_interpreter_stops_nobody(shell: Shell, repo: TemporaryRepo) -> None:
    gate = repo.path / ".git/lineclear/gate"
    change(repo, "logo.png")
    gate.write_text(gate.read_text().replace("-m lineclear", "-m no_such_module"))
    assert shell.git("commit", "-am", "x", env=AGENT).returncode == 0
