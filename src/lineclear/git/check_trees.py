"""Check trees: detached worktrees of the queue, in which it checks work that is not on main yet.

They lie in `.checks` beside the agents' worktrees and have no rows in the store: nobody works there, so
nothing in them can be lost. They keep ignored files (dependencies, build results) between runs and processes.
A bond per tree lets one process at a time use it. If that process dies, the bond is released, and the next
process puts the tree in order, whatever state it is in.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

from lineclear.app.queue.check_runner import CommandEnd
from lineclear.core.queue.checks import digest_of, manifests_digest
from lineclear.core.words.computed.queue import cause_of
from lineclear.core.words.refusals import Refusal, not_found, refuse
from lineclear.core.worktrees import rules
from lineclear.git import branches, detached_worktrees
from lineclear.git import worktree_commands as git_trees
from lineclear.git.layout import read_text
from lineclear.git.layout import worktrees as present_worktrees
from lineclear.git.run import LOCAL_NAMES, GitFailed
from lineclear.host import copying
from lineclear.host.commands import run_to_end, shell_words
from lineclear.host.files import remove_tree, write_atomically
from lineclear.host.logs import new_log
from lineclear.host.stray_processes import MARK, end_strays
from lineclear.settings.env_tables import secret_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Self

    from lineclear.app.queue.check_runner import CheckRunner
    from lineclear.core.queue.checks import Check
    from lineclear.host.bonds import Bonds, HeldBond
    from lineclear.host.check_ports import CheckPorts
    from lineclear.host.commands import Finished

    RunSetUpCommand = Callable[[str, float], Finished]

_STATE = "lineclear-check.json"
_FORMAT = 1
_POLL_S = 0.05
_PREFIX = "LINECLEAR_"
_SANDBOX = "bwrap"
_MOST_SECRETS_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeProvisioning:
    """How a check tree is made ready, by the settings of main.

    `setup` and `env` are as in the settings; `sandbox` is "bwrap" if commands run in a sandbox.
    """

    setup: Sequence[str]
    env: Mapping[str, str]
    sandbox: str
    # () -> ignored files of the main worktree: (to copy, to link)
    files: Callable[[], tuple[list[str], list[str]]]
    # (path, copies, links): bring them into the tree at the path, except those that it already has
    bring: Callable[[str, Sequence[str], Sequence[str]], None]
    # (run one command) -> the first set-up command that failed and how it ended; None if all succeeded
    run_set_up: Callable[[RunSetUpCommand], tuple[str, Finished] | None]
    # (tree, words, directory for /tmp) -> the words that run the command inside the sandbox
    wrap: Callable[[HeldCheckTree, Sequence[str], str], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTrees:
    """The check trees of one clone.

    `root`: its main worktree; `directory`: where check trees lie; `logs`: where the output of checks goes;
    `require_room(path)` refuses to make another tree there if the disk is too full.
    """

    common_dir: str
    root: str
    directory: str
    logs: str
    environ: Mapping[str, str]
    bonds: Bonds
    ports: CheckPorts
    require_room: Callable[[str], None]
    provisioning: TreeProvisioning

    def hold_any(self, count: int, cancel: Event | None = None) -> HeldCheckTree | None:
        """Wait for one of `check-1` to `check-COUNT` that nobody uses. None if `cancel` is set before."""
        while cancel is None or not cancel.is_set():
            for number in range(1, count + 1):
                tree = self.hold(f"check-{number}")
                if tree is not None:
                    return tree
            # Polling: other processes use them all, and nothing wakes us at the end of a check.
            if cancel is None:
                time.sleep(_POLL_S)
            else:
                cancel.wait(_POLL_S)
        return None

    def hold(self, name: str) -> HeldCheckTree | None:
        """Hold a check tree, which need not exist yet, by its name; None if another process uses it."""
        try:
            bond = self.bonds.hold(name)
        except Refusal:
            return None
        return HeldCheckTree(self, name, bond)

    def is_used(self, path: str) -> bool:
        return self.bonds.is_held(os.path.basename(path))

    def remove(self, path: str) -> bool:
        """Remove a tree, even from a directory of earlier settings; False if a process uses it."""
        tree = self.hold(os.path.basename(path))
        if tree is None:
            return False
        with tree:
            tree.path = path
            tree.end_strays()
            tree.remove()
            self.ports.drop(tree.name)
            try:
                os.rmdir(os.path.dirname(path))
            except OSError:
                pass  # it contains other check trees
        return True

    def provisioning_digest(self) -> str:
        """A digest of everything in the settings and the machine, except the commit, that can change the
        result of a check."""
        given = self.provisioning
        copies, links = given.files()
        machine = os.uname()
        return digest_of(
            [
                f"{sys.platform} {machine.sysname} {machine.machine}",
                given.sandbox,
                *("setup", *given.setup),
                *("env", *_written(given.env)),
                *("links", *links),
                *("copies", *_written(_digests(self.root, copies))),
            ]
        )

    def secrets(self) -> tuple[str, ...]:
        """The values of variables with a secret's name, in the environment, the settings and copied files."""
        variables = [*self.environ.items(), *self.provisioning.env.items()]
        for path in self.provisioning.files()[0]:
            variables += _variables_in(f"{self.root}/{path}")
        return secret_values(variables)


