"""Facts are read once for each blob and kind of path, whatever happens to the parser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lineclear.app.radar.reading import ReadingCounts, facts_of, kind_of
from lineclear.core.radar.facts import NOT_READ, FileFacts
from lineclear.merge.rule_jobs import FactsJob, RuleFailure


class Blobs:
    """A `RadarGit` that has nothing but blobs; one named "large" is too large."""

    left_out = 0

    def __init__(self, **blobs: bytes) -> None:
        self.blobs, self.read_oids = blobs, list[str]()

    def read(self, oids: Iterable[str]) -> dict[str, bytes]:
        wanted = sorted(oids)
        self.read_oids += wanted
        return {oid: self.blobs[oid] for oid in wanted if oid != "large"}

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


class Cache:
    def __init__(self) -> None:
        self.known: dict[tuple[str, str], FileFacts] = {}

    def facts(self, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], FileFacts]:
        return {key: self.known[key] for key in wanted if key in self.known}

    def keep(self, facts: Mapping[tuple[str, str], FileFacts]) -> None:
        self.known |= facts

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


class Rules:
    """Says which file it read; a text with "crash" in it breaks the parser."""

    def __init__(self) -> None:
        self.jobs: list[FactsJob] = []

    def run(self, jobs: Sequence[Any], /) -> list[Any]:
        self.jobs += jobs
        return [RuleFailure("crash") if "crash" in job.text else FileFacts(job.text) for job in jobs]


def test_each_blob_is_read_once_however_many_worktrees_have_it() -> None:
    git, cache, rules, counts = Blobs(a=b"A", b=b"B"), Cache(), Rules(), ReadingCounts()
    wanted = [("x.py", "a"), ("y.py", "a"), ("x.py", "b"), ("x.py", "a"), ("x.ts", "a")]
    found = facts_of(git, cache, rules, wanted, counts)
    assert {key: facts.language for key, facts in found.items()} == {
        ("x.py", "a"): "A", ("y.py", "a"): "A", ("x.py", "b"): "B", ("x.ts", "a"): "A",
    }  # fmt: skip
    assert sorted((job.path, job.text) for job in rules.jobs) == [("x.py", "A"), ("x.py", "B"), ("x.ts", "A")]
    assert counts.parsed == 3
    assert facts_of(git, cache, rules, wanted, counts) == found
    assert (counts.parsed, git.read_oids) == (3, ["a", "b"])


def test_a_parser_that_crashes_leaves_one_file_unread_and_is_not_tried_again() -> None:
    git, cache, rules, counts = Blobs(a=b"A", b=b"crash"), Cache(), Rules(), ReadingCounts()
    wanted = [("x.py", "a"), ("y.py", "b")]
    for _ in range(2):
        found = facts_of(git, cache, rules, wanted, counts)
        assert found == {("x.py", "a"): FileFacts("A"), ("y.py", "b"): NOT_READ}
    assert (counts.parsed, counts.failed) == (2, 1)


def test_large_and_binary_files_are_not_parsed() -> None:
    git, cache, rules, counts = Blobs(a=b"A\0", large=b"", b=b"\xff"), Cache(), Rules(), ReadingCounts()
    found = facts_of(git, cache, rules, [("x.py", "a"), ("y.py", "large"), ("z.py", "b")], counts)
    assert found == {("x.py", "a"): NOT_READ, ("y.py", "large"): NOT_READ, ("z.py", "b"): FileFacts("\ufffd")}
    assert counts.parsed == 1


def test_code_is_known_by_its_ending_and_what_its_path_gives_a_meaning_by_its_path() -> None:
    assert kind_of("src/a/B.PY") == ".py"
    for path in (
        "web/package.json",
        "go.mod",
        "Dockerfile",
        ".env",
        "app/migrations/0002_x.py",
        "db/1_a.sql",
    ):
        assert kind_of(path) == path
