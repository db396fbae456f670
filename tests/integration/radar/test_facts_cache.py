"""The radar's cache: whatever happens to its file, it answers, and never raises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from lineclear.core.radar.facts import Definition, FileFacts, Import, Key, Parameter, Use
from lineclear.store import facts_cache
from lineclear.store.facts_cache import SqliteFactsCache

PARAMETER = Parameter("x", type="int")
FACTS = FileFacts(
    "python",
    definitions=(Definition("f", "function", 1, (PARAMETER,), "str", ("Base",), "ab", "def f(x: int)"),),
    uses=(Use("g", "call", names=("a", "*"), row=3),),
    imports=(Import("m", "n", "n"),),
    keys=(Key("route", "GET /x", "f", 9),),
)
KEY = ("b10b", ".py")


class Caches:
    def __init__(self, path: Path) -> None:
        self.path, self.now_s = path, 1_000_000
        self.opened: list[SqliteFactsCache] = []

    def open(self, version: str = "1") -> SqliteFactsCache:
        self.opened.append(SqliteFactsCache(str(self.path), version, lambda: self.now_s))
        return self.opened[-1]

    def close(self) -> None:
        for cache in self.opened:
            cache.close()


@pytest.fixture
def caches(tmp_path: Path) -> Caches:
    return Caches(tmp_path / "radar.db")


def test_what_was_kept_is_known_to_the_next_process(caches: Caches) -> None:
    first = caches.open()
    first.keep({KEY: FACTS, ("e", "odd/\udcff\n.json"): FACTS})
    first.keep_answer("pair a b", {"findings": [1, None, "\udcff"]})
    first.close()
    second = caches.open()
    assert second.facts([KEY, ("e", "odd/\udcff\n.json"), ("b10b", ".ts")]) == {
        KEY: FACTS, ("e", "odd/\udcff\n.json"): FACTS,
    }  # fmt: skip
    assert second.answer("pair a b") == {"findings": [1, None, "\udcff"]}
    assert second.answer("pair b a") is None
    second.close()


def test_a_cache_of_another_version_counts_as_empty_and_the_older_program_notices(caches: Caches) -> None:
    old = caches.open("1")
    old.keep({KEY: FACTS})
    new = caches.open("2")
    assert new.facts([KEY]) == {}
    new.keep({("c", ".py"): FACTS})
    # It goes on without the file, and does not spoil that of the other one.
    assert old.facts([KEY, ("c", ".py")]) == {}
    old.keep({KEY: FACTS})
    assert old.facts([KEY]) == {KEY: FACTS}
    assert new.facts([KEY, ("c", ".py")]) == {("c", ".py"): FACTS}
    caches.close()


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_damaged_file_is_made_again(caches: Caches, damage: bytes) -> None:
    first = caches.open()
    first.keep({KEY: FACTS})
    first.close()
    caches.path.write_bytes(damage)
    second = caches.open()
    assert second.facts([KEY]) == {}
    second.keep({KEY: FACTS})
    second.close()
    third = caches.open()
    assert third.facts([KEY]) == {KEY: FACTS}
    caches.close()


def test_a_damaged_row_or_table_is_no_trouble(caches: Caches) -> None:
    cache = caches.open()
    for statement in ("UPDATE facts SET value = x'00'", "DROP TABLE facts"):
        cache.keep({KEY: FACTS})
        cache.close()
        apsw.Connection(str(caches.path)).execute(statement)
        assert cache.facts([KEY]) == {}
    cache.close()


def test_a_file_that_stays_locked_is_left_to_who_holds_it(
    caches: Caches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts_cache, "_PATIENCE_MS", 20)
    cache = caches.open()
    cache.keep({KEY: FACTS})
    other = apsw.Connection(str(caches.path))
    other.execute("BEGIN IMMEDIATE")
    cache.keep({("c", ".py"): FACTS})
    assert cache.facts([KEY, ("c", ".py")]) == {("c", ".py"): FACTS}
    other.close()
    caches.close()


def test_without_a_directory_to_write_to_it_works_in_memory(tmp_path: Path) -> None:
    caches = Caches(tmp_path / "none/radar.db")
    cache = caches.open()
    cache.keep({KEY: FACTS})
    assert cache.facts([KEY]) == {KEY: FACTS}
    cache.prune()
    cache.close()


def test_the_least_recently_used_go_first(caches: Caches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_cache, "MOST_BLOBS", 10)
    cache = caches.open()
    keys = [(f"{number:02}", ".py") for number in range(14)]
    cache.keep(dict.fromkeys(keys, FACTS))
    caches.now_s += 2 * 3_600
    assert cache.facts(keys[:3]).keys() == set(keys[:3])
    cache.prune()
    left = cache.facts(keys).keys()
    assert len(left) == 9
    assert left >= set(keys[:3])
    cache.close()


def test_it_stays_small(caches: Caches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_cache, "MOST_BYTES", 400_000)
    cache = caches.open()
    for number in range(60):
        cache.keep_answer(f"{number}", os.urandom(10_000).hex())
        cache.keep({(f"{number}", ".py"): FileFacts(os.urandom(10_000).hex())})
    cache.prune()
    cache.close()
    assert caches.path.stat().st_size < 400_000


PROGRAM = """
import sys
from lineclear.core.radar.facts import FileFacts
from lineclear.store.facts_cache import SqliteFactsCache
cache = SqliteFactsCache(sys.argv[1], "1", lambda: 1)
for number in range(200):
    key = (f"{sys.argv[2]} {number}", ".py")
    cache.keep({key: FileFacts("python")})
    assert cache.facts([key]) == {key: FileFacts("python")}
cache.prune()
"""


def test_two_processes_share_it(caches: Caches) -> None:
    words = [sys.executable, "-c", PROGRAM, str(caches.path)]
    started = [subprocess.Popen([*words, name]) for name in ("a", "b")]
    assert [process.wait(60) for process in started] == [0, 0]
    cache = caches.open()
    keys = [(f"{name} {number}", ".py") for name in ("a", "b") for number in range(200)]
    assert len(cache.facts(keys)) == 400
    cache.close()
