"""Check trees: detached worktrees of the queue's own, in which it checks what is not on main yet.

They lie in `.checks` beside the agents' worktrees and are no rows of the store: nobody works there, so
nothing in them can be lost. They stay warm, with what git ignores (dependencies, build results), between
runs and between processes. A bond per tree lets one process at a time use it; its death lets go, and the
next one brings the tree into order again, whatever state it was left in.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from lineclear.core.queue.checks import digest_of, manifests_digest
from lineclear.core.words.refusals import Refusal, not_found, refuse
from lineclear.core.worktrees import rules
from lineclear.git import branches, detached
from lineclear.git import worktrees as git_trees
from lineclear.git.layout import CHECKS, read_text
from lineclear.git.layout import worktrees as present_worktrees
from lineclear.git.run import GitFailed
from lineclear.host import copying, processes
from lineclear.host.files import remove_tree, write_atomically
from lineclear.wiring import check_ports
from lineclear.wiring.provisioning import bring_files, check_room_at, files_to_bring, unbound
from lineclear.wiring.worktree_git import Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from threading import Event
    from typing import Any, Self

    from lineclear.host.bonds import HeldBond
    from lineclear.wiring.repo import Repo

# In the environment of all that is started in a check tree; by it strays are found.
MARK = "LINECLEAR_CHECK_TREE"
_STATE = "lineclear-check.json"
_FORMAT = 1
_POLL_S = 0.05
# Killed processes are gone at once, but for those that wait for a disk that does not answer.
_STRAYS_S, _STRAYS_POLL_S = 10.0, 0.01
_PREFIX = "LINECLEAR_"


class CheckTrees:
    """The check trees of one clone, `check-1` to `check-COUNT`; how many there are is the caller's choice."""

    __slots__ = ("_count", "_repo")

    def __init__(self, repo: Repo, count: int) -> None:
        self._repo, self._count = repo, count

    def hold(self, cancel: Event | None = None) -> CheckTree | None:
        """The first that nobody uses, when there is one; None when `cancel` was set before."""
        while cancel is None or not cancel.is_set():
            for number in range(1, self._count + 1):
                tree = hold_tree(self._repo, f"check-{number}")
                if tree is not None:
                    return tree
            # Another process has them all, for as long as a check takes; nobody rings a bell at its end.
            if cancel is None:
                time.sleep(_POLL_S)
            else:
                cancel.wait(_POLL_S)
        return None


def hold_tree(repo: Repo, name: str) -> CheckTree | None:
    """A check tree by its name; None when somebody uses it. It need not be there yet."""
    try:
        bond = repo.bonds.hold(name)
    except Refusal:
        return None
    return CheckTree(repo, name, bond)


