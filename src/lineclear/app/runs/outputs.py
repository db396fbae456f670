"""Take over a run's work: commit what the agent left uncommitted, and compare the result with what its task
asks for.

Decides how the run ends, but nothing about the task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.log.tables import LOG, split_names
from lineclear.core.log.tables import VALUE as VALUES
from lineclear.core.queue.checks import checks_for
from lineclear.core.queue.landing_results import message
from lineclear.core.runs import outputs
from lineclear.core.runs.outputs import MESSAGE, VALUE, OutputCheck, Problem, RunWork
from lineclear.core.tasks.states import HANDED_OVER, MERGED, show_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    from lineclear.app.ports import Store, View
    from lineclear.core.claims.resources import Resource
    from lineclear.core.log.tables import Task
    from lineclear.core.queue.checks import Check as StatedCheck

    class Workplace(Protocol):
        """An agent's worktree, after the agent has ended."""

        def return_to(self, branch: str, /) -> tuple[str, str]:
            """Put HEAD back on the branch: (what prevents it or "", what was done or "")."""

        def unmerged(self) -> list[str]: ...

        def commit(self, message: str, agent: str, /) -> tuple[str, list[str], str]:
            """Commit everything: (commit or "", files left out and why, a git hook's objection or "")."""

        def head(self) -> str: ...

        def changed(self) -> list[str]:
            """Paths that differ from the merge base with main."""

        def present(self, paths: Sequence[str], /) -> set[str]:
            """Those of the paths that the last commit contains."""


