"""What a hook remembers of a session: the last value counts, and the file stays small."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lineclear.host.sessions import SessionFile, Writes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "claude-s1"


def remember(path: Path, kind: str, key: str, value: str) -> None:
    session = SessionFile(str(path))
    session.set(kind, key, value)
    session.save()


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines", "a\ttab", "back\\slash \\n \\\\t", "zw\u00f6lf", "\udce9"]
)
def test_any_text_comes_back_as_it_was(path: Path, text: str) -> None:
    remember(path, "kind", text, text)
    session = SessionFile(str(path))
    assert session.get("kind", text) == text
    assert session.keys("kind") == [text]


def test_what_is_not_saved_is_known_as_changed(path: Path) -> None:
    session = SessionFile(str(path))
    seen = [session.is_changed]
    session.set("kind", "", "1")
    seen.append(session.is_changed)
    session.save()
    seen.append(session.is_changed)
    session.set("kind", "", "1")
    assert [*seen, session.is_changed] == [False, True, False, False]


def test_what_no_longer_counts_does_not_pile_up(path: Path) -> None:
    remember(path, "home", "", "/desk")
    remember(path, "gone", "", "1")
    remember(path, "gone", "", "")
    largest = 0
    for number in range(3_000):
        remember(path, "answer", str(number % 16), f"{number} nothing to say")
        largest = max(largest, path.stat().st_size)
    assert largest < 40_000
    session = SessionFile(str(path))
    assert (session.get("home"), session.get("gone")) == ("/desk", "")
    assert session.get("answer", "7") == "2999 nothing to say"
    assert len(session.keys("answer")) == 16
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_much_that_counts_is_kept_until_it_is_too_much(path: Path) -> None:
    remember(path, "oldest", "", "1")
    for number in range(100):
        remember(path, "version", f"src/{number}.py", "d" * 1_000)
    assert SessionFile(str(path)).get("oldest") == "1"
    for number in range(300):
        remember(path, "version", f"lib/{number}.py", "d" * 1_000)
    assert path.stat().st_size <= 256 * 1024
    assert SessionFile(str(path)).get("version", "lib/299.py")


def test_what_is_set_now_is_on_disk_whatever_becomes_of_the_rest(path: Path) -> None:
    session = SessionFile(str(path))
    session.set("told", "1", "x")
    session.set_now("short", "file:a.py", "none")
    found = SessionFile(str(path))
    assert (found.get("short", "file:a.py"), found.get("told", "1")) == ("none", "")
    session.save()
    assert SessionFile(str(path)).get("told", "1") == "x"


def test_a_copy_that_is_thrown_away_changes_nothing(path: Path) -> None:
    session = SessionFile(str(path))
    session.set("told", "1", "x")
    thrown, kept = session.copy(), session.copy()
    thrown.set("told", "1", "")
    assert session.get("told", "1") == kept.get("told", "1") == "x"
    kept.save()
    assert SessionFile(str(path)).get("told", "1") == "x"


def test_what_is_noted_of_writes_has_a_size_at_once_and_is_seen_when_it_is_flushed(path: Path) -> None:
    writes, others = Writes(str(path)), Writes(str(path))
    writes.note("ada", "main", "a\tb.py", "d1")
    assert writes.size() > others.size() == 0
    assert others.since(0, "main") == []
    writes.flush()
    assert [row[1:] for row in others.since(0, "main")] == [("ada", "a\tb.py", "d1")]
    assert others.since(time.time_ns() + 1, "main") == []
    assert writes.size() == others.size()
