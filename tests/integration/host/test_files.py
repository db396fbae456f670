"""Files written whole, and what the disk says about itself."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lineclear.host import files


def test_a_file_is_created_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.write_atomically(str(path), b"one")
    assert path.read_bytes() == b"one"
    files.write_atomically(str(path), b"")
    assert path.read_bytes() == b""
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_in_the_current_directory_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files.write_atomically("file", b"here")
    assert (tmp_path / "file").read_bytes() == b"here"


def test_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(0o640)
    files.write_atomically(str(path), b"new")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_that_replaces_a_symlink_has_ordinary_permissions(tmp_path: Path) -> None:
    """A link shows 0777: as the permissions of a file they would let everybody write."""
    (tmp_path / "link").symlink_to("target")
    files.write_atomically(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").stat().st_mode & 0o022 == 0


@pytest.mark.parametrize("is_durable", [True, False])
def test_given_permissions_win_over_those_of_the_old_file_and_of_the_umask(
    tmp_path: Path, is_durable: bool
) -> None:
    path = tmp_path / "file"
    path.touch(0o644)
    for mode in (0o600, 0o666):
        files.write_atomically(str(path), b"new", is_durable=is_durable, mode=mode)
        assert path.stat().st_mode & 0o777 == mode


def test_content_meant_for_one_user_is_never_readable_by_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even before its permissions are set."""
    modes: list[int] = []
    monkeypatch.setattr(os, "fchmod", lambda fd, _mode: modes.append(os.fstat(fd).st_mode & 0o077))
    files.write_atomically(str(tmp_path / "file"), b"secret", mode=0o600)
    assert modes == [0]


@pytest.mark.parametrize(("is_durable", "synced"), [(True, ["file", "directory"]), (False, [])])
def test_a_durable_write_syncs_the_file_and_then_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_durable: bool, synced: list[str]
) -> None:
    seen: list[str] = []
    monkeypatch.delattr("fcntl.F_FULLFSYNC", raising=False)
    monkeypatch.setattr(
        os, "fsync", lambda fd: seen.append("directory" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file")
    )
    files.write_atomically(str(tmp_path / "file"), b"new", is_durable=is_durable)
    assert seen == synced


def test_a_fixed_temporary_file_replaces_what_a_killed_process_left(tmp_path: Path) -> None:
    path, left, target = tmp_path / "file", tmp_path / "file.new", tmp_path / "target"
    left.write_bytes(b"half of a longer text")
    files.write_atomically(str(path), b"new", temporary=str(left))
    target.write_bytes(b"target")
    left.symlink_to(target)
    files.write_atomically(str(path), b"newer", temporary=str(left))
    assert (path.read_bytes(), target.read_bytes()) == (b"newer", b"target")
    assert sorted(tmp_path.iterdir()) == [path, target]


def test_whoever_has_the_old_file_open_still_reads_the_old_text(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with path.open("rb") as before:
        files.write_atomically(str(path), b"new")
        assert before.read() == b"old"


def test_a_symlink_is_replaced_and_its_target_kept(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"target")
    (tmp_path / "link").symlink_to("target")
    files.write_atomically(str(tmp_path / "link"), b"new")
    assert (tmp_path / "target").read_bytes() == b"target"
    assert (tmp_path / "link").read_bytes() == b"new"


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    monkeypatch.delattr("fcntl.F_FULLFSYNC", raising=False)
    with pytest.raises(OSError, match="No space left"):
        files.write_atomically(str(path), b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_comes_in_pieces_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:3]))
    files.write_atomically(str(tmp_path / "file"), b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


def test_free_space_is_asked_where_the_path_will_be(tmp_path: Path) -> None:
    assert files.free_bytes(str(tmp_path / "not" / "yet" / "there")) > 0


def test_a_local_disk_is_no_network_file_system(tmp_path: Path) -> None:
    assert files.is_network_fs(str(tmp_path / "not" / "yet")) is None


def test_a_network_file_system_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = str(tmp_path.resolve())
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    monkeypatch.setattr(files, "_mounts", lambda: [("/", "ext4"), (real + "/there", "nfs4")])
    assert files.is_network_fs(str(tmp_path / "there" / "x")) == "nfs4"
    assert files.is_network_fs(str(tmp_path / "link" / "x")) == "nfs4"
    assert files.is_network_fs(str(tmp_path / "x")) is None


def test_without_proc_the_mount_command_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MOUNTINFO", "/nowhere/mountinfo")
    monkeypatch.setattr(files, "_MOUNT_COMMAND", ("/bin/echo", "host:/x on /mnt (nfs, nodev)"))
    assert files.type_of_mount(files._mounts(), "/mnt/file") == "nfs"
    monkeypatch.setattr(files, "_MOUNT_COMMAND", ("/nowhere/mount",))
    assert files._mounts() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_tree_with_read_only_directories_is_removed(tmp_path: Path) -> None:
    (tmp_path / "cache/mod/sub").mkdir(parents=True)
    (tmp_path / "cache/mod/sub/file").write_text("")
    for name in ("cache/mod/sub", "cache/mod", "cache"):
        (tmp_path / name).chmod(0o500)
    files.remove_tree(str(tmp_path / "cache"))
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_removed_and_its_target_kept(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "link").symlink_to("dir")
    files.remove_tree(str(tmp_path / "link"))
    files.remove_tree(str(tmp_path / "gone"))
    assert list(tmp_path.iterdir()) == [tmp_path / "dir"]
