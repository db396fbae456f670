"""The jobs that run where the rules may crash without harm: each reads texts that anybody may have written.

Jobs and answers are plain JSON values, since they travel between processes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from lineclear.core.radar.facts import FileFacts, from_json
from lineclear.merge.bounds import why_too_large
from lineclear.merge.migrations import MigrationMoves, renumber
from lineclear.merge.names_added import names_added
from lineclear.merge.result import Conflict, Labels, MergeResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    class Job(Protocol):
        def to_json(self) -> list[Any]: ...

        def why_not(self) -> str:
            """Why it is not tried, or ""."""

        def read_answer(self, answer: Any, /) -> Any:
            """The value of what `run_job` returned."""


# Limits of one job. The process that runs it enforces them.
CPU_SECONDS = 5
MEMORY_BYTES = 2 << 30


@dataclass(frozen=True, slots=True)
class RuleFailure:
    """What a job gets in place of an answer: the rules crashed, used up their time or memory, or were not
    tried. `text` is git's own, with its markers, where a file was to be merged."""

    reason: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class MergeJob:
    """Merge one file that git left in conflict."""

    path: str
    base: str
    left: str
    right: str
    labels: Labels
    git_text: str | None = None

    def why_not(self) -> str:
        return why_too_large((self.base, self.left, self.right))

    def to_json(self) -> list[Any]:
        texts = [self.base, self.left, self.right, self.git_text]
        return ["merge", self.path, *texts, asdict(self.labels)]

    def read_answer(self, answer: dict[str, Any]) -> MergeResult:
        conflicts = [Conflict(**row) for row in answer["conflicts"]]
        rules = [(where, rule) for where, rule in answer["rules"]]
        return MergeResult(answer["text"], conflicts, rules, answer["verdict"])


@dataclass(frozen=True, slots=True)
class NamesJob:
    """Find the names that one side adds in a file and that another file may define too."""

    path: str
    text: str
    before: str

    def why_not(self) -> str:
        return ""  # a large file is not searched at all: see `may_add_names`

    def to_json(self) -> list[Any]:
        return ["names", self.path, self.text, self.before]

    def read_answer(self, answer: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        return answer


@dataclass(frozen=True, slots=True)
class RenumberJob:
    """Give the right side's new migrations numbers after the left side's."""

    left: Mapping[str, str]
    right: Mapping[str, str]
    paths: set[str]

    def why_not(self) -> str:
        return why_too_large((*self.left.values(), *self.right.values()))

    def to_json(self) -> list[Any]:
        return ["renumber", self.left, self.right, sorted(self.paths)]

    def read_answer(self, answer: dict[str, Any]) -> MigrationMoves:
        changed = {old: (new, text) for old, (new, text) in answer["changed"].items()}
        doubts = [(paths, text) for paths, text in answer["doubts"]]
        return MigrationMoves(changed, answer["commands"], doubts)


@dataclass(frozen=True, slots=True)
class FactsJob:
    """Read the facts of one file."""

    path: str
    text: str

    def why_not(self) -> str:
        return why_too_large((self.text,))

    def to_json(self) -> list[Any]:
        return ["facts", self.path, self.text]

    def read_answer(self, answer: list[Any]) -> FileFacts:
        return from_json(answer)


def run_job(job: list[Any]) -> Any:
    """Do what `to_json` of a job describes, and return what its `read_answer` reads."""
    kind, *values = job
    return _KINDS[kind](*values)


def _merge(
    path: str, base: str, left: str, right: str, git_text: str | None, labels: dict[str, str]
) -> dict[str, Any]:
    from lineclear.merge import merge_texts

    result = merge_texts(path, base, left, right, git_text=git_text, labels=Labels(**labels))
    conflicts = [vars(conflict) for conflict in result.conflicts]
    return {"text": result.text, "conflicts": conflicts, "rules": result.rules, "verdict": result.verdict}


def _renumber(left: dict[str, str], right: dict[str, str], paths: list[str]) -> dict[str, Any]:
    return vars(renumber(left, right, set(paths)))


def _facts(path: str, text: str) -> list[Any]:
    from lineclear.code.facts.reading import read_facts

    return read_facts(path, text).to_json()


_KINDS: dict[str, Callable[..., Any]] = {
    "facts": _facts,
    "merge": _merge,
    "names": names_added,
    "renumber": _renumber,
}
