"""Who changed which files on one side of a merge: one `git log`, with landings counted as single steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.queue.conflict_sides import Touch
from lineclear.git.run import GitFailed, git

if TYPE_CHECKING:
    from collections.abc import Sequence

# On a side that is far ahead, the newest steps are enough to know whom to ask.
_MOST_STEPS = 1_000
# No path looks like this. A subject may, but it is read as a field.
_RECORD = "//"
_FIELDS = ("%H", "%P", "%an", "%s", "%(trailers:key=Task,valueonly)", "%(trailers:key=Agent,valueonly)")
_LANDS = "Land "


def touches_of_both(
    cwd: str, left: str, right: str, paths: Sequence[str]
) -> tuple[list[Touch], list[Touch]] | None:
    """Return the `touches` of each side; None if git fails."""
    try:
        return touches(cwd, left, right, paths), touches(cwd, right, left, paths)
    except GitFailed:
        return None


def touches(cwd: str, side: str, other: str, paths: Sequence[str]) -> list[Touch]:
    """Return the commits that only `side` has and that changed one of the paths, newest first.

    A landing counts as one step, with all the paths it brought. Any other merge counts only for paths that
    were resolved in it. Raise GitFailed if `side` or `other` is not a commit.
    """
    if not paths:
        return []
    # -c: of a merge only the files that differ from every parent.
    words = ["log", "-z", "-c", "--name-only", "--no-renames", "--no-show-signature", f"-{_MOST_STEPS}"]
    words.append(f"--format=%x00{_RECORD}%x00{''.join(f'{field}%x00' for field in _FIELDS)}")
    # Paths are filtered below: given paths, git (2.39) omits a landing whose branch has the same content.
    ends = [f"{side}^{{commit}}", f"^{other}^{{commit}}"]
    output = git([*words, "--end-of-options", *ends, "--"], cwd, timeout_s=600)
    steps = _parse(output.decode("utf-8", "surrogateescape").split("\0"), set(paths))
    _credit_landings(steps)
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
    """A record is `_RECORD`, then the fields we asked for, then paths until the next `_RECORD`."""
    found: dict[str, _Step] = {}
    touch: Touch | None = None
    at = 0
    while at < len(tokens):
        if tokens[at] == _RECORD:
            commit, parents, author, subject, task, agent = tokens[at + 1 : at + 1 + len(_FIELDS)]
            # A repeated trailer: git's tools use the last one, too.
            task, agent = (trailer.strip().rpartition("\n")[2] for trailer in (task, agent))
            touch = Touch(commit, author, subject, task=task, agent=agent)
            found[commit] = _Step(touch, parents.split())
            at += len(_FIELDS)
        # The first path of a record follows the newline that ends the format.
        elif touch is not None and (name := tokens[at].removeprefix("\n")) in wanted:
            touch.paths.append(name)
        at += 1
    return found


def _credit_landings(steps: dict[str, _Step]) -> None:
    """Move the paths of the commits that a landing brought to the landing itself.

    The oldest landing goes first, so that each gets only the commits that it brought.
    """
    first_parents: list[str] = []
    commit = next(iter(steps), "")
    while commit in steps:
        first_parents.append(commit)
        commit = next(iter(steps[commit].parents), "")
    taken = set(first_parents)
    for step in [steps[commit] for commit in reversed(first_parents)]:
        if not step.is_landing:
            continue
        landed = step.touch.paths
        todo = list(step.parents[1:])
        while todo:
            commit = todo.pop()
            if commit in steps and commit not in taken:
                taken.add(commit)
                brought = steps[commit].touch.paths
                landed += [path for path in brought if path not in landed]
                brought.clear()
                todo += steps[commit].parents
