"""Sessions as hooks tell of them: who one is over resumes and restarts, sub-agents, goodbyes, and how long
what was announced lasts."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commandline import CommandLine
from tests.e2e.test_hook_verb import call, edit, errors
from tests.repository import TemporaryRepo

DAY_S = 24 * 3_600


def begin(line: CommandLine, session: str, source: str, at: Path) -> str:
    """Begin a session; gives the name that its model is told."""
    inner = call(line, "SessionStart", session=session, at=at, source=source)["hookSpecificOutput"]
    return str(inner["additionalContext"]).partition("You are ")[2].partition(".")[0]


def agents(line: CommandLine) -> list[str]:
    return [agent["name"] for agent in line.json("agent", "list")["agents"] if agent["kind"] == "agent"]


def claims_on(line: CommandLine, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = line.json("who", path)["holders"]
    return found


# -- who one is -------------------------------------------------------------------------------


def test_a_session_that_is_resumed_compacted_or_cleared_stays_the_same_agent(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    tree = repo.add_worktree("side")
    assert begin(line, "s1", "startup", tree) == "claude-1"
    assert begin(line, "s1", "compact", tree) == "claude-1"
    assert begin(line, "s1", "resume", tree) == "claude-1"
    # A clear ends the session, and a new one with another id begins.
    call(line, "SessionEnd", session="s1", at=tree, reason="clear")
    assert begin(line, "s2", "clear", tree) == "claude-1"
    assert agents(line) == ["claude-1"]


def test_after_a_kill_the_next_session_in_its_place_is_the_same_agent_with_its_claims(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    tree = repo.add_worktree("side")
    assert begin(line, "s1", "startup", tree) == "claude-1"
    edit(line, tree / "README.md", at=tree)
    for sign in (repo.path / ".git/lineclear").rglob("claude-1*"):
        if sign.is_file() and "sessions" not in sign.parts:
            os.utime(sign, ns=(0, 0))  # nothing was heard of it for very long
    assert begin(line, "s2", "startup", tree) == "claude-1"
    assert line.holders("README.md") == ["claude-1"]
    assert agents(line) == ["claude-1"]


def test_two_live_sessions_in_one_worktree_are_two_and_keep_each_other_out_of_a_file(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    tree = repo.add_worktree("side")
    assert begin(line, "s1", "startup", tree) == "claude-1"
    assert begin(line, "s2", "startup", tree) == "claude-2"
    file = tree / "README.md"
    assert edit(line, file, session="s1", at=tree) == ""
    assert "claude-1 holds file:README.md (exclusive)" in edit(line, file, session="s2", at=tree)
    edit(line, file, session="s1", at=tree, event="PostToolUse")
    assert edit(line, file, session="s2", at=tree) == ""
    # The worktree is still the first one's, and both are who they were.
    rows = {row["name"]: row["agent"] for row in line.json("worktree", "list")["worktrees"]}
    assert rows["side"] == "claude-1"
    assert begin(line, "s2", "resume", tree) == "claude-2"
    assert begin(line, "s1", "resume", tree) == "claude-1"
    assert errors(line) == ""


def test_a_claim_in_the_agents_shell_is_the_hooks_agents(line: CommandLine, repo: TemporaryRepo) -> None:
    one, two = repo.add_worktree("one"), repo.add_worktree("two")
    begin(line, "s1", "startup", one)
    begin(line, "s2", "startup", two)
    env = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
    assert line.at(one).run("claim", "README.md", "--mode", "exclusive", env=env).code == 0
    assert line.holders("README.md") == ["claude-1"]
    assert edit(line, one / "README.md", session="s1", at=one) == ""
    assert "claude-1 holds" in edit(line, two / "README.md", session="s2", at=two)


def test_a_holder_is_told_when_a_command_of_another_agent_changed_its_file(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    file = repo.path / "README.md"
    begin(line, "s1", "startup", repo.path)
    begin(line, "s2", "startup", repo.path)
    line.ok("claim", "README.md", "--mode", "exclusive", "--as", "claude-1")
    file.write_text("by the holder\n")
    given: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "git checkout -- README.md"}}
    given["tool_use_id"] = "t1"
    call(line, "PreToolUse", session="s2", **given)
    repo.git("checkout", "--", "README.md")
    told = str(call(line, "PostToolUse", session="s2", **given))
    assert "claude-1 holds file:README.md" in told
    assert "Undo: run `" in told
    assert "commit gate" not in told  # not every client runs git's hooks, and no commit has to
    given |= {"tool_input": {"command": "echo on"}, "tool_use_id": "t2"}
    heard = str(call(line, "PreToolUse", session="s1", **given))
    assert "A command of claude-2 changed file:README.md, which you hold exclusively" in heard
    assert "urgent" in heard
    # A command of the holder runs meanwhile: it could have been either, and the holder knows.
    file.write_text("by the holder\n")
    ours, theirs = given | {"tool_use_id": "t4"}, given | {"tool_use_id": "t5"}
    call(line, "PreToolUse", session="s1", **ours)
    call(line, "PreToolUse", session="s2", **theirs)
    repo.git("checkout", "--", "README.md")
    assert "Another agent may have changed" in str(call(line, "PostToolUse", session="s2", **theirs))
    heard = str(call(line, "PostToolUse", session="s1", **ours))
    assert "file:README.md, which you hold exclusively, changed while a command of claude-2 ran" in heard
    assert "urgent" not in heard
    # In a worktree of its own an agent changes its own copy.
    tree = repo.add_worktree("side")
    begin(line, "s3", "startup", tree)
    given["tool_use_id"] = "t3"
    call(line, "PreToolUse", session="s3", at=tree, **given)
    (tree / "README.md").write_text("mine\n")
    assert "claude-1 holds" in str(call(line, "PostToolUse", session="s3", at=tree, **given))
    assert len(line.json("log", "--kind", "MessageSent")["events"]) == 2
    assert errors(line) == ""


def test_a_sub_agent_has_its_parents_claims_and_its_sibling_does_not_have_its_own(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    call(line, "SessionStart")
    file = repo.path / "README.md"
    call(line, "SubagentStart", agent_id="a1", agent_type="x")
    call(line, "SubagentStart", agent_id="a2", agent_type="x")
    line.ok("claim", "README.md", "--mode", "exclusive", "--as", "claude-1/a1")
    assert "claude-1/a1 holds file:README.md (exclusive)" in edit(line, file, agent_id="a2")
    assert edit(line, file) == ""
    line.ok("release", "--all", "--as", "claude-1/a1")
    line.ok("claim", "README.md", "--mode", "exclusive", "--as", "claude-1")
    assert edit(line, file, agent_id="a2") == ""
    assert errors(line) == ""


def test_a_sub_agent_in_a_worktree_of_its_own_claims_in_its_own_name(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    env = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
    begin(line, "s1", "startup", repo.path)
    for child in ("a1", "a2"):
        tree = repo.add_worktree(f"agent-{child}")
        call(line, "SubagentStart", session="s1", at=tree, agent_id=child, agent_type="x")
        done = line.at(tree).run("claim", "README.md", "--mode", "exclusive", env=env)
        assert done.code == (0 if child == "a1" else 3), done.err
    assert line.holders("README.md") == ["claude-1/a1"]
    # The session is still the parent's.
    assert line.run("claim", "b.py", env=env).code == 0
    assert line.holders("b.py") == ["claude-1"]
    assert errors(line) == ""


def test_a_sub_agent_does_not_overwrite_what_its_sibling_wrote_in_their_worktree(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    tree = repo.add_worktree("side")
    file = tree / "README.md"
    begin(line, "s1", "startup", tree)
    for child in ("a1", "a2"):
        call(line, "SubagentStart", at=tree, agent_id=child, agent_type="x")

    def use(event: str, tool: str, child: str = "") -> str:
        given: dict[str, Any] = {"tool_name": tool, "tool_input": {"file_path": str(file), "content": "x"}}
        return str(call(line, event, at=tree, **given, **({"agent_id": child} if child else {})))

    assert edit(line, file, at=tree, agent_id="a1") == ""
    file.write_text("by a1\n")
    edit(line, file, at=tree, agent_id="a1", event="PostToolUse")
    call(line, "SubagentStop", at=tree, agent_id="a1")
    refused = use("PreToolUse", "Write", "a2")
    assert "claude-1/a1 wrote it last. Re-read it, then write again." in refused
    assert "wrote it last" in use("PreToolUse", "Write")  # their parent has not read it either
    use("PostToolUse", "Read", "a2")
    told = use("PreToolUse", "Write", "a2")
    assert "deny" not in told
    assert "wrote it last" in use("PreToolUse", "Write")
    # They share one copy, and nobody says otherwise.
    sent = [entry["body"] for entry in line.json("log", "--kind", "MessageSent")["events"]]
    assert sent
    assert all("share one copy" in str(body) for body in sent), sent
    assert errors(line) == ""


def test_a_sub_agent_with_a_session_of_its_own_has_its_parents_claims_in_its_shell_too(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    file = repo.path / "README.md"
    call(line, "SessionStart", client="grok")
    call(line, "UserPromptSubmit", client="grok", session="c1", subagentType="explore")
    call(line, "SubagentStart", client="grok", subagentId="c1", subagentType="explore")
    line.ok("claim", "README.md", "--mode", "exclusive", "--as", "grok-1")
    given: dict[str, Any] = {"tool_name": "search_replace", "tool_input": {"file_path": str(file)}}
    given["subagentType"] = "explore"
    assert "is not yours" not in str(call(line, "PreToolUse", client="grok", session="c1", **given))
    env = {"GROK_AGENT": "1", "GROK_SESSION_ID": "c1"}
    assert line.run("claim", "other.md", "--mode", "exclusive", env=env).code == 0
    assert line.holders("other.md") == ["grok-1/c1"]
    call(line, "SessionEnd", client="grok", session="c1", subagentType="explore")
    assert agents(line) == ["grok-1", "grok-1/c1"]
    # Another session, which nobody has called a sub-agent.
    assert "grok-1 holds" in str(call(line, "PreToolUse", client="grok", session="s2", **given))
    assert errors(line) == ""


def test_the_shell_of_droid_gets_to_know_its_session(line: CommandLine, repo: TemporaryRepo) -> None:
    line.ok("setup", "droid", "--no-mcp")
    stub, variables = repo.path / ".git/lineclear/hook", repo.path.parent / "env.sh"
    told = {}
    for session in ("s-1", "s 2; rm"):
        data = json.dumps({"session_id": session, "cwd": str(repo.path)}, separators=(",", ":"))
        told[session] = subprocess.run(
            [stub, "droid", "SessionStart"],
            cwd=repo.path, env=repo.environment | {"CLAUDE_ENV_FILE": str(variables)}, input=data.encode(),
            capture_output=True, check=True,
        ).stdout  # fmt: skip
    assert variables.read_text() == "export LINECLEAR_DROID_SESSION=s-1\n"
    assert b"You are droid-1" in told["s-1"]
    assert b"You are droid-2" in told["s 2; rm"]
    env = {"LINECLEAR_DROID_SESSION": "s-1"}
    assert line.run("claim", "README.md", "--mode", "exclusive", env=env).code == 0
    assert line.holders("README.md") == ["droid-1"]


# -- commands whose end is not told -----------------------------------------------------------


def droid(line: CommandLine, event: str, command: str = "") -> str:
    tool: dict[str, Any] = {"tool_name": "Execute", "tool_input": {"command": command}}
    said = call(line, event, client="droid", **(tool if command else {}))
    return str(said.get("hookSpecificOutput", {}).get("additionalContext", "") or said.get("reason", ""))


@pytest.fixture
def locked(line: CommandLine, repo: TemporaryRepo) -> Path:
    (repo.path / "lineclear.toml").write_text('[[strategy]]\nmatch = "README.md"\nstrategy = "locked"\n')
    droid(line, "SessionStart")
    return repo.path / "README.md"


def test_a_command_that_failed_is_told_of_after_the_next_one_and_once(
    line: CommandLine, locked: Path
) -> None:
    droid(line, "PreToolUse", "fails")
    locked.write_text("changed\n")
    droid(line, "PreToolUse", "works")
    assert "may not change" in droid(line, "PostToolUse", "works")
    droid(line, "PreToolUse", "works")
    assert droid(line, "PostToolUse", "works") == ""
    assert droid(line, "Stop") == ""
    assert errors(line) == ""


def test_a_command_that_failed_at_last_holds_a_stop_back_once(line: CommandLine, locked: Path) -> None:
    droid(line, "PreToolUse", "fails")
    locked.write_text("changed\n")
    assert "may not change" in droid(line, "Stop")
    assert droid(line, "Stop") == ""


def test_a_mark_that_is_gone_hides_no_other_command(line: CommandLine, locked: Path) -> None:
    droid(line, "PreToolUse", "gone")
    (mark,) = (locked.parent / ".git/lineclear/sessions").glob("droid-*.call-*")
    droid(line, "PreToolUse", "fails")
    mark.unlink()
    locked.write_text("changed\n")
    assert "may not change" in droid(line, "Stop")


def test_a_command_that_still_runs_beside_another_is_told_of_at_its_end(
    line: CommandLine, locked: Path
) -> None:
    droid(line, "PreToolUse", "slow")
    droid(line, "PreToolUse", "quick")
    assert droid(line, "PostToolUse", "quick") == ""
    locked.write_text("changed\n")
    assert "may not change" in droid(line, "PostToolUse", "slow")
    assert droid(line, "Stop") == ""


# -- goodbyes ---------------------------------------------------------------------------------


def test_an_unread_urgent_message_is_said_once_at_the_stop_and_then_read(line: CommandLine) -> None:
    call(line, "SessionStart")
    line.ok("say", "--to", "claude-1", "--urgent", "main is red", "--as", "ben")
    held_back = call(line, "Stop", stop_hook_active=False)
    assert held_back["decision"] == "block"
    assert "> main is red" in held_back["reason"]
    assert call(line, "Stop", stop_hook_active=True) == {}
    assert call(line, "Stop", stop_hook_active=False) == {}
    assert line.json("inbox", "--as", "claude-1")["messages"] == []


def test_a_message_that_is_not_urgent_does_not_hold_a_stop_back(line: CommandLine) -> None:
    call(line, "SessionStart")
    line.ok("say", "--to", "claude-1", "lunch?", "--as", "ben")
    assert "decision" not in call(line, "Stop", stop_hook_active=False)


# -- how long announcements last --------------------------------------------------------------


def commit(repo: TemporaryRepo, tree: Path, name: str) -> None:
    (tree / name).write_text("mine\n")
    repo.git("add", name, at=tree)
    repo.git("commit", "--quiet", "--message=mine", at=tree)


def test_what_was_changed_stays_announced_after_the_session_until_the_branch_lands(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    tree, other = repo.add_worktree("side"), repo.add_worktree("other")
    begin(line, "s1", "startup", tree)
    for name in ("README.md", "made.py", "unchanged.py"):
        edit(line, tree / name, at=tree)
    commit(repo, tree, "made.py")
    (tree / "README.md").write_text("not committed yet\n")
    call(line, "SessionEnd", session="s1", at=tree, reason="other")
    assert line.holders("unchanged.py") == []
    (kept,) = claims_on(line, "made.py")
    assert (kept["agent"], kept["mode"]) == ("claude-1", "intent")
    assert kept["seconds_left"] > DAY_S
    # Nobody is stopped by it, and everybody is told.
    assert "claude-1 is changing file:made.py" in edit(line, other / "made.py", session="s2", at=other)
    line.at(tree).ok("land", "--as", "claude-1")
    assert line.holders("made.py") == ["claude-2"]
    # What did not land is still under way.
    assert line.holders("README.md") == ["claude-1"]
    assert line.json("audit")["findings"] == []
    assert errors(line) == ""


@pytest.mark.parametrize("history", ["merge", "linear"])
def test_what_has_landed_does_not_count_as_changed_at_the_end_of_the_next_session(
    line: CommandLine, repo: TemporaryRepo, history: str
) -> None:
    repo.commit("Settings", {"lineclear.toml": f'[queue]\nhistory = "{history}"\n'})
    tree = repo.add_worktree("side")
    begin(line, "s1", "startup", tree)
    edit(line, tree / "made.py", at=tree)
    commit(repo, tree, "made.py")
    line.at(tree).ok("land", "--as", "claude-1")
    edit(line, tree / "made.py", at=tree)
    assert line.holders("made.py") == ["claude-1"]
    call(line, "SessionEnd", session="s1", at=tree, reason="other")
    assert line.holders("made.py") == []


def test_what_was_announced_ends_with_a_worktree_that_is_dropped(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    tree = repo.add_worktree("side")
    begin(line, "s1", "startup", tree)
    edit(line, tree / "made.py", at=tree)
    (tree / "made.py").write_text("mine\n")
    call(line, "SessionEnd", session="s1", at=tree, reason="other")
    assert line.holders("made.py") == ["claude-1"]
    line.ok("worktree", "remove", "side", "--force")
    assert line.holders("made.py") == []


# -- files for agents are no work -------------------------------------------------------------


def test_the_task_page_put_in_by_force_is_stopped_at_the_commit_and_in_the_queue(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    line.ok("mirror", "--on", "tasks")
    line.ok("setup", "git")
    tree = Path(line.json("worktree", "add", "desk", "--agent", "ada")["path"])
    env = line.environment | {"LINECLEAR_AGENT": "ada"}

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *words], cwd=tree, env=env, capture_output=True, text=True, check=False)

    commit(repo, tree, "made.py")
    assert git("add", "--force", "TASKS.md").returncode == 0
    refused = git("commit", "--message=page")
    assert refused.returncode == 1
    assert "Next: run `git rm --cached TASKS.md`" in refused.stderr
    assert git("commit", "--no-verify", "--message=page").returncode == 0
    told = line.at(tree).run("land", "--as", "ada")
    assert told.code != 0
    assert "TASKS.md is generated by lineclear" in told.out + told.err
    assert "made.py" not in repo.git("ls-tree", "--name-only", "main")
    # The way out.
    assert git("rm", "--quiet", "--cached", "TASKS.md").returncode == 0
    done = git("commit", "--message=without the page")
    assert done.returncode == 0, done.stderr
    line.at(tree).ok("land", "--as", "ada")
    assert repo.git("ls-tree", "--name-only", "main").split() == ["README.md", "made.py"]


def test_a_person_does_not_land_it_either(line: CommandLine, repo: TemporaryRepo) -> None:
    line.ok("mirror", "--on", "tasks")
    tree = repo.add_worktree("side")
    (tree / "TASKS.md").write_text("page\n")
    repo.git("add", "--force", "TASKS.md", at=tree)
    repo.git("commit", "--quiet", "--message=page", at=tree)
    told = line.at(tree).run("land")
    assert told.code != 0
    assert "TASKS.md is generated by lineclear" in told.out + told.err
    assert repo.git("ls-tree", "--name-only", "main") == "README.md"


def test_a_task_page_of_the_repositorys_own_goes_on_as_ever(line: CommandLine, repo: TemporaryRepo) -> None:
    repo.commit("Own page", {"TASKS.md": "# Ours\n"})
    line.ok("mirror", "--on", "tasks")
    line.ok("setup", "git")
    tree = Path(line.json("worktree", "add", "desk", "--agent", "ada")["path"])
    commit(repo, tree, "TASKS.md")
    line.at(tree).ok("land", "--as", "ada")
    assert repo.git("show", "main:TASKS.md") == "mine"
