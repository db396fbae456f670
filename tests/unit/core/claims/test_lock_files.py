"""Lock files: ours are known by their mark, those of others count until they are stale."""

from __future__ import annotations

import pytest

from lineclear.core.claims.lock_files import (
    STALE_AFTER_MS,
    Foreign,
    Lock,
    is_ours,
    is_stale,
    lock_name,
    read_foreign,
    write_lock,
)


@pytest.mark.parametrize(
    ("path", "name"), [("src/a.py", "src/a.py.agent-lock"), ("src/auth/", "src/auth.agent-lock"), ("./", "")]
)
def test_a_lock_stands_beside_its_path(path: str, name: str) -> None:
    assert lock_name(path) == name


def test_our_lock_says_who_and_until_when_and_is_known_again() -> None:
    text = write_lock(Lock("src/a.py", "file:src/a.py", "ada", "2026-01-01T12:12:00Z", "T-3", "the\nform"))
    assert text == (
        "# written by lineclear\nagent: ada\nresource: file:src/a.py\nuntil: 2026-01-01T12:12:00Z\n"
        "task: T-3\nnote: the�form\n"
    )
    assert is_ours(text)


@pytest.mark.parametrize(
    ("text", "pid", "host"),
    [
        ("4711\n", 4711, ""),
        ('{"agent": "x", "pid": 12, "hostname": "box-1"}', 12, "box-1"),
        ("pid: 12\nhost: box", 12, "box"),
        ("PID=12", 12, ""),
        ("", 0, ""),
        ("rapid: 12", 0, ""),
        ("pid: 99999999999999", 0, ""),
        ("\ufffd" * 5_000, 0, ""),
    ],
)
def test_a_lock_of_others_is_read_as_far_as_it_can_be(text: str, pid: int, host: str) -> None:
    lock = read_foreign(text)
    assert (lock.pid, lock.host) == (pid, host)
    assert not is_ours(text)
    assert len(lock.words) <= 90


@pytest.mark.parametrize(
    ("pid", "host", "age_ms", "is_alive", "stale"),
    [
        (0, "", 0, False, False),
        (0, "", STALE_AFTER_MS, False, False),
        (0, "", STALE_AFTER_MS + 1, False, True),
        (12, "", 0, True, False),
        (12, "", 0, False, True),
        (12, "here", 0, False, True),
        (12, "elsewhere", 0, False, False),
        (12, "", STALE_AFTER_MS + 1, True, True),
    ],
)
def test_a_lock_is_stale_by_age_or_by_a_dead_process_of_this_host(
    pid: int, host: str, age_ms: int, is_alive: bool, stale: bool
) -> None:
    assert is_stale(Foreign(pid, host, ""), age_ms, host="here", is_alive=is_alive) is stale