class HeldCheckTree:
    """A check tree that only we use until we release it: the `CheckPlace` of app/queue/ports.py."""

    def __init__(self, trees: CheckTrees, name: str, bond: HeldBond) -> None:
        self._trees, self._bond, self.name = trees, bond, name
        self.path = os.path.realpath(os.path.join(trees.directory, name))
        self.ports = range(0)

    def release(self) -> None:
        """Calling it again has no effect."""
        self._bond.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def end_strays(self) -> bool:
        return end_strays(self.path)

    def prepare(self, commit: str) -> str:
        self._bring_to(commit)
        self.ports = self._trees.ports.take(self.name)
        brought = self._bring_files()
        if not self._trees.provisioning.setup:
            return ""
        key = self._set_up_key(brought)
        return key if self._state().get("set_up") != key else ""

    # -- the commit ---------------------------------------------------------------------------

    def _bring_to(self, commit: str) -> None:
        """Check out exactly the commit's files and keep ignored ones; a broken tree is made again."""
        if not self.end_strays():
            raise refuse("checks.tree", tree=self.name, why="a process of an earlier check cannot be ended")
        common_dir, lent = self._trees.common_dir, [self._bond.fileno()]
        git_dir = detached_worktrees.whole_git_dir(common_dir, self.path)
        if git_dir:
            try:
                detached_worktrees.bring_to(self.path, git_dir, commit, lent)
                return
            except (GitFailed, OSError):
                if not branches.commit_of(common_dir, self._trees.root, commit):
                    raise not_found("commit", commit, "git log") from None
        self._make(commit)

    def _make(self, commit: str) -> None:
        trees = self._trees
        rules.check_place(self.path, trees.common_dir, dict(present_worktrees(trees.common_dir)))
        try:
            self.remove()
            trees.require_room(self.path)
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            detached_worktrees.make(trees.root, self.path, commit, [self._bond.fileno()])
        except GitFailed as error:
            raise refuse("checks.tree", tree=self.name, why=cause_of(error.stderr)) from error
        except OSError as error:
            raise refuse("checks.tree", tree=self.name, why=error.strerror or str(error)) from error

    def remove(self) -> None:
        """Remove the tree with everything in it: nobody works there."""
        remove_tree(self.path)
        detached_worktrees.forget(self._trees.common_dir, self.path)

    # -- files --------------------------------------------------------------------------------

    def _bring_files(self) -> str:
        """Bring the ignored files that the settings name, as they are in the main worktree now: replace
        copies that an earlier run changed and remove files no longer named. Return a digest of them."""
        copies, links = self._trees.provisioning.files()
        wanted, state = _digests(self._trees.root, copies), self._state()
        had: dict[str, str] = state.get("copied", {})
        stale = {path for path in {*had, *wanted} if not self._is_as_brought(path, had, wanted)}
        stale |= {path for path in state.get("linked", []) if path not in links}
        self._take_out(stale)
        self._trees.provisioning.bring(self.path, copies, links)
        brought = {"copied": wanted, "linked": links}
        if state | brought != state:
            self._keep_state(state | brought)
        return digest_of([*links, "copied", *_written(wanted)])

    def _take_out(self, paths: Iterable[str]) -> None:
        """Remove these, except those that the candidate itself tracks."""
        for path in set(paths) - detached_worktrees.tracked_among(self.path, sorted(paths)):
            try:
                copying.take_out(self.path, path)
            except copying.CannotBring as error:
                raise refuse("worktree.copy", path=error.path, error=str(error)) from error

    def _is_as_brought(self, path: str, had: dict[str, str], wanted: dict[str, str]) -> bool:
        """Is the copy up to date? Of a directory only the source counts: a set-up may add to the copy."""
        if had.get(path) != wanted.get(path):
            return False
        here = f"{self.path}/{path}"
        return os.path.isdir(here) or copying.content_digest(here) == wanted[path]

    # -- set-up and checks --------------------------------------------------------------------

    def _set_up_key(self, brought: str) -> str:
        """A digest of what set-up depends on: its commands, variables and ports, the files that were brought,
        and the tree's manifests."""
        return digest_of(
            [
                *self._trees.provisioning.setup,
                *_written(self._own_environment()),
                brought,
                manifests_digest(detached_worktrees.staged(self.path)),
            ]
        )

    def set_up(self, key: str, cancel: Event) -> tuple[str, CommandEnd] | None:
        """Set-up runs the candidate's own programs, so it runs in the sandbox, too."""
        # Until it succeeds, the tree counts as not set up.
        if self._state().get("set_up"):
            self._keep_state(self._state() | {"set_up": ""})
        env = self._environment()
        with new_log(self._trees.logs) as log:

            def run(command: str, timeout_s: float) -> Finished:
                words = self._words(command)
                return run_to_end(words, cwd=self.path, env=env, timeout_s=timeout_s, log=log, cancel=cancel)

            failed = self._trees.provisioning.run_set_up(run)
        if failed is not None:
            command, done = failed
            return command, CommandEnd(code=done.code, tail=done.tail, log=log.path)
        # If it left files that are not ignored, the next `prepare` removes them: then it runs every time.
        if not git_trees.has_changes(self.path):
            self._keep_state(self._state() | {"set_up": key})
        return None

    def run(self, command: str, *, timeout_s: float, cancel: Event, env: Mapping[str, str]) -> CommandEnd:
        whole, words = {**self._environment(), **env}, self._words(command)
        with new_log(self._trees.logs) as log:
            done = run_to_end(words, cwd=self.path, env=whole, timeout_s=timeout_s, log=log, cancel=cancel)
        return CommandEnd(code=done.code, tail=done.tail, log=log.path)

    def _words(self, command: str) -> list[str]:
        words = shell_words(command)
        if self._trees.provisioning.sandbox != _SANDBOX:
            return words
        tmp = os.path.join(self._trees.logs, f"{self.name}.tmp")
        remove_tree(tmp)
        os.makedirs(tmp, mode=0o700)
        return self._trees.provisioning.wrap(self, words, tmp)

    def _environment(self) -> dict[str, str]:
        """The caller's environment, without its identity and git's variables, plus the tree's own."""
        own = {"PWD": self.path, f"{_PREFIX}CHECK": "1", MARK: self.path}
        return outer_environment(self._trees.environ) | self._own_environment() | own

    def _own_environment(self) -> dict[str, str]:
        return rules.environment(
            name=self.name,
            path=self.path,
            port_first=self.ports.start,
            port_count=len(self.ports),
            stated=self._trees.provisioning.env,
        )

    # -- the state file, in git's own directory for the tree ----------------------------------

    def _state_path(self) -> str:
        return f"{detached_worktrees.whole_git_dir(self._trees.common_dir, self.path)}/{_STATE}"

    def _state(self) -> dict[str, Any]:
        try:
            found = json.loads(read_text(self._state_path()) or "{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) and found.get("format") == _FORMAT else {}

    def _keep_state(self, state: dict[str, Any]) -> None:
        write_atomically(self._state_path(), json.dumps(state | {"format": _FORMAT}).encode())


def file_made_in(
    tree: HeldCheckTree, runner: CheckRunner, check: Check, commit: str, path: str
) -> bytes | None:
    """What a command makes of the file at `path`, run on the commit. None if the command fails, or if no
    person trusts it. Releases the tree."""
    with tree:
        try:
            ended = runner.run(commit, tree, [check], cancel=Event())
        except Refusal:
            return None
        if not ended or not ended[-1].is_green:
            return None
        with open(os.path.join(tree.path, path), "rb") as file:
            return file.read()


def outer_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the caller's identity and the variables that bind git to one repository."""
    return {
        name: value
        for name, value in environ.items()
        if name not in LOCAL_NAMES and not name.startswith(_PREFIX)
    }


def _digests(root: str, paths: Iterable[str]) -> dict[str, str]:
    return {path: copying.content_digest(f"{root}/{path}") for path in paths}


def _written(table: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in sorted(table.items())]


def _variables_in(path: str) -> list[tuple[str, str]]:
    """The `NAME=VALUE` lines of a small file such as `.env`."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(_MOST_SECRETS_BYTES).splitlines()
    except OSError:
        return []
    pairs = (line.removeprefix("export ").partition("=") for line in lines)
    return [(name.strip(), value.strip().strip("\"'")) for name, equals, value in pairs if equals]
