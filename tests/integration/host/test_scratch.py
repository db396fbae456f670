"""A directory for a program that may write there: nothing gets out, and nothing stays."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lineclear.host.scratch_directory import BadPath, Scratch, abandoned

PREFIX = "lineclear-test-"
LEAVES_ONE = f"""
import os, tempfile
from lineclear.host.scratch_directory import Scratch
room = Scratch({PREFIX!r})
print(room.path, flush=True)
os._exit(9)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_filled_compared_and_gone(place: Path) -> None:
    files = {"a.txt": b"a", "d/b.txt": b"b", "d/c.txt": b"c", "gone": b""}
    with Scratch(PREFIX) as room:
        room.fill(files)
        assert room.differences(files) == []
        path = Path(room.path)
        assert path.parent.stat().st_mode & 0o077 == 0
        (path / "d/b.txt").write_text("x")
        (path / "new").mkdir()
        (path / "new/one").write_text("")
        (path / "gone").unlink()
        (path / "link").symlink_to("/")
        assert room.differences(files) == ["d/b.txt", "gone", "link", "new/one"]
        assert room.read("a.txt", 1) == b"a"
        assert room.read("a.txt", 0) is None
        assert room.read("link", 9) is None
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/x", "a//x", ".git/config", "a/.GIT/hooks/x", "./x"])
def test_no_path_leads_out(place: Path, path: str) -> None:
    with Scratch(PREFIX) as room, pytest.raises(BadPath):
        room.fill({path: b"x"})
    assert list(place.iterdir()) == []


def test_a_file_in_place_of_a_directory_is_an_error_and_not_followed() -> None:
    with Scratch(PREFIX) as room, pytest.raises((FileExistsError, NotADirectoryError)):
        room.fill({"a": b"x", "a/b": b"x"})


def test_what_a_killed_process_left_is_found_and_what_is_used_is_not(place: Path) -> None:
    env = {**os.environ, "TMPDIR": str(place), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", LEAVES_ONE], env=env, capture_output=True, text=True, check=False
    )
    left = Path(done.stdout.strip()).parent
    assert (done.returncode, left.is_dir()) == (9, True), done.stderr
    with Scratch(PREFIX):
        (place / f"{PREFIX}begun").mkdir()  # its lock is not there yet
        assert abandoned(PREFIX) == [str(left)]
