"""Hooks in a process that stays: many threads at once, and nothing that goes stale between two calls."""

from __future__ import annotations

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.claims.granting import EXCLUSIVE
from lineclear.core.log.tables import CLAIM
from lineclear.hook.serving import Elsewhere
from lineclear.host.heartbeats import PresenceFiles
from tests.hooked_repo import HookedRepo, Served
from tests.repository import TemporaryRepo


def held(ways: HookedRepo) -> list[tuple[str, str]]:
    def look(view: Any) -> list[tuple[str, str]]:
        return sorted((claim.agent, claim.resource) for claim in view.scan(CLAIM, "key"))

    found: list[tuple[str, str]] = ways._with(lambda repo: repo.store.read(look))
    return found


def test_sessions_in_many_threads_are_each_answered_as_if_alone(served: Served) -> None:
    ways = served.ways
    trees = {f"s{n}": ways.repo.add_worktree(f"t{n}") for n in range(4)}
    begun = threading.Barrier(len(trees))

    def session(name: str) -> list[str]:
        begun.wait()
        said = [served("SessionStart", "x", session=name, cwd=trees[name])]
        for n in range(8):
            path = trees[name] / f"f{n}.py"
            said.append(served("PreToolUse", path, session=name, cwd=trees[name]))
            path.write_text(f"{n}\n")
            said.append(served("PostToolUse", path, session=name, cwd=trees[name]))
            shell = {"tool": "Bash", "given": {"command": "make"}, "session": name, "cwd": trees[name]}
            said.append(served("PreToolUse", path, **shell, tool_use_id=f"t{n}"))
            said.append(served("PostToolUse", path, **shell, tool_use_id=f"t{n}"))
        return said

    with ThreadPoolExecutor(len(trees)) as pool:
        told = list(pool.map(session, trees))
    names = {words[0].partition("You are ")[2].partition(".")[0] for words in told}
    assert len(names) == len(trees), names
    # All four edit files of the same names: each hears of the others, and everything is announced.
    wanted = sorted((name, f"file:f{n}.py") for name in names for n in range(8))
    assert [row for row in held(ways) if row[0] in names] == wanted
    assert "is changing file:f7.py" in "".join(told[0] + told[1] + told[2] + told[3])


def test_two_calls_of_one_session_at_once_leave_nothing_half_written(served: Served) -> None:
    served("SessionStart", "x")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: served("PreToolUse", f"src/n{n}.py", tool_use_id=f"t{n}"), range(40)))
    assert len([row for row in held(served.ways) if "src/n" in row[1]]) == 40
    assert list((served.ways.state / "sessions").glob("*.[0-9]*")) == []


def test_settings_count_from_the_moment_they_are_written(served: Served) -> None:
    assert served("PreToolUse", "a.py") == ""
    settings = served.ways.repo.path / "lineclear.toml"
    for _ in range(3):
        settings.write_text('[[strategy]]\nmatch = "a.py"\nstrategy = "locked"\n')
        assert "is locked" in served("PreToolUse", "a.py")
        settings.unlink()
        assert "is locked" not in served("PreToolUse", "a.py")


def test_a_variable_of_one_call_is_not_that_of_the_next(ways: HookedRepo, served: Served) -> None:
    told = json.dumps(ways.said("PreToolUse", ways.tree / "a.py")).encode()
    served.hooks.answer("claude", "PreToolUse", told, ways.environ | {"LINECLEAR_AGENT": "ada"}, "/")
    served("PreToolUse", "src/b.py")
    assert {("ada", "file:a.py"), ("claude-1", "file:src/b.py")} <= set(held(ways))


def test_what_others_commit_is_seen_at_once(served: Served) -> None:
    served("PreToolUse", "a.py")
    served.ways.claim("eve", "file:src/b.py", EXCLUSIVE)
    assert "eve holds file:src/b.py" in served("PreToolUse", "src/b.py")
    served.ways.release("eve")
    assert "deny" not in served("PreToolUse", "src/b.py")


def test_a_store_that_was_replaced_is_not_written_to_any_more(served: Served) -> None:
    ways = served.ways
    kept = ways.state.parent / "kept"
    ways._with(lambda repo: repo.store.backup(str(kept)))
    served("PreToolUse", "a.py")
    assert ("claude-1", "file:a.py") in held(ways)
    for name in ("state.db", "state.db-wal", "state.db-shm"):
        (ways.state / name).unlink(missing_ok=True)
    shutil.copy(kept, ways.state / "state.db")
    assert ("claude-1", "file:a.py") not in held(ways)
    served("PreToolUse", "src/b.py")
    assert ("claude-1", "file:src/b.py") in held(ways)


def test_a_call_from_another_repository_is_not_answered_here(
    ways: HookedRepo, served: Served, tmp_path: Path
) -> None:
    other = TemporaryRepo.create(tmp_path / "other", ways.repo.environment)
    told = json.dumps(ways.said("PreToolUse", other.path / "a.py", cwd=other.path)).encode()
    with pytest.raises(Elsewhere):
        served.hooks.answer("claude", "PreToolUse", told, ways.environ, str(ways.tree))


def test_where_the_host_does_not_say_it_the_hooks_own_place_counts(ways: HookedRepo, served: Served) -> None:
    told = json.dumps({"session_id": "s1", "tool_name": "Edit", "tool_input": {"file_path": "a.py"}}).encode()
    served.hooks.answer("claude", "PreToolUse", told, ways.environ, str(ways.tree))
    assert ("claude-1", "file:a.py") in held(ways)
    assert served.hooks.answer("claude", "PreToolUse", told, ways.environ, "/") == (b"", 0)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'{"tool_input": 3}', b"\xff\xfe", b'{"cwd": "\\u0000"}', b"9" * 5_000],
)
def test_nonsense_passes(served: Served, body: bytes) -> None:
    assert served.hooks.answer("claude", "PreToolUse", body, served.ways.environ, "/") == (b"", 0)


def test_an_unknown_client_is_a_wrong_call(served: Served) -> None:
    assert served.hooks.answer("nobody", "PreToolUse", b"{}", served.ways.environ, "/") == (b"", 1)


@pytest.mark.parametrize("how", ["open", "closed"])
def test_an_error_is_written_down_and_the_next_call_is_fine(
    ways: HookedRepo, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    (ways.repo.path / "lineclear.toml").write_text(f'[hooks]\non_error = "{how}"\n')
    served = Served(ways)
    served("SessionStart", "x")
    with monkeypatch.context() as patch:
        patch.setattr(PresenceFiles, "touch", lambda *_: 1 / 0)
        said = served("PreToolUse", "a.py")
    assert ("deny" in said) == (how == "closed"), said
    assert "claude PreToolUse" in (ways.state / "hook-errors.log").read_text()
    assert served("PreToolUse", "a.py") == ""
    assert ("claude-1", "file:a.py") in held(ways)
    served.hooks.close()


def test_what_one_session_announces_is_told_to_another_at_its_next_edit(served: Served) -> None:
    ways = served.ways
    served("PreToolUse", "a.py")
    assert served("PreToolUse", "a.py") == ""
    served("PreToolUse", ways.side / "a.py", session="s2", cwd=ways.side)
    assert "is changing file:a.py" in served("PreToolUse", "a.py")
