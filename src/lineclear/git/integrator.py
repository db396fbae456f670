"""The integrator that a repository states for itself: its command runs in a worktree of its own, which is
brought to main before each run. app/queue/after_landing.py says when, and what follows.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.ports import Caller
from lineclear.app.queue.after_landing import BRANCH, IntegratorRun
from lineclear.core.queue.phases import INTEGRATOR
from lineclear.core.words.computed.queue import git_failed
from lineclear.git import detached_worktrees
from lineclear.git.landing import commit_of
from lineclear.git.run import GitFailed, unbound
from lineclear.git.run import git as run_git
from lineclear.host.commands import run_to_end, shell_words
from lineclear.host.files import remove_tree, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from lineclear.app.worktrees.lifecycle import ReadyWorktree, Worktrees
    from lineclear.git.layout import Layout
    from lineclear.git.uncommitted_work import GitWorkplace
    from lineclear.host.bonds import HeldBond

SETTING = "queue.integrator"
_RECORD, _PREFIX = "integrator.json", "LINECLEAR_"
_NO_LIMIT_S = 30 * 24 * 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegratorWorktree:
    """The `IntegratorPlace` of app/queue/after_landing.py, by the settings of `main`, a commit.

    `timeout_s`: 0 for no limit; `require_trust` refuses a command that no person trusts; `workplace` takes
    the path of a worktree; `wrap` puts a command (worktree, words, its /tmp) into the sandbox, None without
    one.
    """

    layout: Layout
    state_directory: str
    environ: Mapping[str, str]
    main: str
    command: str
    timeout_s: float
    worktrees: Worktrees
    require_trust: Callable[[], None]
    hold_bond: Callable[[], HeldBond]
    workplace: Callable[[str], GitWorkplace]
    wrap: Callable[[str, list[str], str], list[str]] | None

    @property
    def is_stated(self) -> bool:
        return bool(self.main and self.command)

    @contextmanager
    def hold(self) -> Iterator[None]:
        self.require_trust()
        bond = self.hold_bond()
        try:
            yield
        except GitFailed as error:
            raise git_failed(error.command[0], error.stderr) from error
        finally:
            bond.release()

    def run(self, caller: Caller, news: list[dict[str, Any]], *, adds: bool) -> IntegratorRun:
        record = os.path.join(self.state_directory, _RECORD)
        write_atomically(record, json.dumps([*(_read(record) if adds else []), *news]).encode())
        place = self._place(caller)
        detached_worktrees.bring_to(place.path, self._git_dir(place.path), self.main)
        done = run_to_end(
            self._words(place.path),
            cwd=place.path,
            env=self._environment(place, record),
            timeout_s=self.timeout_s or _NO_LIMIT_S,
        )
        if done.code != 0:
            how = "did not finish in time" if done.code < 0 else f"ended with {done.code}"
            return IntegratorRun(why=f"{SETTING} {how}", output=done.tail)
        message = "Integrate what landed\n\nAgent: integrator\n"
        _, left_out, why = self.workplace(place.path).commit(message, INTEGRATOR)
        tip, output = commit_of(place.path, "HEAD"), "\n".join(left_out)
        if why or tip == self.main:
            return IntegratorRun(why=why, output=output)
        ref = f"refs/heads/{BRANCH}"
        run_git(["update-ref", "-m", "lineclear: integrate", ref, tip], self.layout.worktree)
        return IntegratorRun(tip=tip, output=output)

    def _place(self, caller: Caller) -> ReadyWorktree:
        """The integrator's worktree, provisioned as others are; a new one if there is none that is whole."""
        for place in self.worktrees.made_for(INTEGRATOR):
            if place.branch == BRANCH and self._git_dir(place.path):
                return place
        return self.worktrees.make(Caller(caller.name, tree=caller.tree), agent=INTEGRATOR, branch=BRANCH)

    def _git_dir(self, path: str) -> str:
        return detached_worktrees.whole_git_dir(self.layout.common_dir, path)

    def _words(self, path: str) -> list[str]:
        words = shell_words(self.command)
        if self.wrap is None:
            return words
        tmp = os.path.join(self.state_directory, f"{INTEGRATOR}.tmp")
        remove_tree(tmp)
        os.makedirs(tmp, mode=0o700)
        return self.wrap(path, words, tmp)

    def _environment(self, place: ReadyWorktree, news: str) -> dict[str, str]:
        variables = unbound(self.environ).items()
        outer = {name: value for name, value in variables if not name.startswith(_PREFIX)}
        own = {f"{_PREFIX}AGENT": INTEGRATOR, f"{_PREFIX}LANDED": news, "PWD": place.path}
        return outer | place.env | own | {"GIT_REFLOG_ACTION": f"lineclear:{INTEGRATOR}"}


def _read(path: str) -> list[Any]:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []
