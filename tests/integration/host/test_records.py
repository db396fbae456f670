"""Record files on a real file system: one writer at a time, whole, and of this user alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lineclear.host.private_record import RecordFile

WRITER = """
import sys
from lineclear.host.private_record import RecordFile
sys.stdin.readline()
for number in range(20):
    RecordFile(sys.argv[1]).change(lambda text: text + f"{sys.argv[2]}-{number}\\n")
"""


def write(path: Path, text: str) -> None:
    RecordFile(str(path)).change(lambda _: text)


def test_a_file_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert RecordFile(str(tmp_path / "none")).read() == ""
    assert RecordFile(str(tmp_path / "none" / "below")).read() == ""


def test_what_is_written_is_read_by_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "record"
    previous = os.umask(0)
    try:
        write(path, "a\n")
    finally:
        os.umask(previous)
    assert RecordFile(str(path)).read() == "a\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_that_others_could_write_holds_nothing_and_is_closed_by_the_next_change(
    tmp_path: Path,
) -> None:
    path = tmp_path / "record"
    path.write_text("planted\n")
    path.chmod(0o666)
    assert RecordFile(str(path)).read() == ""
    RecordFile(str(path)).change(lambda text: text + "b\n")
    assert RecordFile(str(path)).read() == "b\n"
    assert path.stat().st_mode & 0o777 == 0o600


def make_link(path: Path) -> None:
    target = path.with_name("target")
    target.write_text("theirs\n")
    path.symlink_to(target)


def make_pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize("make", [make_link, make_pipe])
def test_what_is_no_plain_file_holds_nothing_and_is_replaced(tmp_path: Path, make: object) -> None:
    assert callable(make)
    path = tmp_path / "record"
    make(path)
    assert RecordFile(str(path)).read() == ""
    write(path, "c\n")
    assert path.is_file()
    assert not path.is_symlink()
    assert RecordFile(str(path)).read() == "c\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "target").exists() is (make is make_link)


def test_a_change_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "record"
    write(path, "d\n")

    def fail(_: str) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RecordFile(str(path)).change(fail)
    assert RecordFile(str(path)).read() == "d\n"
    assert sorted(os.listdir(tmp_path)) == ["record", "record.lock"]


def test_processes_that_change_it_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "record"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(name)], stdin=subprocess.PIPE)
        for name in range(4)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()
    assert [writer.wait(60) for writer in writers] == [0] * 4
    lines = RecordFile(str(path)).read().splitlines()
    assert sorted(lines) == sorted(f"{name}-{number}" for name in range(4) for number in range(20))
