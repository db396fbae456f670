"""Runs the repository's checks on a commit, in a check tree: made ready first, then one command after the
other up to the first that fails.

Which commands those are comes from main's own version of the settings, and only what a person trusts runs.
"""

from __future__ import annotations

import os
import time

from lineclear.core.masking import mask
from lineclear.core.queue.checks import CANCELLED, OUT_OF_TIME, Check, checks_for, plain_output, tell_failure
from lineclear.host.commands import Finished, run_in_turn, run_to_end, shell_words
from lineclear.host.files import remove_tree
from lineclear.host.logs import new_log
from lineclear.settings.variables import is_secret
from lineclear.wiring.check_settings import require_trusted, stated_checks
from lineclear.wiring.check_trees import (
    end_strays,
    environment_of,
    provisioning_digest,
    take_ports,
)
from lineclear.wiring.worktrees import sandboxed, worktree_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from threading import Event

    from lineclear.wiring.check_trees import CheckTree
    from lineclear.wiring.repo import Repo

LOGS = "checks"
SET_UP = "set-up"
_SANDBOX = "bwrap"
_MOST_SECRETS_BYTES = 64 * 1024


class Ended:
    """How a check ended. `code` as a shell tells it, -1 out of time; `took_ms` of all `tries` together;
    `is_flaky`: it failed first and then did not. `log` is the file with the last try's output, `tail` its
    end and `words` the failure in at most 4 KB, both fit to be shown: plain, without secrets.

    A set-up command that failed is told as a check is, with `is_set_up`.
    """

    __slots__ = (
        "code", "command", "is_flaky", "is_set_up", "log", "name", "tail", "took_ms", "tries", "words",
    )  # fmt: skip

    def __init__(
        self, check: Check, code: int, *, took_ms: int, tries: int, log: str, tail: str, words: str
    ) -> None:
        self.name, self.command, self.code, self.took_ms, self.tries = (
            check.name, check.command, code, took_ms, tries,
        )  # fmt: skip
        self.log, self.tail, self.words = log, tail, words
        self.is_flaky = code == 0 and tries > 1
        self.is_set_up = check.name == SET_UP

    @property
    def is_green(self) -> bool:
        return self.code == 0


