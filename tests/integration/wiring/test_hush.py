"""When the stub may let an edit pass by itself: each thing that lifts a hush, and each call that is asked."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lineclear.app import hooks
from lineclear.app.hooks_judging import judge
from lineclear.core.claims import EXCLUSIVE
from lineclear.core.hooks import is_silent
from lineclear.process.hush import Hush, begin
from lineclear.store.sqlite.gate import Gate
from tests.hushing import ASKED, TwoWays, settle_at_once
from tests.repository import TemporaryRepo


@pytest.fixture
def ways(repo: TemporaryRepo) -> TwoWays:
    return TwoWays(repo)


@pytest.fixture
def hushed(ways: TwoWays) -> TwoWays:
    """A session that has touched a.py: the stub lets its next edits pass."""
    assert is_silent(ways.pre())
    assert ways.passes()
    return ways


def test_the_first_edit_is_asked_and_the_next_ones_pass(ways: TwoWays) -> None:
    assert not ways.passes()
    ways.pre()
    assert ways.passes()
    assert ways.passes(event="PostToolUse")
    assert ways.passes(event="PostToolUse", tool_response={"filePath": "a.py", "originalFile": 'x = "1"\n'})
    assert ways.passes(tool="Write", given={"content": "x"})
    assert not ways.passes("src/b.py")


@pytest.mark.parametrize(
    "resource", ["file:a.py", "symbol:a.py#Login", "file:./", "file:*.py", "file:**", "file:a.py/below"]
)
def test_a_claim_that_overlaps_lifts_the_hush(hushed: TwoWays, resource: str) -> None:
    hushed.claim("eve", resource)
    assert not hushed.passes()


@pytest.mark.parametrize(
    "resource", ["file:src/b.py", "file:src/", "symbol:src/b.py#f", "value:PORT", "port:3000"]
)
def test_a_claim_elsewhere_does_not(hushed: TwoWays, resource: str) -> None:
    hushed.claim("eve", resource, EXCLUSIVE)
    assert hushed.agrees("PreToolUse", "a.py")


def test_a_claim_in_the_directory_of_a_hushed_file_lifts_it(ways: TwoWays) -> None:
    ways.pre("src/b.py")
    ways.claim("eve", "file:src/c.py")
    assert ways.agrees("PreToolUse", "src/b.py")
    ways.claim("eve", "file:src/")
    assert not ways.passes("src/b.py")


def test_what_others_give_back_lifts_it_too(ways: TwoWays) -> None:
    ways.claim("eve", "file:a.py")
    assert "eve is changing" in ways.pre().context
    ways.pre()
    assert ways.passes()
    ways.release("eve")
    assert not ways.passes()


@pytest.mark.parametrize("to", ["claude-1", ""])
def test_a_message_lifts_it_until_it_was_told_and_read(hushed: TwoWays, to: str) -> None:
    hushed.say(to)
    assert not hushed.passes()
    assert "> hello" in hushed.pre().context
    assert not hushed.passes()
    assert is_silent(hushed.pre())  # marks it as read
    assert is_silent(hushed.pre())
    assert hushed.passes()


def test_a_message_to_somebody_else_does_not(hushed: TwoWays) -> None:
    hushed.say("adam")
    assert hushed.agrees("PreToolUse", "a.py")


def test_a_message_that_cannot_be_told_yet_leaves_no_hush(ways: TwoWays) -> None:
    """Gemini CLI hears nothing before a tool, and all of it after."""
    ways.tree = ways.repo.add_worktree("own")
    ways.start("g1", "gemini")
    before = ways.said("BeforeTool", ways.tree / "a.py", tool="replace", session="g1")
    after = ways.said("AfterTool", ways.tree / "a.py", tool="replace", session="g1")
    ways.ask("BeforeTool", before, "gemini")
    assert ways.is_passed("AfterTool", after, "gemini")
    ways.say("gemini-1")
    assert is_silent(ways.ask("BeforeTool", before, "gemini"))
    assert not ways.is_passed("AfterTool", after, "gemini")


def test_a_second_session_in_the_same_worktree_lifts_it(hushed: TwoWays) -> None:
    hushed.pre("src/b.py", session="s2")
    assert not hushed.passes()
    hushed.pre()
    assert not hushed.passes()


def test_one_who_was_silent_in_the_same_worktree_may_come_back(ways: TwoWays) -> None:
    ways.start("s2")
    ways.pre("src/b.py", session="s2")
    ways.time_passes(3_600)
    assert is_silent(ways.pre())
    assert not ways.passes()


def test_the_main_tree_is_shared_and_never_hushed(ways: TwoWays) -> None:
    path = ways.repo.path / "a.py"
    said = ways.said("PreToolUse", path, cwd=ways.repo.path)
    ways.ask("PreToolUse", said)
    assert not ways.is_passed("PreToolUse", said)


def test_a_hush_ends_with_the_next_heartbeat(hushed: TwoWays) -> None:
    hushed.time_passes(10)
    assert hushed.passes()
    hushed.time_passes(11)
    assert not hushed.passes()


def test_a_clock_that_was_set_back_ends_it(hushed: TwoWays) -> None:
    hushed.time_passes(-60)
    assert not hushed.passes()


def test_a_lease_that_ends_soon_is_no_ground_for_a_hush(ways: TwoWays) -> None:
    ways.claim("eve", "file:a.py", ttl_ms=30_000)
    ways.pre()
    assert is_silent(ways.pre())
    assert ways.passes()
    ways.time_passes(10)
    assert not ways.passes()


def test_nobody_is_hushed_while_somebody_commits(ways: TwoWays) -> None:
    """The committer has lifted what there was, and its event is not to be read yet."""

    def enter() -> Hush | None:
        return begin(
            str(ways.state / "hush"), str(ways.state / "state.lock"), "claude-s1", root=str(ways.tree),
            cwd=str(ways.tree), entry="e/a.py", settings=("/none", "/none"), began_ns=1,
        )  # fmt: skip

    ways.pre()
    with Gate(str(ways.state / "state.lock")):
        assert enter() is None
    assert enter() is not None


# -- settings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lineclear.toml", ".git/lineclear/local.toml"])
def test_another_strategy_lifts_it(ways: TwoWays, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    settle_at_once(monkeypatch)
    file = ways.repo.path / name
    ways.pre()
    file.write_text("[claims]\nttl = '20m'\n")
    assert not ways.passes()
    ways.pre()
    assert ways.passes()
    file.write_text('[[strategy]]\nmatch = "a.py"\nstrategy = "read-only"\n')
    assert not ways.passes()
    assert ways.pre().is_denied
    assert not ways.passes()
    file.unlink()
    assert not ways.passes()
    ways.pre()
    assert ways.passes()


def test_an_older_file_of_settings_put_in_place_lifts_it(
    ways: TwoWays, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle_at_once(monkeypatch)
    file, other = ways.repo.path / "lineclear.toml", ways.repo.path / "other.toml"
    for name in (other, file):
        name.write_text("[claims]\nttl = '20m'\n")
    ways.pre()
    assert ways.passes()
    os.replace(other, file)
    assert not ways.passes()


def test_settings_that_were_written_just_now_leave_no_hush(ways: TwoWays) -> None:
    (ways.repo.path / "lineclear.toml").write_text("[claims]\nttl = '20m'\n")
    ways.pre()
    assert not ways.passes()


def test_versions_are_kept_for_optimistic_files(ways: TwoWays, monkeypatch: pytest.MonkeyPatch) -> None:
    settle_at_once(monkeypatch)
    (ways.repo.path / "lineclear.toml").write_text('[[strategy]]\nmatch = "a.py"\nstrategy = "optimistic"\n')
    ways.pre()
    ways.pre()
    assert not ways.passes()


# -- which call it is -------------------------------------------------------------------------


def test_another_session_another_directory_and_another_agent_are_asked(hushed: TwoWays) -> None:
    said = hushed.said("PreToolUse", hushed.tree / "a.py")
    assert not hushed.passes(session="s9")
    assert not hushed.passes(cwd=hushed.side)
    assert not hushed.is_passed("PreToolUse", said, LINECLEAR_AGENT="ada")
    assert not hushed.is_passed("PreToolUse", said, "codex")


def test_an_agent_that_was_given_its_name_is_hushed_under_it(ways: TwoWays) -> None:
    ways.tree = ways.repo.add_worktree("own")
    ways.start("n1", LINECLEAR_AGENT="ada")
    said = ways.said("PreToolUse", ways.tree / "a.py", session="n1")
    ways.ask("PreToolUse", said, LINECLEAR_AGENT="ada")
    ways.ask("PreToolUse", said, LINECLEAR_AGENT="ada")
    assert ways.is_passed("PreToolUse", said, LINECLEAR_AGENT="ada")
    assert not ways.is_passed("PreToolUse", said)
    ways.say("ada")
    assert not ways.is_passed("PreToolUse", said, LINECLEAR_AGENT="ada")


@pytest.mark.parametrize(
    "more",
    [
        {"agent_id": "a1"},
        {"head": {"agent_id": "a1"}},
        {"given": {"path": "b.py"}},
        {"given": {"edits": [{"file_path": "b.py"}]}},
        {"given": {"notebook_path": "b.ipynb"}},
        {"tool": "Bash"},
        {"tool": "MultiEdit"},
        {"session": "../s1"},
        {"session": ""},
        {"head": {"note": "\\"}},
    ],
)
def test_a_call_of_another_shape_is_asked(hushed: TwoWays, more: dict[str, Any]) -> None:
    assert not hushed.passes(**more)


def test_words_inside_the_texts_are_not_taken_for_the_call_itself(hushed: TwoWays) -> None:
    words = '","agent_id":"x","tool_input":{"file_path":"b.py"},"cwd":"/"'
    assert hushed.passes(given={"old_string": words, "new_string": words + '\n\\" \\'})
    other = hushed.said(
        "PreToolUse", "b.py", given={"old_string": f'"tool_input":{{"file_path":"{hushed.tree}/a.py"'}
    )
    assert not hushed.is_passed("PreToolUse", other)


def test_text_that_is_laid_out_or_broken_is_asked(hushed: TwoWays) -> None:
    said = hushed.said("PreToolUse", hushed.tree / "a.py")
    for text in (json.dumps(said), json.dumps(said, indent=1), "", "{", "null", '{"session_id":"s1"'):
        assert not hushed.is_passed("PreToolUse", text)


def test_one_who_announces_it_while_we_look_is_told_to_us_as_well(
    ways: TwoWays, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: list[str] = []

    def look_too_early(*given: Any) -> Any:
        found = judge(*given)
        if not came:
            came.append("eve")
            ways.claim("eve", "file:a.py")
        return found

    monkeypatch.setattr(hooks, "judge", look_too_early)
    assert "eve is changing file:a.py" in ways.pre().context


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
def test_a_line_end_behind_it_changes_nothing_and_more_lines_are_asked_whole(
    hushed: TwoWays, event: str
) -> None:
    text = json.dumps(hushed.said(event, hushed.tree / "a.py"), separators=(",", ":"))
    assert hushed.is_passed(event, text + "\n")
    for more in ("\nx", "\n\nx\n", "\n" + text, "\n" + text + "\n\n"):
        assert not hushed.is_passed(event, text + more)


def test_every_byte_reaches_lineclear_as_it_was(ways: TwoWays) -> None:
    text = "".join(map(chr, range(32, 0x250))) + "\u0081\u0088\u20ac\U0001f600" * 3_000 + "$(id)`id`$HOME\\n"
    ways.pre("src/b.py")
    assert not ways.passes(given={"old_string": text})


@pytest.mark.parametrize("path", ["./a.py", "src/../a.py", "/a.py", "a.py/", "", "b.py"])
def test_a_path_of_another_spelling_is_asked(hushed: TwoWays, path: str) -> None:
    assert not hushed.is_passed("PreToolUse", hushed.said("PreToolUse", f"{hushed.tree}/{path}"))


def test_a_relative_path_is_asked(hushed: TwoWays) -> None:
    assert not hushed.is_passed("PreToolUse", hushed.said("PreToolUse", "a.py"))


def test_a_file_that_became_a_link_is_asked(ways: TwoWays) -> None:
    ways.pre("src/b.py")
    assert ways.passes("src/b.py")
    (ways.tree / "src").rename(ways.tree / "elsewhere")
    (ways.tree / "src").symlink_to(ways.side / "src")
    assert not ways.passes("src/b.py")


def test_a_worktree_inside_the_worktree_is_asked(ways: TwoWays) -> None:
    ways.pre("src/b.py")
    (ways.tree / "src/.git").write_text("gitdir: elsewhere\n")
    assert not ways.passes("src/b.py")


def test_a_session_that_starts_again_or_ends_has_no_hush(hushed: TwoWays) -> None:
    for event in ("SessionStart", "SessionEnd"):
        hushed.pre()
        assert hushed.passes()
        hushed.ask(event, {"session_id": "s1", "cwd": str(hushed.tree)})
        assert not hushed.passes()
    assert list((hushed.state / "hush/g").iterdir()) == []


# -- deaths and failures ----------------------------------------------------------------------


def test_a_hook_that_dies_before_its_answer_leaves_no_hush(
    ways: TwoWays, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways.pre("src/b.py")

    def die(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lineclear.app.hooks.answer", die)
    with pytest.raises(KeyboardInterrupt):
        ways.pre()
    assert (next((ways.state / "hush/g").iterdir()) / "e/a.py").exists()
    assert not ways.passes()


def test_a_commit_whose_hush_cannot_be_lifted_is_refused(
    hushed: TwoWays, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_self: object, _whom: object) -> None:
        raise PermissionError(13, "no")

    before = hushed.head()
    with monkeypatch.context() as patch:
        patch.setattr("lineclear.process.hush.Hushes.lift", fail)
        with pytest.raises(Exception, match="a hush cannot be lifted"):
            hushed.claim("eve", "file:a.py")
    assert hushed.head() == before
    assert hushed.agrees("PreToolUse", "a.py")


def test_a_stub_that_cannot_write_asks(hushed: TwoWays) -> None:
    spell = next((hushed.state / "hush/g").iterdir())
    (spell / "now").unlink()
    (spell / "now").mkdir()
    assert not hushed.passes()


def test_an_edit_that_passed_makes_the_next_shell_call_look_again(hushed: TwoWays) -> None:
    def shell(event: str) -> None:
        told = {"session_id": "s1", "cwd": str(hushed.tree), "tool_name": "Bash", "tool_use_id": "t2"}
        hushed.ask(event, told | {"tool_input": {"command": "make"}})

    (hushed.tree / "a.py").write_text("first\n")
    shell("PreToolUse")
    shell("PostToolUse")
    hushed.pre()
    (hushed.tree / "a.py").write_text("second\n")
    assert hushed.passes(event="PostToolUse")
    shell("PreToolUse")
    picture = (hushed.state / "sessions/claude-s1.picture").read_bytes()
    oid = hushed.repo.git("hash-object", "a.py", at=hushed.tree)
    assert oid.encode() in picture


def test_another_client_of_the_same_words_is_hushed_as_well(ways: TwoWays) -> None:
    ways.tree = ways.repo.add_worktree("own")
    ways.start("q1", "qwen")
    said = ways.said("PreToolUse", ways.tree / "a.py", tool="edit", session="q1")
    ways.ask("PreToolUse", said, "qwen")
    assert ways.is_passed("PreToolUse", said, "qwen")


# -- reading ----------------------------------------------------------------------------------


def read(ways: TwoWays, path: Path | str) -> bool:
    """Does it pass? What does not is asked, as in life."""
    said = ways.said("PostToolUse", ways.tree / path, tool="Read", tool_response={"file": {"content": "x"}})
    if ways.is_passed("PostToolUse", said):
        return True
    ways.ask("PostToolUse", said)
    return False


def test_after_one_reading_others_pass_in_the_same_worktree(ways: TwoWays) -> None:
    assert not read(ways, "a.py")
    assert read(ways, "a.py")
    assert read(ways, "src/b.py")
    assert not read(ways, ways.repo.path / "a.py")
    assert not read(ways, ways.side / "a.py")
    assert not ways.passes("src/b.py")


def test_readings_are_told_of_messages_and_where_versions_count_remembered(
    ways: TwoWays, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle_at_once(monkeypatch)
    read(ways, "a.py")
    ways.say("claude-1")
    assert not read(ways, "a.py")
    assert not read(ways, "a.py")
    assert not read(ways, "a.py")
    assert read(ways, "a.py")
    (ways.repo.path / "lineclear.toml").write_text('[[strategy]]\nmatch = "*.md"\nstrategy = "optimistic"\n')
    assert not read(ways, "a.py")
    assert not read(ways, "a.py")


def test_in_a_shared_tree_every_reading_is_remembered(ways: TwoWays) -> None:
    said = ways.said("PostToolUse", ways.repo.path / "a.py", tool="Read", cwd=ways.repo.path)
    for _ in range(3):
        assert not ways.is_passed("PostToolUse", said)
        ways.ask("PostToolUse", said)


# -- anything at all --------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "BeforeTool", "SessionStart", "", "-n", "*"])
def test_whatever_comes_in_the_stub_ends_well_and_passes_nothing(hushed: TwoWays, event: str) -> None:
    dice = random.Random(event)
    good = json.dumps(hushed.said("PreToolUse", hushed.tree / "a.py"), separators=(",", ":")).encode()
    head = good[: good.index(b"a.py") + 5]
    for turn in range(25):
        cut = dice.randrange(len(good))
        text = dice.choice(
            [
                good[:cut],
                good[cut:],
                good[:cut] + dice.randbytes(3) + good[cut:] + b"\\",
                dice.randbytes(200),
                b'{"session_id":"s1"' + b"," * turn,
                good.replace(b"s1", b"$(touch x)"),
                good.replace(b"a.py", b"`id`\\u0061"),
                good.replace(b'"session_id"', b'"SESSION_ID"'),
            ]
        )
        done = subprocess.run(
            [hushed.stub, "claude", event], input=text, cwd=hushed.tree, env=hushed.environ,
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b""), text
        if done.stdout != ASKED.encode():
            assert text.startswith(head), text
            assert text.endswith(b"}"), text
    assert not (hushed.tree / "x").exists()


def test_a_large_call_reaches_lineclear_whole(hushed: TwoWays) -> None:
    hushed.claim("eve", "file:a.py")
    assert not hushed.passes(given={"new_string": "x" * 3_000_000})


def test_an_interpreter_that_cannot_be_started_does_not_block(hushed: TwoWays) -> None:
    (hushed.state / "slow").write_text("#!/nowhere/at/all\n")
    done = subprocess.run(
        [hushed.stub, "claude", "PreToolUse"],
        input=b"{}",
        env=hushed.environ,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")