class Delivered:
    """The work of a run. `how` and `reason` are those of the run's end."""

    def __init__(
        self, problems: Sequence[Problem], notes: Sequence[str] = (), *, branch: str = "", commit: str = "",
        changed: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.how, self.reason = outputs.conclude(problems)
        self.problems, self.branch, self.commit, self.changed = list(problems), branch, commit, list(changed)
        self.notes = [*notes, *(problem.words for problem in problems if not problem.fatal)]


class Deliveries:
    """`scope`: the setting for changes outside a task's scope."""

    def __init__(
        self,
        store: Store,
        *,
        workplace: Callable[[str], Workplace],
        checkout_of: Callable[[str], str],
        checks: WorkChecks,
        is_in_main_tree: Callable[[str], bool],
        scope: str,
    ) -> None:
        self._store, self._workplace, self._checkout_of = store, workplace, checkout_of
        self._checks, self._is_in_main_tree, self._scope = checks, is_in_main_tree, scope

    def deliver(
        self,
        task: Task,
        *,
        agent: str,
        path: str,
        branch: str,
        since: int = 0,
        env: Mapping[str, str] | None = None,
        has_queue: bool = False,
    ) -> Delivered:
        """Put the worktree back on its branch, commit what is left, and judge the result.

        Runs the repository's checks for the changed paths if there is no problem so far; with a queue it does
        not, for the queue checks what main would become. Refuses (exit code 4), before it touches anything,
        if the checks are not trusted. `since`: the log position at which the run began; earlier values and
        messages do not count.
        """
        self._checks.require_trust()
        place = self._workplace(path)
        if task.state in (HANDED_OVER, MERGED):
            return Delivered([], ["its agent handed it over itself"], branch=task.branch, commit=place.head())
        wrong, done = place.return_to(branch)
        if wrong:
            return Delivered([Problem(outputs.STRAYED, wrong)], branch=branch)
        problems, notes = commit_left(place, task, agent)

        def check(changed: Sequence[str]) -> list[OutputCheck]:
            return [] if problems or has_queue else self._checks.run(path, changed, env or {})

        found = self._examine(place, check, task, agent, since)
        notes = [*([done] if done else []), *notes]
        return Delivered(
            [*problems, *found.problems], notes, branch=branch, commit=found.commit, changed=found.changed
        )

    def examine(self, task: Task, *, agent: str, branch: str) -> Delivered | None:
        """Judge the committed work without changing anything; None if its branch is not checked out."""
        path = self._checkout_of(branch)
        if not path:
            return None
        self._checks.require_trust()
        return self._examine(
            self._workplace(path), lambda changed: self._checks.run(path, changed, {}), task, agent, since=0
        )

    def _examine(
        self,
        place: Workplace,
        check: Callable[[Sequence[str]], list[OutputCheck]],
        task: Task,
        agent: str,
        since: int,
    ) -> Delivered:
        changed, wanted = place.changed(), split_names(task.produces)
        files = place.present([name for name in wanted if not _is_in_log(name)])
        present = _present(self._store, wanted, agent, since, files.__contains__)
        work = RunWork(changed=changed, scope=split_names(task.scope), produces=wanted, present=present)
        problems = outputs.validate(work, scope=self._scope)
        if not any(problem.fatal for problem in problems):
            problems += [outputs.failed(found) for found in check(changed) if found.code != 0]
        return Delivered(problems, commit=place.head(), changed=changed)

    def deliver_without_tree(self, task: Task, *, agent: str, since: int) -> Delivered:
        """Judge a run without a worktree: are the values, the message and the files of the main tree there
        that its task names?"""
        wanted = split_names(task.produces)
        present = _present(self._store, wanted, agent, since, self._is_in_main_tree)
        return Delivered(outputs.validate(RunWork(produces=wanted, present=present, has_worktree=False)))


class WorkChecks:
    """The repository's own checks, in an agent's worktree. `run_command` waits for a command's end."""

    def __init__(
        self,
        stated: Sequence[tuple[StatedCheck, Resource | None]],
        environ: Mapping[str, str],
        require_trust: Callable[[], None],
        run_command: Callable[[str, str, dict[str, str], float], tuple[int, str]],
    ) -> None:
        self._stated, self._environ = stated, environ
        self.require_trust, self._run_command = require_trust, run_command

    def run(self, path: str, changed: Sequence[str], env: Mapping[str, str]) -> list[OutputCheck]:
        """Run the checks for these paths, up to the first that fails. The caller has asked for trust."""
        found: list[OutputCheck] = []
        for check in checks_for(self._stated, changed):
            code, tail = self._run_command(
                check.command, path, {**self._environ, **env}, check.timeout_ms / 1_000
            )
            found.append(OutputCheck(check.command, code, tail))
            if code != 0:
                break
        return found


def commit_left(place: Workplace, task: Task, agent: str) -> tuple[list[Problem], list[str]]:
    """Commit what the agent left uncommitted: (problems, notes)."""
    unmerged = place.unmerged()
    if unmerged:
        words = f"it left a merge with conflicts: {outputs.named(unmerged)}"
        return [Problem(outputs.UNMERGED, words, unmerged)], []
    words = message(
        task=show_id(task.id), title=task.title, branch="", agent=agent, co_authors=(), verb="Work on"
    )
    commit, left_out, refused = place.commit(words, agent)
    notes = [f"committed the uncommitted work of {agent} as {commit[:12]}"] if commit else []
    notes += [f"left out of the commit: {outputs.named(left_out)}"] if left_out else []
    if refused:
        tail = refused[-outputs.MOST_TAIL :]
        return [Problem(outputs.HOOK, f"its uncommitted work could not be committed:\n{tail}")], notes
    return [], notes


def _is_in_log(name: str) -> bool:
    """Is it a message or a value, not a file?"""
    return name == MESSAGE or name.startswith(VALUE)


def _present(
    store: Store, wanted: Sequence[str], agent: str, since: int, is_file: Callable[[str], bool]
) -> set[str]:
    logged = [name for name in wanted if _is_in_log(name)]
    files = {name for name in wanted if not _is_in_log(name) and is_file(name)}
    if not logged:
        return files
    return files | store.read(lambda view: {name for name in logged if _was_logged(view, name, agent, since)})


def _was_logged(view: View, name: str, agent: str, since: int) -> bool:
    if name == MESSAGE:
        entries = view.scan(LOG, "key", low=since)
        return any(entry.kind == "MessageSent" and entry.actor == agent for entry in entries)
    value = view.get(VALUES, (name.removeprefix(VALUE),))
    return value is not None and not value.deleted and value.position > since
