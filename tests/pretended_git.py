"""A git that only pretends, for tests of what stacking makes of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lineclear.core.queue.landing_results import Author
from lineclear.merge.rule_jobs import run_job

if TYPE_CHECKING:
    from lineclear.merge.rule_jobs import Job


class Trees:
    """Every merge gives one tree; a conflict in `conflict` when it is set."""

    def __init__(self) -> None:
        self.conflict, self.tree = "", "tree"

    def merge(self, _base: str, _left: str, _right: str) -> tuple[str, dict[str, Any]]:
        stages = {1: ("160000", "x"), 2: ("160000", "y"), 3: ("160000", "z")}
        return self.tree, {self.conflict: stages} if self.conflict else {}

    def read(self, _oids: object) -> dict[str, bytes]:
        return {}

    def changed(self, _base: str, _side: str) -> dict[str, Any]:
        return {}

    def paths(self, _tree: str, _directories: object) -> list[str]:
        return []

    def files(self, _tree: str) -> dict[str, tuple[str, str]]:
        return {}

    def entries(self, _tree: str, _paths: object) -> dict[str, tuple[str, str]]:
        return {}

    def write(self, tree: str, _files: object) -> str:
        return tree


class Ground:
    """Main is at m0; `a1` is ahead of an older commit, `ahead` of main, `m-1` is on main, `?` is unknown."""

    branch = "main"

    def __init__(self) -> None:
        self.trees, self.history = Trees(), self
        self.committed: list[str] = []
        self.parents: list[list[str]] = []
        self.written: list[Author | None] = []
        self.others: list[Author] = []
        self.paths: list[str] = []

    def bases(self, _main: str, tip: str) -> list[str]:
        return {"a1": ["m-1"], "m-1": ["m-1"], "ahead": ["m0"]}.get(tip, [])

    def base_of(self, bases: Sequence[str]) -> str:
        return bases[0]

    def tree_of(self, commit: str) -> str:
        return f"tree of {commit}" if commit != "?" else ""

    def authors(self, _main: str, _tip: str) -> list[Author]:
        return [Author("Ada", "ada@x"), *self.others]

    def changed(self, _old: str, _new: str) -> tuple[list[str], list[str]]:
        return ["f"], self.paths[1:]

    def folded_paths(self, _tree: str) -> list[str]:
        return self.paths

    def commit(self, _tree: str, parents: Sequence[str], message: str, author: Author | None) -> str:
        self.committed.append(message)
        self.parents.append(list(parents))
        self.written.append(author)
        return "a-landed"


class RulesHere:
    """Runs the merge rules in this process."""

    def run(self, jobs: Sequence[Job]) -> list[Any]:
        return [job.read_answer(run_job(job.to_json())) for job in jobs]
