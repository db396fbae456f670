"""Is the result of a run what its task asks for? Facts in, problems out; nothing is looked up in here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.claims.resources import overlaps, parse_resource, resource_of
from lineclear.core.runs import ends
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lineclear.core.claims.resources import Resource

# Kinds of problems.
STRAYED, HOOK, UNMERGED, EMPTY = "strayed", "hook", "unmerged", "empty"
SCOPE, PRODUCES, CHECK = "scope", "produces", "check"
# The settings for changes outside the scope.
WARN, REFUSE, OFF = "warn", "refuse", "off"
# What a task can ask for besides files: a message, or a value with a key.
MESSAGE, VALUE = "message", "value:"

MOST_NAMED, MOST_REASON, MOST_TAIL = 5, 2_000, 1_200


class Problem:
    """A difference from what the task asks for. One that is not `fatal` is only reported."""

    def __init__(self, kind: str, words: str, files: Sequence[str] = (), *, fatal: bool = True) -> None:
        self.kind, self.words, self.files, self.fatal = kind, words, list(files), fatal


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """How a check command ended: code 0 is success, -1 a timeout."""

    command: str
    code: int
    tail: str


class RunWork:
    """The result of a run. `present`: those of `produces` that exist. A run without a worktree need not have
    changes."""

    def __init__(
        self,
        *,
        changed: Sequence[str] = (),
        scope: Sequence[str] = (),
        produces: Sequence[str] = (),
        present: Collection[str] = (),
        checks: Sequence[OutputCheck] = (),
        has_worktree: bool = True,
    ) -> None:
        self.changed, self.scope, self.produces = list(changed), list(scope), list(produces)
        self.present, self.checks, self.has_worktree = present, list(checks), has_worktree


def validate(work: RunWork, *, scope: str = WARN) -> list[Problem]:
    """The problems, in the order in which somebody would fix them."""
    found = []
    if work.has_worktree and not work.changed:
        found.append(Problem(EMPTY, "its branch has no changes"))
    outside = outside_scope(work.changed, work.scope) if scope != OFF else []
    if outside:
        words = f"it changed files outside the task's scope: {named(outside)}"
        found.append(Problem(SCOPE, words, outside, fatal=scope == REFUSE))
    missing = [name for name in work.produces if name not in work.present]
    if missing:
        found.append(Problem(PRODUCES, f"it did not produce: {named(missing)}", missing))
    return found + [failed(check) for check in work.checks if check.code != 0]


def failed(check: OutputCheck) -> Problem:
    how = "did not finish in time" if check.code < 0 else f"failed with exit code {check.code}"
    tail = check.tail.strip()[-MOST_TAIL:]
    return Problem(CHECK, f"the check `{check.command}` {how}" + (f":\n{tail}" if tail else ""))


def outside_scope(changed: Sequence[str], scope: Sequence[str]) -> list[str]:
    """The changed files that are outside the scope; [] if the scope names no files at all."""
    parts = [resource_of(text) for text in scope]
    places = [part for part in parts if part.scheme in ("file", "symbol")]
    if not places:
        return []
    return [path for path in changed if not is_inside(path, places)]


def is_inside(path: str, places: Sequence[Resource]) -> bool:
    """Is a file of the repository in one of the places?"""
    file = file_named(path)
    return file is not None and any(overlaps(file, place) for place in places)


def file_named(path: str) -> Resource | None:
    """A file of the repository as a resource; None if its name is not valid in a scope."""
    try:
        # Literally: a file may be called `[id].tsx` or even `*`.
        return parse_resource(f"file:{path}", is_dir=False, literal=True)
    except Refusal:
        return None


def named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def conclude(problems: Sequence[Problem]) -> tuple[str, str]:
    """(how the run ends, why): done unless something fatal was found."""
    fatal = [problem for problem in problems if problem.fatal]
    if not fatal:
        return ends.DONE, ""
    how = ends.STRAYED if any(problem.kind == STRAYED for problem in fatal) else ends.REJECTED
    reason = "; ".join(problem.words for problem in fatal)
    return how, reason if len(reason) <= MOST_REASON else reason[: MOST_REASON - 3] + "..."
