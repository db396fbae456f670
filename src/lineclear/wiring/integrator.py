"""The integrator that a repository states for itself: a command that works on main after each landing.

It has a worktree of its own, which is brought to main before each run: what it does is made from main as it
is, so a result that waits in the queue is replaced by the next one. What it changes is a candidate.
"""

from __future__ import annotations

import json
import os

from lineclear.app.ports import Caller
from lineclear.app.queue.candidates import live_on
from lineclear.app.worktrees.lifecycle import worktrees_of
from lineclear.core.queue.phases import INTEGRATOR
from lineclear.core.words.queue import git_failed
from lineclear.git import detached
from lineclear.git.landing import commit_of
from lineclear.git.run import GitFailed
from lineclear.git.run import git as run_git
from lineclear.host.commands import run_to_end, shell_words
from lineclear.host.files import remove_tree, write_atomically
from lineclear.wiring import phases, worktrees
from lineclear.wiring.outputs import workplace
from lineclear.wiring.provisioning import sandboxed, unbound
from lineclear.wiring.trust import require_trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.wiring.queue_git import CloneQueueGit
    from lineclear.wiring.repo import Repo
    from lineclear.wiring.worktrees import Place

BRANCH = "lineclear/integrator"
SUBMITTED, NOTHING, FAILED = "submitted", "nothing", "failed"
_SETTING, _RECORD, _PREFIX = "queue.integrator", "integrator.json", "LINECLEAR_"
_NO_LIMIT_S = 30 * 24 * 3_600.0


def after_landing(git: CloneQueueGit, caller: Caller, landed: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Decide the proposals that have landed, then let the stated command work, if there is one.

    `landed` are candidates as the queue shows them. None: nothing was to be done. Its own work alone does not
    call it again. Refused when the command is not trusted; `result` is submitted, nothing or failed.
    """
    repo = git.repo
    phases.settle(repo)
    news = [row for row in landed if row["branch"] != BRANCH]
    main = git.clone.commit_of(git.clone.ref)
    if not news or not main:
        return None
    at_main = git.settings.repo_at(main)
    if not at_main.settings.queue_integrator:
        return None
    require_trust(at_main, [_SETTING])
    bond = repo.bonds.hold(INTEGRATOR)
    try:
        return _work(at_main, caller, main, _all_news(repo, news))
    except GitFailed as error:
        raise git_failed(error.command[0], error.stderr) from error
    finally:
        bond.release()


def _all_news(repo: Repo, news: list[dict[str, Any]]) -> str:
    """The file that names what landed, with what a result that still waits was made for: it is replaced."""
    path = os.path.join(repo.state_directory, _RECORD)
    before = _read(path) if repo.store.read(lambda view: live_on(view, BRANCH)) is not None else []
    write_atomically(path, json.dumps([*before, *news]).encode())
    return path


def _read(path: str) -> list[Any]:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _work(repo: Repo, caller: Caller, main: str, news: str) -> dict[str, Any]:
    place = _place(repo, caller)
    detached.bring_to(place.path, detached.whole_git_dir(repo.layout.common_dir, place.path), main)
    done = run_to_end(
        _words(repo, place),
        cwd=place.path,
        env=_environment(repo, place, news),
        timeout_s=repo.settings.budgets_run_time_ms / 1_000 or _NO_LIMIT_S,
    )
    if done.code != 0:
        how = "did not finish in time" if done.code < 0 else f"ended with {done.code}"
        return {"result": FAILED, "candidate": "", "why": f"{_SETTING} {how}", "output": done.tail}
    _, left_out, why = workplace(repo, place.path).commit(
        "Integrate what landed\n\nAgent: integrator\n", INTEGRATOR
    )
    tip = commit_of(place.path, "HEAD")
    if why or tip == main:
        return {
            "result": FAILED if why else NOTHING,
            "candidate": "",
            "why": why,
            "output": "\n".join(left_out),
        }
    return {"result": SUBMITTED, "candidate": _submit(repo, tip), "why": "", "output": "\n".join(left_out)}


def _place(repo: Repo, caller: Caller) -> Place:
    """Its worktree, provisioned as others; made when it is not there."""
    for row in repo.store.read(lambda view: worktrees_of(view, INTEGRATOR)):
        if row.branch == BRANCH and detached.whole_git_dir(repo.layout.common_dir, row.path):
            return worktrees.place_of(repo, row.name)
    return worktrees.make(repo, Caller(caller.name, tree=caller.tree), agent=INTEGRATOR, branch=BRANCH)


def _words(repo: Repo, place: Place) -> list[str]:
    words = shell_words(repo.settings.queue_integrator)
    if repo.settings.worktrees_sandbox != "bwrap":
        return words
    tmp = os.path.join(repo.state_directory, f"{INTEGRATOR}.tmp")
    remove_tree(tmp)
    os.makedirs(tmp, mode=0o700)
    return sandboxed(repo, place, words, tmp=tmp)


def _environment(repo: Repo, place: Place, news: str) -> dict[str, str]:
    outer = {name: value for name, value in unbound(repo.environ).items() if not name.startswith(_PREFIX)}
    own = {f"{_PREFIX}AGENT": INTEGRATOR, f"{_PREFIX}LANDED": news, "PWD": place.path}
    return outer | place.env | own | {"GIT_REFLOG_ACTION": f"lineclear:{INTEGRATOR}"}


def _submit(repo: Repo, tip: str) -> str:
    from lineclear.wiring.queue import submit

    run_git(["update-ref", "-m", "lineclear: integrate", f"refs/heads/{BRANCH}", tip], repo.layout.worktree)
    found = submit(repo, Caller(INTEGRATOR, tree=repo.tree), branch=BRANCH, agent=INTEGRATOR)
    return str(found["candidate"])
