"""`lineclear hook` as a host starts it: what it answers, and that nothing makes it crash, block or linger."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from lineclear.clients.registry import HOOK, names_with
from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo
from tests.sampling import SEED

BLOCK_CODE = 2


def call(
    line: CommandLine, event: str, *, session: str = "s1", client: str = "claude", at: Path | None = None,
    **fields: Any,
) -> dict[str, Any]:  # fmt: skip
    data = {"session_id": session, "cwd": str(at or line.place), **fields}
    answer = line.run("hook", client, event, stdin=json.dumps(data))
    assert answer.code == 0, answer
    parsed: dict[str, Any] = json.loads(answer.out) if answer.out else {}
    return parsed


def edit(
    line: CommandLine, path: Path | str, *, event: str = "PreToolUse", tool: str = "Edit", **more: Any
) -> str:
    """What the model reads: a denial's reason, or the context, or nothing."""
    given = {"file_path": str(path), "old_string": "one", "new_string": "two"}
    inner = call(line, event, tool_name=tool, tool_input=given, tool_use_id="t1", **more).get(
        "hookSpecificOutput", {}
    )
    return str(inner.get("permissionDecisionReason") or inner.get("additionalContext") or "")


def errors(line: CommandLine) -> str:
    log = line.place / ".git/lineclear/hook-errors.log"
    return log.read_text() if log.exists() else ""


# -- shared tree ------------------------------------------------------------------------------