class CheckTree:
    """A tree that only we use until it is released. `prepare` makes it fit for a commit."""

    __slots__ = ("_bond", "_site", "name", "path", "ports")

    def __init__(self, repo: Repo, name: str, bond: HeldBond) -> None:
        self._site, self._bond, self.name = Site(repo), bond, name
        self.path = self._site.default_place(f"{CHECKS}/{name}")
        self.ports = range(0)

    def release(self) -> None:
        """Twice is once."""
        self._bond.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    # -- the commit ---------------------------------------------------------------------------

    def bring_to(self, commit: str) -> None:
        """The commit's files and nothing else but what git ignores; made anew where that is not to be had."""
        if not end_strays(self.path):
            raise refuse("checks.tree", tree=self.name, why="a process of an earlier check cannot be ended")
        common_dir, lent = self._site.common_dir, [self._bond.fileno()]
        git_dir = detached.whole_git_dir(common_dir, self.path)
        if git_dir:
            try:
                detached.bring_to(self.path, git_dir, commit, lent)
                return
            except (GitFailed, OSError):
                if not branches.commit_of(common_dir, self._site.root, commit):
                    raise not_found("commit", commit, "git log") from None
        self._make(commit)

    def _make(self, commit: str) -> None:
        site = self._site
        rules.check_place(self.path, site.common_dir, dict(present_worktrees(site.common_dir)))
        try:
            self.remove()
            check_room_at(site, 1, self.path)
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            detached.make(site.root, self.path, commit, [self._bond.fileno()])
        except GitFailed as error:
            raise refuse("checks.tree", tree=self.name, why=git_trees.failure_words(error)) from error
        except OSError as error:
            raise refuse("checks.tree", tree=self.name, why=error.strerror or str(error)) from error

    def remove(self) -> None:
        """Take it away with all that is in it. Nobody's work is in a check tree."""
        remove_tree(self.path)
        detached.forget(self._site.common_dir, self.path)

    # -- files --------------------------------------------------------------------------------

    def bring_files(self, repo: Repo) -> str:
        """The ignored files that the settings name, as the main worktree has them now; gives a digest of
        them. What a former run has changed in a copy is undone; what is not asked for any more goes."""
        site = Site(repo)
        copies, links = files_to_bring(site)
        wanted, state = _digests(site.root, copies), self._state()
        had: dict[str, str] = state.get("copied", {})
        stale = {path for path in {*had, *wanted} if not self._is_as_brought(path, had, wanted)}
        stale |= {path for path in state.get("linked", []) if path not in links}
        self._take_out(stale)
        bring_files(site, self.path, copies, links)
        brought = {"copied": wanted, "linked": links}
        if state | brought != state:
            self._keep_state(state | brought)
        return digest_of([*links, "copied", *_written(wanted)])

    def _take_out(self, paths: Iterable[str]) -> None:
        """A candidate's own files stay, where it has begun to track one of these."""
        for path in set(paths) - detached.tracked_among(self.path, sorted(paths)):
            try:
                copying.take_out(self.path, path)
            except copying.CannotBring as error:
                raise refuse("worktree.copy", path=error.path, error=str(error)) from error

    def _is_as_brought(self, path: str, had: dict[str, str], wanted: dict[str, str]) -> bool:
        """A directory is looked at when its source changed; what a set-up adds to a copy of it stays."""
        if had.get(path) != wanted.get(path):
            return False
        here = f"{self.path}/{path}"
        return os.path.isdir(here) or copying.content_digest(here) == wanted[path]

    # -- set-up -------------------------------------------------------------------------------

    def set_up_key(self, repo: Repo, brought: str) -> str:
        """What a set-up depends on: its commands, variables and ports, the files that were brought, what
        the tree says of its dependencies."""
        settings = repo.settings
        return digest_of(
            [
                *settings.worktrees_setup,
                *_written(rules_environment(repo, self)),
                brought,
                manifests_digest(detached.staged(self.path)),
            ]
        )

    def is_set_up(self, key: str) -> bool:
        return bool(self._state().get("set_up") == key)

    def begin_set_up(self) -> None:
        """From now on it counts as not set up, until it is."""
        if self._state().get("set_up"):
            self._keep_state(self._state() | {"set_up": ""})

    def end_set_up(self, key: str) -> None:
        """Remember it, unless it left what the next `bring_to` will clean away: then it runs every time."""
        if git_trees.count_changes(self.path) == 0:
            self._keep_state(self._state() | {"set_up": key})

    # -- what is remembered in git's own directory for the tree -------------------------------

    def _state_path(self) -> str:
        return f"{detached.whole_git_dir(self._site.common_dir, self.path)}/{_STATE}"

    def _state(self) -> dict[str, Any]:
        try:
            found = json.loads(read_text(self._state_path()) or "{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) and found.get("format") == _FORMAT else {}

    def _keep_state(self, state: dict[str, Any]) -> None:
        write_atomically(self._state_path(), json.dumps(state | {"format": _FORMAT}).encode())


def environment_of(repo: Repo, tree: CheckTree) -> dict[str, str]:
    """What a check finds: the caller's environment without who called and which repository git was bound
    to, then the tree's own."""
    own = {"PWD": tree.path, f"{_PREFIX}CHECK": "1", MARK: tree.path}
    return outer_environment(repo.environ) | rules_environment(repo, tree) | own


def outer_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Without who called and which repository git was bound to."""
    return {name: value for name, value in unbound(environ).items() if not name.startswith(_PREFIX)}


def rules_environment(repo: Repo, tree: CheckTree) -> dict[str, str]:
    return rules.environment(
        name=tree.name,
        path=tree.path,
        port_first=tree.ports.start,
        port_count=len(tree.ports),
        stated=repo.settings.worktrees_env,
    )


def provisioning_digest(repo: Repo) -> str:
    """Of all but the commit that a check's end can depend on, as far as the settings say it."""
    settings, site = repo.settings, Site(repo)
    copies, links = files_to_bring(site)
    machine = os.uname()
    return digest_of(
        [
            f"{sys.platform} {machine.sysname} {machine.machine}",
            settings.worktrees_sandbox,
            *("setup", *settings.worktrees_setup),
            *("env", *_written(settings.worktrees_env)),
            *("links", *links),
            *("copies", *_written(_digests(site.root, copies))),
        ]
    )


def _digests(root: str, paths: Iterable[str]) -> dict[str, str]:
    return {path: copying.content_digest(f"{root}/{path}") for path in paths}


def _written(table: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in sorted(table.items())]


def take_ports(repo: Repo, tree: CheckTree) -> None:
    """A range that no agent and no other check tree has, and that is free now."""
    tree.ports = check_ports.take(repo, tree.name)


def end_strays(path: str) -> bool:
    """End what a check has left behind in a session of its own, or what outlived a killed process of ours:
    it would write into the next candidate's tree. False when somebody cannot be ended. Where marks cannot
    be seen the group had to do."""
    deadline = time.monotonic() + _STRAYS_S
    while strays := processes.marked(f"{MARK}={path}") if processes.HAS_MARKS else []:
        if time.monotonic() > deadline:
            return False
        for pid in strays:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        time.sleep(_STRAYS_POLL_S)
    return True


# -- clearing away ----------------------------------------------------------------------------


def is_used(repo: Repo, path: str) -> bool:
    return repo.bonds.is_held(os.path.basename(path))


def remove_check_tree(repo: Repo, path: str) -> bool:
    """Remove one, wherever the settings have had it; False when somebody uses it."""
    tree = hold_tree(repo, os.path.basename(path))
    if tree is None:
        return False
    with tree:
        tree.path = path
        end_strays(path)
        tree.remove()
        check_ports.drop(repo, tree.name)
        try:
            os.rmdir(os.path.dirname(path))
        except OSError:
            pass  # others are still there
    return True
