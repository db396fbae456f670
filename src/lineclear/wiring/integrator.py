"""The integrator that a repository states for itself: its command, in a worktree of its own, which is brought
to main before each run. What follows from it is app/queue/after_landing.py.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lineclear.app.ports import Caller
from lineclear.app.queue.after_landing import BRANCH, IntegratorRun
from lineclear.app.worktrees.rows import worktrees_of
from lineclear.core.queue.phases import INTEGRATOR
from lineclear.core.words.computed.queue import git_failed
from lineclear.git import detached
from lineclear.git.landing import commit_of
from lineclear.git.run import GitFailed, unbound
from lineclear.git.run import git as run_git
from lineclear.host.commands import run_to_end, shell_words
from lineclear.host.files import remove_tree, write_atomically
from lineclear.wiring.trust import trust_of
from lineclear.wiring.worktrees import sandboxed, workplace_of, worktrees_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from lineclear.app.worktrees.lifecycle import ReadyWorktree
    from lineclear.wiring.repo import Repo

_SETTING, _RECORD, _PREFIX = "queue.integrator", "integrator.json", "LINECLEAR_"
_NO_LIMIT_S = 30 * 24 * 3_600.0


class IntegratorWorktree:
    """The `IntegratorPlace` of app/queue/after_landing.py. `repo` goes by the settings of `main`."""

    def __init__(self, repo: Repo, main: str) -> None:
        self._repo, self._main = repo, main

    @property
    def is_stated(self) -> bool:
        return bool(self._main and self._repo.settings.queue_integrator)

    @contextmanager
    def hold(self) -> Iterator[None]:
        trust_of(self._repo).require([_SETTING])
        bond = self._repo.bonds.hold(INTEGRATOR)
        try:
            yield
        except GitFailed as error:
            raise git_failed(error.command[0], error.stderr) from error
        finally:
            bond.release()

    def run(self, caller: Caller, news: list[dict[str, Any]], *, adds: bool) -> IntegratorRun:
        repo, record = self._repo, os.path.join(self._repo.state_directory, _RECORD)
        write_atomically(record, json.dumps([*(_read(record) if adds else []), *news]).encode())
        place = _place(repo, caller)
        detached.bring_to(place.path, detached.whole_git_dir(repo.layout.common_dir, place.path), self._main)
        done = run_to_end(
            _words(repo, place),
            cwd=place.path,
            env=_environment(repo, place, record),
            timeout_s=repo.settings.budgets_run_time_ms / 1_000 or _NO_LIMIT_S,
        )
        if done.code != 0:
            how = "did not finish in time" if done.code < 0 else f"ended with {done.code}"
            return IntegratorRun(why=f"{_SETTING} {how}", output=done.tail)
        message = "Integrate what landed\n\nAgent: integrator\n"
        _, left_out, why = workplace_of(repo, place.path).commit(message, INTEGRATOR)
        tip, output = commit_of(place.path, "HEAD"), "\n".join(left_out)
        if why or tip == self._main:
            return IntegratorRun(why=why, output=output)
        ref = f"refs/heads/{BRANCH}"
        run_git(["update-ref", "-m", "lineclear: integrate", ref, tip], repo.layout.worktree)
        return IntegratorRun(tip=tip, output=output)


def _read(path: str) -> list[Any]:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _place(repo: Repo, caller: Caller) -> ReadyWorktree:
    """Its worktree, provisioned as others; made when it is not there."""
    for row in repo.store.read(lambda view: worktrees_of(view, INTEGRATOR)):
        if row.branch == BRANCH and detached.whole_git_dir(repo.layout.common_dir, row.path):
            return worktrees_in(repo).find(row.name)
    return worktrees_in(repo).make(Caller(caller.name, tree=caller.tree), agent=INTEGRATOR, branch=BRANCH)


def _words(repo: Repo, place: ReadyWorktree) -> list[str]:
    words = shell_words(repo.settings.queue_integrator)
    if repo.settings.worktrees_sandbox != "bwrap":
        return words
    tmp = os.path.join(repo.state_directory, f"{INTEGRATOR}.tmp")
    remove_tree(tmp)
    os.makedirs(tmp, mode=0o700)
    return sandboxed(repo, place.path, words, tmp=tmp)


def _environment(repo: Repo, place: ReadyWorktree, news: str) -> dict[str, str]:
    outer = {name: value for name, value in unbound(repo.environ).items() if not name.startswith(_PREFIX)}
    own = {f"{_PREFIX}AGENT": INTEGRATOR, f"{_PREFIX}LANDED": news, "PWD": place.path}
    return outer | place.env | own | {"GIT_REFLOG_ACTION": f"lineclear:{INTEGRATOR}"}
