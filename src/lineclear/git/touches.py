"""Who changed which files on one side of a merge: one `git log`, read with what landings tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.queue.sides import Touch
from lineclear.git.run import GitFailed, git

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Of a side that has run far ahead the newest steps are enough to know whom to ask.
_MOST_STEPS = 1_000
# No path is written like this; a subject may be, but stands where a field is read.
_RECORD = "//"
_FIELDS = ("%H", "%P", "%an", "%s", "%(trailers:key=Task,valueonly)", "%(trailers:key=Agent,valueonly)")
_LANDS = "Land "


def touches_of_both(
    cwd: str, left: str, right: str, paths: Sequence[str]
) -> tuple[list[Touch], list[Touch]] | None:
    """The `touches` of each side; None where git cannot say."""
    try:
        return touches(cwd, left, right, paths), touches(cwd, right, left, paths)
    except GitFailed:
        return None


def touches(cwd: str, side: str, other: str, paths: Sequence[str]) -> list[Touch]:
    """The steps of one side that the other does not have and that changed one of the paths, newest first.

    A landing is one step, whatever it brought. Any other merge is what it brought; of itself it counts only
    for what was resolved in it. Both ends are names that git knows; GitFailed where one is no commit.
    """
    if not paths:
        return []
    # -c: of a merge only the files that are as on none of its sides.
    words = ["log", "-z", "-c", "--name-only", "--no-renames", "--no-show-signature", f"-{_MOST_STEPS}"]
    words.append(f"--format=%x00{_RECORD}%x00{''.join(f'{field}%x00' for field in _FIELDS)}")
    # Without the paths: given any, git (seen in 2.39) leaves a landing out where its branch holds the same.
    ends = [f"{side}^{{commit}}", f"^{other}^{{commit}}"]
    output = git([*words, "--end-of-options", *ends, "--"], cwd, timeout_s=600)
    steps = _parse(output.decode("utf-8", "surrogateescape").split("\0"), set(paths))
    _give_to_landings(steps)
    return [step.touch for step in steps.values() if step.touch.paths]


@dataclass(frozen=True, slots=True)
class _Step:
    touch: Touch
    parents: Sequence[str]

    @property
    def is_landing(self) -> bool:
        has_trailers = self.touch.task or self.touch.agent
        return len(self.parents) > 1 and bool(has_trailers) and self.touch.subject.startswith(_LANDS)


def _parse(tokens: list[str], wanted: set[str]) -> dict[str, _Step]:
    """A record is its mark, as many fields as we asked for, then paths until the next mark."""
    found: dict[str, _Step] = {}
    touch: Touch | None = None
    at = 0
    while at < len(tokens):
        if tokens[at] == _RECORD:
            commit, parents, author, subject, task, agent = tokens[at + 1 : at + 1 + len(_FIELDS)]
            touch = Touch(commit, author, subject, task=_one(task), agent=_one(agent))
            found[commit] = _Step(touch, parents.split())
            at += len(_FIELDS)
        # The first path of a record comes behind the newline that ends the format.
        elif touch is not None and (name := tokens[at].removeprefix("\n")) in wanted:
            touch.paths.append(name)
        at += 1
    return found


def _one(trailer: str) -> str:
    """Of several lines the last: git's tools take the last one, too."""
    return trailer.strip().rpartition("\n")[2]


def _give_to_landings(steps: dict[str, _Step]) -> None:
    """What a landing brought is the landing's; the oldest takes first, so that each has only its own."""
    line = _first_parents(steps)
    taken = set(line)
    for step in reversed([steps[commit] for commit in line]):
        if step.is_landing:
            for inner in _reach(steps, step.parents[1:], taken):
                step.touch.paths += [path for path in inner.paths if path not in step.touch.paths]
                inner.paths.clear()


def _first_parents(steps: dict[str, _Step]) -> list[str]:
    line: list[str] = []
    commit = next(iter(steps), "")
    while commit in steps:
        line.append(commit)
        commit = next(iter(steps[commit].parents), "")
    return line


def _reach(steps: dict[str, _Step], starts: Iterable[str], taken: set[str]) -> list[Touch]:
    """What can be reached from there and is nobody's yet; now it is."""
    found, todo = [], list(starts)
    while todo:
        commit = todo.pop()
        if commit in steps and commit not in taken:
            taken.add(commit)
            found.append(steps[commit].touch)
            todo += steps[commit].parents
    return found