class CheckRunner:
    """Checks by the settings of `repo`, which are main's (`repo_at`). It uses its store: one for each
    thread."""

    __slots__ = ("_secrets", "repo")

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self._secrets: tuple[str, ...] | None = None

    def checks(self, changed: Iterable[str]) -> list[Check]:
        """What a change of these paths has to pass."""
        return checks_for(stated_checks(self.repo.settings), changed)

    def provisioning(self) -> str:
        """For the key of a verdict; the same as long as trees are made ready with the same."""
        return provisioning_digest(self.repo)

    def run(
        self,
        commit: str,
        tree: CheckTree,
        checks: Sequence[Check],
        *,
        cancel: Event,
        env: Mapping[str, str] | None = None,
    ) -> list[Ended]:
        """How each of the checks ended on the commit, up to the first that is not green; nothing when they
        were called off before that. `env` is added to what every check finds."""
        if not checks:
            return []
        require_trusted(self.repo, checks)
        found: list[Ended] = []
        try:
            failed = self._prepare(commit, tree, cancel)
            if failed is not None:
                return [failed] if failed.code != CANCELLED else []
            for check in checks:
                if cancel.is_set():
                    return []
                ended = self._check(commit, tree, check, cancel, env or {})
                if ended.code == CANCELLED:
                    return []
                found.append(ended)
                if not ended.is_green:
                    break
        finally:
            end_strays(tree.path)
        return found

    # -- making ready -------------------------------------------------------------------------

    def _prepare(self, commit: str, tree: CheckTree, cancel: Event) -> Ended | None:
        """The tree at the commit, provisioned as agents' worktrees are; the set-up command that failed."""
        if cancel.is_set():
            return None
        tree.bring_to(commit)
        take_ports(self.repo, tree)
        brought = tree.bring_files(self.repo)
        if not self.repo.settings.worktrees_setup:
            return None
        key = tree.set_up_key(self.repo, brought)
        if tree.is_set_up(key):
            return None
        tree.begin_set_up()
        failed = self._set_up(tree, cancel)
        if failed is None:
            tree.end_set_up(key)
        return failed

    def _set_up(self, tree: CheckTree, cancel: Event) -> Ended | None:
        """In the sandbox, too: what it runs is the candidate's."""
        env, settings = environment_of(self.repo, tree), self.repo.settings
        started = time.monotonic()
        with new_log(self._logs()) as log:

            def run(command: str, timeout_s: float) -> Finished:
                return run_to_end(
                    self._words(tree, command),
                    cwd=tree.path,
                    env=env,
                    timeout_s=timeout_s,
                    log=log,
                    cancel=cancel,
                )

            failed = run_in_turn(settings.worktrees_setup, settings.worktrees_setup_timeout_ms / 1_000, run)
        if failed is None:
            return None
        command, done = failed
        check = Check(command, timeout_ms=settings.worktrees_setup_timeout_ms, name=SET_UP)
        return self._ended(check, done, took_ms=_since(started), tries=1, log=log.path)

    # -- running ------------------------------------------------------------------------------

    def _check(
        self, commit: str, tree: CheckTree, check: Check, cancel: Event, more: Mapping[str, str]
    ) -> Ended:
        started = time.monotonic()
        for tries in range(1, check.retries + 2):
            if tries > 1:
                # What the failed try left behind is none of the next one's business.
                failed = self._prepare(commit, tree, cancel)
                if failed is not None:
                    return failed
            env = {**environment_of(self.repo, tree), **check.env, **more}
            words = self._words(tree, check.command)
            with new_log(self._logs()) as log:
                done = run_to_end(
                    words,
                    cwd=tree.path,
                    env=env,
                    timeout_s=check.timeout_ms / 1_000,
                    log=log,
                    cancel=cancel,
                )
            if done.code in (0, CANCELLED):
                break
        return self._ended(check, done, took_ms=_since(started), tries=tries, log=log.path)

    def _words(self, tree: CheckTree, command: str) -> list[str]:
        words = shell_words(command)
        if self.repo.settings.worktrees_sandbox != _SANDBOX:
            return words
        tmp = os.path.join(self._logs(), f"{tree.name}.tmp")
        remove_tree(tmp)
        os.makedirs(tmp, mode=0o700)
        return sandboxed(self.repo, tree.path, words, tmp=tmp)

    def _logs(self) -> str:
        return os.path.join(self.repo.state_directory, LOGS)

    def _ended(self, check: Check, done: Finished, *, took_ms: int, tries: int, log: str) -> Ended:
        secrets = self._known_secrets()
        words = ""
        if done.code != 0:
            words = tell_failure(
                check.command,
                done.code,
                done.tail,
                timeout_ms=check.timeout_ms if done.code == OUT_OF_TIME else 0,
                tries=tries,
                secrets=secrets,
            )
        tail = mask(plain_output(done.tail), secrets)
        return Ended(check, done.code, took_ms=took_ms, tries=tries, log=log, tail=tail, words=words)

    def _known_secrets(self) -> tuple[str, ...]:
        """Values of variables whose names say it, in the environment, the settings and copied files."""
        if self._secrets is None:
            variables = [*self.repo.environ.items(), *self.repo.settings.worktrees_env.items()]
            files = worktree_files(self.repo)
            for path in files.to_bring()[0]:
                variables += _variables_in(f"{files.root}/{path}")
            self._secrets = tuple(value for name, value in variables if value and is_secret(name))
        return self._secrets


def _variables_in(path: str) -> list[tuple[str, str]]:
    """Lines of `NAME=VALUE` in a small file, as `.env` files have them."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(_MOST_SECRETS_BYTES).splitlines()
    except OSError:
        return []
    pairs = (line.removeprefix("export ").partition("=") for line in lines)
    return [(name.strip(), value.strip().strip("\"'")) for name, equals, value in pairs if equals]


def _since(started: float) -> int:
    return int((time.monotonic() - started) * 1_000)
