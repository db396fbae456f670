"""What a cloned repository may do before a person trusts it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.boundary import Listener, write_by_hook
from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()


def test_a_committed_store_gets_no_connection_before_it_is_trusted(
    bare_line: CommandLine, repo: TemporaryRepo, listener: Listener
) -> None:
    url = f"postgresql://127.0.0.1:{listener.port}/team?connect_timeout=2"
    repo.commit("Settings", {"lineclear.toml": f'[repo]\nid = "shop"\n[store]\nurl = "{url}"\n'})
    bare_line.environment["PGPASSWORD"] = "hidden"
    for words in (("status",), ("init",), ("doctor",), ("task", "list"), ("worktree", "add", "ada")):
        bare_line.run(*words)
    write_by_hook(bare_line, repo.path / "a.txt")
    assert listener.connections() == 0

    refused = bare_line.run("--json", "status")
    assert (refused.code, refused.error["code"]) == (4, "trust.missing"), refused
    assert "store.url" in refused.error["where"]
    assert url in bare_line.ok("trust", "--show").out
    agent = bare_line.run("--json", "trust", env={"CLAUDECODE": "1"})
    assert (agent.code, agent.error["code"]) == (4, "person.only"), agent
    assert listener.connections() == 0

    bare_line.ok("trust")
    assert "known" in bare_line.ok("trust", "--show").out
    assert listener.connections() == 0
    bare_line.run("init")
    assert listener.connections() == 1


def test_worktrees_outside_the_neighbourhood_need_trust(
    line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    outside = tmp_path / "home" / ".config" / "autostart"
    for text in (str(outside), "~/.config/autostart", "../home/.config/autostart", "../repo.x/../home/.ssh"):
        repo.commit(f"In {text}", {"lineclear.toml": f'[worktrees]\ndirectory = "{text}"\n'})
        made = line.run("worktree", "add", "ada")
        assert "worktrees.directory does not count" in made.err, made
        assert (tmp_path / "repo.worktrees" / "ada").is_dir()
        assert list((tmp_path / "home").rglob("*")) == []
        line.ok("worktree", "remove", "ada")

    assert "~" not in line.ok("trust").out
    repo.commit("Back", {"lineclear.toml": f'[worktrees]\ndirectory = "{outside}"\n'})
    line.ok("trust")
    assert line.ok("worktree", "add", "ben").err == ""
    assert (outside / "ben").is_dir()
    repo.commit("Beside", {"lineclear.toml": '[worktrees]\ndirectory = "../repo-agents/all"\n'})
    assert line.ok("worktree", "add", "eve").err == ""
    assert (tmp_path / "repo-agents" / "all" / "eve").is_dir()


@pytest.mark.parametrize("text", ["secrets = true", "secret_names = []", 'secret_names = ["*.kdbx"]'])
def test_secrets_stay_out_of_snapshots_before_trust(
    line: CommandLine, repo: TemporaryRepo, text: str
) -> None:
    repo.commit("Settings", {"lineclear.toml": f"[snapshots]\n{text}\n"})
    line.ok("worktree", "add", "ada")
    place = repo.path.parent / "repo.worktrees" / "ada"
    for name in (".env", "id_rsa", "plain.txt"):
        (place / name).write_text("x\n")

    def saved() -> set[str]:
        """The files of all snapshots."""
        line.at(place).ok("salvage", "take")
        refs = repo.git("for-each-ref", "--format=%(refname)", "refs/lineclear/").split("\n")
        return {name for ref in refs for name in repo.git("ls-tree", "--name-only", ref).split("\n")}

    assert saved() & {".env", "id_rsa", "plain.txt"} == {"plain.txt"}
    line.ok("trust")
    (place / "plain.txt").write_text("y\n")
    assert saved() >= {".env", "id_rsa", "plain.txt"}


def test_a_landing_is_pushed_only_to_a_remote_that_this_clone_names_and_trusts(
    line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    vendor, ran = repo.path / "vendor", tmp_path / "ran"
    repo.git("init", "--quiet", "--bare", str(vendor))
    (vendor / "hooks" / "pre-receive").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (vendor / "hooks" / "pre-receive").chmod(0o755)
    main = repo.git("rev-parse", "main")
    for text in ("vendor", "./vendor", f"file://{vendor}", "https://127.0.0.1:1/x.git"):
        repo.commit(f"To {text}", {"lineclear.toml": f'[queue]\nremote = "{text}"\n'})
        main = repo.git("rev-parse", "main")
        repo.git("branch", "--force", "work", repo.git("commit-tree", "-p", "main", "-m", "W", "main^{tree}"))
        line.ok("trust")
        refused = line.refused("land", "work", code=4)
        assert (refused["code"], refused["remote"]) == ("queue.remote", text)
    assert not ran.exists()

    line.ok("trust", "--revoke")
    repo.git("remote", "add", "origin", str(vendor))
    main = repo.commit("Origin", {"lineclear.toml": '[queue]\nremote = "origin"\n'})
    repo.commit("Work", {"b.txt": "b\n"}, at=repo.add_worktree("ada"))
    refused = line.refused("land", "ada", code=4)
    assert (refused["code"], refused["where"]) == ("trust.missing", ["queue.remote"])
    assert (ran.exists(), repo.git("rev-parse", "main")) == (False, main)
    line.ok("trust")
    repo.git("push", "--quiet", "origin", "main")
    assert line.json("land", "ada")["result"] == "landed"
    assert ran.exists()