def test_while_one_edits_the_other_is_denied_and_after_it_is_not(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    file = repo.path / "README.md"
    assert edit(line, file, session="s1") == ""
    refused = edit(line, file, session="s2")
    assert "claude-1 holds file:README.md (exclusive)" in refused
    assert "--ttl 1m --wait 2m" in refused
    edit(line, file, event="PostToolUse", session="s1")
    assert edit(line, file, session="s2") == ""
    assert errors(line) == ""


def test_a_claim_of_ones_own_outlives_the_edit(line: CommandLine, repo: TemporaryRepo) -> None:
    file = repo.path / "README.md"
    call(line, "SessionStart")
    line.ok("claim", "README.md", "--mode", "exclusive", "--as", "claude-1")
    edit(line, file)
    edit(line, file, event="PostToolUse")
    assert line.holders("README.md") == ["claude-1"]
    line.ok("release", "--all", "--as", "claude-1")
    line.ok("claim", "README.md", "--mode", "intent", "--as", "claude-1")
    edit(line, file)
    edit(line, file, event="PostToolUse")
    assert [claim["mode"] for claim in line.json("who", "README.md")["holders"]] == ["intent"]


def test_a_whole_write_needs_a_reading_of_what_is_there(line: CommandLine, repo: TemporaryRepo) -> None:
    file = repo.path / "README.md"
    assert "Re-read it" in edit(line, file, tool="Write")
    edit(line, file, tool="Read", event="PostToolUse")
    assert edit(line, file, tool="Write") == ""
    file.write_text("mine\n")
    edit(line, file, tool="Write", event="PostToolUse")
    assert edit(line, file, tool="Write") == ""
    edit(line, file, tool="Write", event="PostToolUse")
    file.write_text("somebody else's\n")
    assert "Re-read it" in edit(line, file, tool="Write")
    assert "was changed" in edit(line, file, tool="Edit")


def test_a_new_file_needs_no_reading(line: CommandLine, repo: TemporaryRepo) -> None:
    assert edit(line, repo.path / "new.py", tool="Write") == ""


def test_a_short_claim_whose_end_was_never_told_is_given_back_at_the_stop(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    edit(line, repo.path / "README.md")
    assert line.holders("README.md") == ["claude-1"]
    assert call(line, "Stop", stop_hook_active=False) == {}
    assert line.holders("README.md") == []


def test_an_exclusive_claim_is_spoken_of_once_at_the_stop(line: CommandLine) -> None:
    call(line, "SessionStart")
    line.ok("claim", "README.md", "--mode", "exclusive", "--as", "claude-1")
    assert "you still hold file:README.md" in call(line, "Stop")["reason"]
    assert call(line, "Stop") == {}


# -- worktrees --------------------------------------------------------------------------------


def test_a_worktree_that_nobody_registered_is_adopted(line: CommandLine, repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("side")
    call(line, "SessionStart", at=tree)
    rows = {row["name"]: row["agent"] for row in line.json("worktree", "list")["worktrees"]}
    assert rows["side"] == "claude-1"


def test_another_agents_worktree_is_out_of_bounds(line: CommandLine, repo: TemporaryRepo) -> None:
    one, two = repo.add_worktree("one"), repo.add_worktree("two")
    call(line, "SessionStart", session="s1", at=one)
    call(line, "SessionStart", session="s2", at=two)
    assert "is in another agent's worktree" in edit(line, two / "README.md", session="s1", at=one)
    # Also for one that has changed its directory.
    assert "is in another agent's worktree" in edit(line, two / "README.md", session="s1", at=two)
    assert edit(line, one / "README.md", session="s1", at=one) == ""


def test_in_worktrees_an_edit_is_announced_once_and_both_are_told(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    one, two = repo.add_worktree("one"), repo.add_worktree("two")
    assert edit(line, one / "README.md", session="s1", at=one) == ""
    assert "claude-1 is changing file:README.md" in edit(line, two / "README.md", session="s2", at=two)
    assert edit(line, two / "README.md", session="s2", at=two) == ""
    assert "claude-2 is now changing file:README.md too" in edit(
        line, one / "README.md", session="s1", at=one
    )
    granted = [e for e in line.json("log", "--limit", "100")["events"] if e["kind"] == "ClaimGranted"]
    assert len(granted) == 2


def test_intents_on_unchanged_files_end_with_the_session(line: CommandLine, repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("side")
    call(line, "SessionStart", at=tree)
    edit(line, tree / "README.md", at=tree)
    edit(line, tree / "other.py", at=tree)
    (tree / "other.py").write_text("x\n")
    call(line, "SessionEnd", at=tree, reason="other")
    assert line.holders("README.md") == []
    assert line.holders("other.py") == ["claude-1"]
    # Whoever comes next in this place is the same agent.
    call(line, "SessionStart", session="s9", at=tree)
    assert [agent["name"] for agent in line.json("agent", "list")["agents"] if agent["kind"] == "agent"] == [
        "claude-1"
    ]


def test_a_sub_agent_shares_its_parents_claims(line: CommandLine, repo: TemporaryRepo) -> None:
    call(line, "SessionStart")
    line.ok("claim", "README.md", "--mode", "exclusive", "--as", "claude-1")
    assert edit(line, repo.path / "README.md", agent_id="a6b6") == ""
    assert "claude-1 holds" in edit(line, repo.path / "README.md", session="s2", agent_id="a6b6")


def test_two_sessions_that_begin_at_once_are_two_agents(line: CommandLine, repo: TemporaryRepo) -> None:
    started = [
        subprocess.Popen(
            line.argv("hook", "claude", "SessionStart"), cwd=line.place, env=line.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for _ in range(6)
    ]  # fmt: skip
    for number, process in enumerate(started):
        assert process.stdin is not None
        process.stdin.write(json.dumps({"session_id": f"s{number}", "cwd": str(repo.path)}).encode())
        process.stdin.close()
    names = set()
    for process in started:
        assert process.stdout is not None
        with process.stdout as output:
            names.add(output.read().decode().partition("You are ")[2].partition(".")[0])
        assert process.wait(60) == 0
    assert names == {f"claude-{number}" for number in range(1, 7)}


# -- strategies -------------------------------------------------------------------------------


def test_strategies_are_kept(line: CommandLine, repo: TemporaryRepo) -> None:
    rules = [("a.lock", "locked", ""), ("b.sql", "single-writer", "ada"), ("c.txt", "read-only", "")]
    text = ""
    for match, strategy, owner in rules:
        text += f'[[strategy]]\nmatch = "{match}"\nstrategy = "{strategy}"\n'
        text += f'owner = "{owner}"\n' if owner else ""
    (repo.path / "lineclear.toml").write_text(text)
    assert "Next: run `lineclear claim file:a.lock --mode exclusive`" in edit(line, repo.path / "a.lock")
    assert "Next: run `lineclear propose file:b.sql" in edit(line, repo.path / "b.sql")
    assert "Cannot write file:c.txt: it is read-only" in edit(line, repo.path / "c.txt")
    line.ok("claim", "a.lock", "--mode", "exclusive", "--as", "claude-1")
    assert edit(line, repo.path / "a.lock") == ""


# -- shell ------------------------------------------------------------------------------------


def shell(line: CommandLine, event: str, **more: Any) -> str:
    inner = call(line, event, tool_name="Bash", tool_input={"command": "x"}, tool_use_id="t7", **more)
    return str(inner.get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.mark.parametrize("was_dirty", [False, True])
def test_a_command_that_changes_a_locked_file_is_told_how_to_undo_it(
    line: CommandLine, repo: TemporaryRepo, was_dirty: bool
) -> None:
    (repo.path / "lineclear.toml").write_text('[[strategy]]\nmatch = "README.md"\nstrategy = "locked"\n')
    file = repo.path / "README.md"
    if was_dirty:
        file.write_text("dirty\n")
    before = file.read_text()
    shell(line, "PreToolUse")
    file.write_text("changed by a command\n")
    words = shell(line, "PostToolUse")
    assert "may not change" in words
    undo = words.partition("Undo: run `")[2].partition("`")[0]
    subprocess.run(["sh", "-c", undo], cwd=repo.path, env=repo.environment, check=True)
    assert file.read_text() == before


def test_what_was_dirty_before_the_command_is_not_its_doing(line: CommandLine, repo: TemporaryRepo) -> None:
    (repo.path / "lineclear.toml").write_text('[[strategy]]\nmatch = "README.md"\nstrategy = "locked"\n')
    (repo.path / "README.md").write_text("dirty\n")
    shell(line, "PreToolUse")
    (repo.path / "other.txt").write_text("x\n")
    assert shell(line, "PostToolUse") == ""


def test_what_another_wrote_meanwhile_is_not_the_commands_doing(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    file = repo.path / "README.md"
    shell(line, "PreToolUse", session="s1")
    edit(line, file, session="s2")
    file.write_text("by the second\n")
    edit(line, file, session="s2", event="PostToolUse")
    line.ok("claim", "README.md", "--mode", "exclusive", "--as", "claude-2")
    assert shell(line, "PostToolUse", session="s1") == ""


def test_a_command_in_a_worktree_announces_what_it_changed(line: CommandLine, repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("side")
    shell(line, "PreToolUse", at=tree)
    (tree / "made.py").write_text("x\n")
    shell(line, "PostToolUse", at=tree)
    assert line.holders("made.py") == ["claude-1"]


# -- never in the way -------------------------------------------------------------------------

NASTY = [
    b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe\x00", b"{" * 5_000, b'{"a":' * 5_000, b"[" * 200_000,
    b'{"session_id":5,"cwd":[],"tool_name":{},"tool_input":"x"}', b'{"tool_name":"Edit"}',
    b'{"session_id":"s","tool_name":"Edit","tool_input":{"file_path":"\\u0000"}}',
    b'{"session_id":"s","tool_name":"Edit","tool_input":{"file_path":"\\ud800/x"}}',
    b'{"session_id":"../../../x","tool_name":"Edit","tool_input":{"file_path":"' + b"a/" * 3_000 + b'"}}',
    b'{"session_id":"s","tool_name":"Edit","tool_input":{"file_path":"/etc/passwd"}}',
    b'{"session_id":"s","tool_name":"Edit","tool_input":{"file_path":".git/config"}}',
    b'{"session_id":"s","tool_name":"Edit","tool_input":{"file_path":"out/passwd"}}',
    b'{"session_id":"s","tool_name":"Edit","tool_input":{"file_path":"loop/x"}}',
    b'{"session_id":"s","tool_name":"Write","tool_input":{"file_path":"pipe"}}',
    b'{"session_id":"s","tool_name":"Edit","tool_input":{"file_path":"' + b"x" * 2_000_000 + b'"}}',
    b'{"session_id":"s","cwd":"/nowhere","tool_name":"Bash","tool_input":{"command":7}}',
    b'{"n":' + b"1" * 10_000 + b"}",
]  # fmt: skip


def send(line: CommandLine, client: str, event: str, data: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        line.argv("hook", client, event), cwd=line.place, env=line.environment, input=data,
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip


def traps(repo: TemporaryRepo) -> None:
    (repo.path / "out").symlink_to("/etc")
    (repo.path / "loop").symlink_to("loop")
    os.mkfifo(repo.path / "pipe")


@pytest.mark.parametrize("number", range(len(NASTY)))
def test_no_input_crashes_blocks_or_lingers(line: CommandLine, repo: TemporaryRepo, number: int) -> None:
    traps(repo)
    for client, event in (("claude", "PreToolUse"), ("codex", "PostToolUse"), ("gemini", "BeforeTool")):
        done = send(line, client, event, NASTY[number])
        assert done.returncode == 0, (client, done)
        assert b"Traceback" not in done.stderr
        assert b'"deny"' not in done.stdout, done.stdout


def test_random_damage_to_real_input_never_crashes_or_blocks(line: CommandLine, repo: TemporaryRepo) -> None:
    chance = random.Random(SEED)
    good = json.dumps(
        {"session_id": "s", "cwd": str(repo.path), "tool_name": "Edit", "tool_use_id": "t",
         "tool_input": {"file_path": str(repo.path / "README.md"), "old_string": "a", "new_string": "b"}}
    ).encode()  # fmt: skip
    for _ in range(25):
        data = bytearray(good)
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        cut = chance.randrange(len(data)) if chance.random() < 0.4 else len(data)
        client = chance.choice(names_with(HOOK))
        done = send(
            line, client, chance.choice(["PreToolUse", "BeforeTool", "preToolUse"]), bytes(data[:cut])
        )
        assert done.returncode == 0, (SEED, client, bytes(data[:cut]), done)
        assert b"Traceback" not in done.stderr, (SEED, done)


def test_a_hard_link_to_a_locked_file_is_that_file(line: CommandLine, repo: TemporaryRepo) -> None:
    rules = '[[strategy]]\nmatch = "*.lock"\nstrategy = "locked"\n'
    repo.commit("Settings", {"lineclear.toml": rules, "deps.lock": "1\n", "free.txt": "1\n"})
    (repo.path / "alias.txt").hardlink_to(repo.path / "deps.lock")
    (repo.path / "twin.txt").hardlink_to(repo.path / "free.txt")
    assert "file:deps.lock is locked" in edit(line, repo.path / "alias.txt")
    assert edit(line, repo.path / "twin.txt") == ""


def test_a_wrong_command_line_is_not_the_hosts_block_code(line: CommandLine) -> None:
    for words in (["hook"], ["hook", "claude"], ["hook", "nobody", "PreToolUse"], ["hook", "a", "b", "c"]):
        assert line.run(*words).code not in (0, BLOCK_CODE)


def test_outside_a_repository_it_is_silent(line: CommandLine, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    data = json.dumps({"session_id": "s", "cwd": str(elsewhere), "tool_name": "Bash", "tool_input": {}})
    answer = line.at(elsewhere).run("hook", "claude", "PreToolUse", stdin=data)
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_a_repository_without_lineclear_is_left_alone(bare_line: CommandLine) -> None:
    assert call(bare_line, "SessionStart") == {}
    assert not (bare_line.place / ".git/lineclear").exists()


@pytest.mark.parametrize(("on_error", "is_denied"), [("open", False), ("closed", True)])
def test_a_broken_store_lets_the_edit_pass_unless_told_otherwise(
    line: CommandLine, repo: TemporaryRepo, on_error: str, is_denied: bool
) -> None:
    (repo.path / "lineclear.toml").write_text(f'[hooks]\non_error = "{on_error}"\n')
    store = repo.path / ".git/lineclear/state.db"
    for name in ("state.db-wal", "state.db-shm"):
        (store.parent / name).unlink(missing_ok=True)
    store.write_bytes(b"this is no database" * 1_000)
    assert ("could not check this edit" in edit(line, repo.path / "README.md")) is is_denied
    assert "hook claude PreToolUse" not in errors(line)
    assert "claude PreToolUse" in errors(line)


@pytest.mark.parametrize(("on_error", "is_denied"), [("open", False), ("closed", True)])
@pytest.mark.parametrize("content", ["x" * (17 << 20), "[" * 3_000 + "]" * 3_000], ids=["17 MB", "deep"])
def test_what_a_hook_cannot_read_is_logged_and_passes_unless_told_otherwise(
    line: CommandLine, repo: TemporaryRepo, content: str, on_error: str, is_denied: bool
) -> None:
    (repo.path / "lineclear.toml").write_text(f'[hooks]\non_error = "{on_error}"\n')
    inside = content if content.startswith("[") else json.dumps(content)
    text = f'{{"session_id": "s1", "tool_name": "Write", "tool_input": {{"content": {inside}}}}}'
    for client, event in (("claude", "PreToolUse"), ("gemini", "BeforeTool"), ("copilot", "preToolUse")):
        answer = line.run("hook", client, event, stdin=text)
        assert (answer.code, "could not check this edit" in answer.out) == (0, is_denied), answer
        assert f"{client} {event}" in errors(line)
    assert line.run("hook", "claude", "PostToolUse", stdin=text).out == ""


def test_the_doctor_shows_what_hooks_could_not_do(line: CommandLine) -> None:
    (line.place / ".git/lineclear/hook-errors.log").write_text("2026 claude PreToolUse x.py:1 OSError: no\n")
    assert "hooks failed 1 times" in line.ok("doctor").out


def test_when_the_store_is_held_it_gives_up_in_time(line: CommandLine, repo: TemporaryRepo) -> None:
    import fcntl

    (repo.path / "lineclear.toml").write_text('[hooks]\ntimeout = "1s"\n')
    call(line, "SessionStart")
    with (repo.path / ".git/lineclear/state.lock").open("a") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        began = time.monotonic()
        assert edit(line, repo.path / "README.md") == ""
        assert time.monotonic() - began < 45
    assert "OutOfTime" in errors(line)


# -- files for agents that only read files ----------------------------------------------------


def test_what_a_hook_claims_shows_in_the_mirror_of_every_worktree(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    line.ok("mirror", "--on", "coordination")
    tree, side = repo.add_worktree("own"), repo.add_worktree("side")
    call(line, "SessionStart", at=tree)
    edit(line, tree / "README.md", at=tree)
    for place in (repo.path, side):
        assert "file:README.md" in (place / ".lineclear/coordination.json").read_text()
    assert errors(line) == ""


def test_a_lock_file_of_another_tool_keeps_an_edit_out_of_a_shared_tree(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    (repo.path / "README.md.agent-lock").write_text("somebody\n")
    assert edit(line, repo.path / "README.md") == ""
    edit(line, repo.path / "README.md", event="PostToolUse")
    line.ok("mirror", "--on", "locks")
    assert "is locked by a file that lineclear did not write" in edit(line, repo.path / "README.md")
    assert line.holders("README.md") == []
    assert errors(line) == ""


# -- worktrees that a client asks for ---------------------------------------------------------


def worktree(line: CommandLine, name: str, **fields: Any) -> Path:
    data = {
        "session_id": "s1",
        "cwd": str(line.place),
        "hook_event_name": "WorktreeCreate",
        "name": name,
        **fields,
    }
    answer = line.run("hook", "claude", "WorktreeCreate", stdin=json.dumps(data))
    assert answer.code == 0, answer
    assert answer.out.endswith("\n")
    return Path(answer.out[:-1])


def rows(line: CommandLine) -> dict[str, str]:
    return {row["name"]: row["agent"] for row in line.json("worktree", "list")["worktrees"]}


def test_a_worktree_that_claude_asks_for_is_one_of_ours(line: CommandLine, repo: TemporaryRepo) -> None:
    (repo.path / ".env").write_text("KEY=1\n")
    (repo.path / ".git/info/exclude").write_text(".env\n")
    path = worktree(line, "feat1")
    assert path == repo.path.parent / "repo.worktrees/feat1"
    assert (path / "README.md").exists()
    assert (path / ".env").exists()
    assert worktree(line, "feat1") == path
    call(line, "SessionStart", at=path)
    assert rows(line)["feat1"] == "claude-1"
    edit(line, path / "README.md", at=path)
    assert [claim["tree"] for claim in line.json("who", "README.md")["holders"]] == ["feat1"]
    assert errors(line) == ""


def test_a_sub_agents_worktree_becomes_its_own_and_the_parent_stays_where_it_is(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    call(line, "SessionStart")
    path = worktree(line, "agent-a1")
    call(line, "SubagentStart", at=path, agent_id="a1", agent_type="general-purpose")
    assert rows(line)["agent-a1"] == "claude-1/a1"
    assert edit(line, path / "README.md", at=path, agent_id="a1") == ""
    edit(line, repo.path / "README.md")
    assert line.json("status")["agents"][0]["tree"] == "main"
    assert errors(line) == ""


def test_whatever_is_wrong_with_us_claude_gets_a_worktree(line: CommandLine, repo: TemporaryRepo) -> None:
    assert worktree(line, "odd name/..") == repo.path / ".claude/worktrees/odd-name"
    (repo.path / "lineclear.toml").write_text("not toml")
    path = worktree(line, "feat2")
    assert path == repo.path / ".claude/worktrees/feat2"
    assert (path / "README.md").exists()
    assert worktree(line, "feat2") == path
    assert "claude WorktreeCreate" in errors(line)


def test_without_coordination_claude_gets_a_worktree_of_its_own_kind(
    bare_line: CommandLine, repo: TemporaryRepo
) -> None:
    assert worktree(bare_line, "feat1") == repo.path / ".claude/worktrees/feat1"
