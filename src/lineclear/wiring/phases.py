"""Phases, wired: what a person begins is worked on at once, by one process at a time in a clone."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager

from lineclear.app.ports import Caller
from lineclear.app.queue import full_checks, integrating, phases
from lineclear.core.queue.phases import INTEGRATE, INTEGRATOR, TEST
from lineclear.core.words.queue import git_failed
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.git.run import GitFailed
from lineclear.git.workshop import GitWorkshop
from lineclear.host.spreading import spread
from lineclear.wiring.gate import judge_landing
from lineclear.wiring.lock_making import lock_maker_by_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from lineclear.app.queue.integrating import Submit
    from lineclear.wiring.repo import Repo

_BOND = "phase"


def begin(
    repo: Repo, caller: Caller, phase: str, *, note: str = "", tell: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Begin a phase, or go on with the one that it is, and do what is to be done in it.

    `results` has what became of proposals, `test` how a full run ended.
    """
    with _alone(repo), _workshop(repo) as ground:
        if phase == TEST:
            _require_tests(repo, ground)
        settle(repo)
        answer = phases.begin(repo.store, caller, repo.settings.rules, phase, note)
        answer |= {"results": [], "test": None}
        if phase == INTEGRATE:
            answer["results"] = integrating.integrate(_crew(repo, ground))
        elif phase == TEST:
            answer["test"] = full_checks.run_all(_trial(repo, ground, tell))
        return answer


def settle(repo: Repo) -> list[dict[str, Any]]:
    """Decide the proposals whose candidates have ended since; the queue calls it after each landing."""
    return integrating.settle(repo.store, _integrator(repo))


def show(repo: Repo) -> dict[str, Any]:
    """The phase, what is bound to one, and how far the work in it is."""
    shown = repo.store.read(lambda view: phases.show(view, repo.settings.rules))
    if shown["phase"] == TEST:
        with _workshop(repo) as ground:
            shown["progress"] = _tested(repo, ground)
    return shown


def _tested(repo: Repo, ground: GitWorkshop) -> dict[str, int]:
    from lineclear.wiring.shards import Shards

    main = ground.main()
    try:
        lab = Shards(repo, main)
    except Refusal:  # main no longer states a full check
        return {}
    return repo.store.read(lambda view: full_checks.progress(view, lab, ground.tree_of(main)))


def _require_tests(repo: Repo, ground: GitWorkshop) -> None:
    from lineclear.wiring.shards import Shards

    Shards(repo, _main(ground)).require_trust()


def _main(ground: GitWorkshop) -> str:
    main = ground.main()
    if not main:
        raise refuse("land.unborn", main=ground.branch)
    return main


def _integrator(repo: Repo) -> Caller:
    return Caller(INTEGRATOR, tree=repo.tree)


def _crew(repo: Repo, ground: GitWorkshop) -> integrating.Crew:
    _main(ground)
    return integrating.Crew(
        repo.store, _integrator(repo), repo.settings.rules, ground, spread, _submit(repo),
        lambda commit, path, command: _remake(repo, commit, path, command),
        lock_maker_by_settings(repo, ground.main),
        lambda path: not judge_landing(repo, INTEGRATOR, [path]),
    )  # fmt: skip


def _trial(repo: Repo, ground: GitWorkshop, tell: Callable[[str], None]) -> full_checks.Trial:
    from lineclear.wiring.shards import Shards

    lab = Shards(repo, ground.main())
    return full_checks.Trial(repo.store, _integrator(repo), ground, lab, spread, _submit(repo), tell)


def _submit(repo: Repo) -> Submit:
    from lineclear.wiring.queue import submit

    def hand_in(branch: str, agent: str, priority: int) -> dict[str, Any]:
        return submit(repo, _integrator(repo), branch=branch, agent=agent, priority=priority)

    return hand_in


def _remake(repo: Repo, commit: str, path: str, command: str) -> bytes | None:
    """A lock file as its own tool makes it from main's manifests, in a check tree. Only a command that a
    person trusts or has stated in this clone runs, in the very words: as a set-up command, say."""
    import threading

    from lineclear.core.queue.checks import Check
    from lineclear.wiring.checks import check_runner, check_trees, repo_at

    at_commit = repo_at(repo, commit)
    settings = at_commit.settings
    if command not in settings.worktrees_setup:
        return None
    tree = check_trees(repo, at_commit).hold_any(settings.queue_workers)
    if tree is None:
        return None
    with tree:
        check = Check(command, timeout_ms=settings.worktrees_setup_timeout_ms, where="worktrees.setup")
        try:
            ended = check_runner(at_commit).run(commit, tree, [check], cancel=threading.Event())
        except Refusal:  # not trusted, or no tree to be had: its owner sees to it
            return None
        if not ended or not ended[-1].is_green:
            return None
        with open(os.path.join(tree.path, path), "rb") as file:
            return file.read()


@contextmanager
def _alone(repo: Repo) -> Iterator[None]:
    try:
        bond = repo.bonds.hold(_BOND)
    except Refusal as refusal:
        raise refuse("phase.busy") from refusal
    try:
        yield
    finally:
        bond.release()


@contextmanager
def _workshop(repo: Repo) -> Iterator[GitWorkshop]:
    try:
        with closing(GitWorkshop(repo.layout)) as ground:
            yield ground
    except GitFailed as error:
        raise git_failed(error.command[0], error.stderr) from error
