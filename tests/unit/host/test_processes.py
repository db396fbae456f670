"""Reading the system's own tables of processes, and finding out who belongs together."""

from __future__ import annotations

import pytest

from lineclear.host.processes import Process, families, parse_ps, parse_stat

# Fields of /proc/PID/stat after the name: state, parent, group, session, ... up to the resident pages.
REST = "S 10 20 30 0 -1 4194304 100 0 0 0 {user} {system} {children} 0 20 0 1 0 5000 1000000 {pages} 18"


def stat(name: str = "sh", *, user: int = 0, system: int = 0, children: int = 0, pages: int = 0) -> bytes:
    rest = REST.format(user=user, system=system, children=children, pages=pages)
    return f"42 ({name}) {rest}".encode()


@pytest.mark.parametrize("name", ["sh", "a b", "a) S 1 1 1", "((", "", ") R 9 9 9 ("])
def test_whatever_a_process_calls_itself_its_numbers_are_found(name: str) -> None:
    process = parse_stat(stat(name))
    assert process is not None
    assert (process.pid, process.parent, process.group, process.session) == (42, 10, 20, 30)


def test_busy_is_its_own_time_and_that_of_its_ended_children() -> None:
    process = parse_stat(stat(user=2, system=1, children=4))
    assert process is not None
    assert process.busy_ns == 7 * 10_000_000


def test_the_schedulers_own_count_sees_what_is_shorter_than_a_tick() -> None:
    process = parse_stat(stat(children=1), b"123456 99 7\n")
    assert process is not None
    assert process.busy_ns == 123_456 + 10_000_000


@pytest.mark.parametrize(
    "line",
    [b"", b"42", b"42 (sh", b"42 (sh) S 1 2", stat().replace(b") S", b") Z"), stat().replace(b") S", b") X")],
)
def test_the_dead_and_the_unreadable_are_nobody(line: bytes) -> None:
    assert parse_stat(line) is None


def test_lines_of_ps_with_times_in_all_their_forms() -> None:
    text = """
      1     0     1   1200   0:01.50
     20     1    20      8 1-02:03:04
    x y z
     21    20    20    100   61:00.00
    """
    found = parse_ps(text)
    assert sorted(found) == [1, 20, 21]
    assert found[1].busy_ns == 1_500_000_000
    assert found[20].busy_ns == (86_400 + 2 * 3_600 + 3 * 60 + 4) * 1_000_000_000
    assert found[21].busy_ns == 61 * 60 * 1_000_000_000
    assert (found[21].parent, found[21].session, found[21].memory_bytes) == (20, 20, 102_400)


def people(*rows: tuple[int, int, int]) -> dict[int, Process]:
    """(pid, parent, session); each is busy for a nanosecond and has a byte."""
    return {pid: Process(pid, parent, session, session, 1, 1) for pid, parent, session in rows}


def test_a_family_is_all_that_descend_and_all_of_the_session() -> None:
    ours = [(10, 1, 10), (11, 10, 10), (12, 11, 12), (13, 1, 10), (14, 13, 14)]
    census = people((1, 0, 1), *ours, (20, 1, 20), (21, 20, 20))
    found = families(census, [10, 20, 99])
    assert sorted(found[10].pids) == [10, 11, 12, 13, 14]
    assert (found[10].busy_ns, found[10].memory_bytes) == (5, 5)
    assert sorted(found[20].pids) == [20, 21]
    assert found[99].pids == []
