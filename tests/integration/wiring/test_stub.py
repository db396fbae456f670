"""The program that `setup` installs: it hands every call to lineclear unchanged and blocks none."""

from __future__ import annotations

import json
import random
import subprocess

import pytest

from lineclear.host.server_address import directory_of
from tests.hooked_repo import ASKED, HookedRepo
from tests.repository import TemporaryRepo


@pytest.fixture(params=["alone", "beside a server that was killed"])
def ways(repo: TemporaryRepo, request: pytest.FixtureRequest) -> HookedRepo:
    ways = HookedRepo(repo)
    if request.param != "alone":
        (ways.state / "serve").mkdir(exist_ok=True)
        assert directory_of(str(ways.state)) == str(ways.state / "serve")
        (ways.state / "serve/door").write_text("127.0.0.1\n1\nkey\nsocket\n999999999\n1\n")
    return ways


def test_a_second_edit_of_the_same_file_is_asked_like_the_first(ways: HookedRepo) -> None:
    said = ways.said("PreToolUse", ways.tree / "a.py")
    ways.ask("PreToolUse", said)
    for _ in range(2):
        assert ways.run_stub("PreToolUse", said) == ASKED


def test_text_that_is_laid_out_or_broken_is_asked(ways: HookedRepo) -> None:
    said = ways.said("PreToolUse", ways.tree / "a.py")
    for text in (json.dumps(said), json.dumps(said, indent=1), "", "{", "null", '{"session_id":"s1"'):
        assert ways.run_stub("PreToolUse", text) == ASKED


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
def test_line_ends_and_more_lines_reach_lineclear(ways: HookedRepo, event: str) -> None:
    text = json.dumps(ways.said(event, ways.tree / "a.py"), separators=(",", ":"))
    for more in ("\n", "\nx", "\n\nx\n", "\n" + text, "\n" + text + "\n\n"):
        assert ways.run_stub(event, text + more) == ASKED


def test_every_byte_reaches_lineclear_as_it_was(ways: HookedRepo) -> None:
    text = "".join(map(chr, range(32, 0x250))) + "\u0081\u0088\u20ac\U0001f600" * 3_000 + "$(id)`id`$HOME\\n"
    said = ways.said("PreToolUse", ways.tree / "a.py", given={"old_string": text})
    assert ways.run_stub("PreToolUse", said) == ASKED


def test_a_large_call_reaches_lineclear_whole(ways: HookedRepo) -> None:
    said = ways.said("PreToolUse", ways.tree / "a.py", given={"new_string": "x" * 3_000_000})
    assert ways.run_stub("PreToolUse", said) == ASKED


def test_an_id_that_the_client_has_set_is_not_taken_for_the_stubs(ways: HookedRepo) -> None:
    said = ways.said("PreToolUse", ways.tree / "a.py")
    assert ways.run_stub("PreToolUse", said, LINECLEAR_CALL="theirs") == ASKED
    assert (ways.state / "given-call").read_text() != "theirs"


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "BeforeTool", "SessionStart", "", "-n", "*"])
def test_whatever_comes_in_the_stub_ends_well_and_asks(ways: HookedRepo, event: str) -> None:
    dice = random.Random(event)
    good = json.dumps(ways.said("PreToolUse", ways.tree / "a.py"), separators=(",", ":")).encode()
    for turn in range(15):
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
            [ways.stub, "claude", event], input=text, cwd=ways.tree, env=ways.environ, capture_output=True,
            check=False, timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, ASKED.encode()), text
    assert not (ways.tree / "x").exists()


def test_an_interpreter_that_cannot_be_started_does_not_block(ways: HookedRepo) -> None:
    (ways.state / "slow").write_text("#!/nowhere/at/all\n")
    done = subprocess.run(
        [ways.stub, "claude", "PreToolUse"], input=b"{}", env=ways.environ, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")
