"""What a command module declares, and what a command gets to work with.

`--version` and the help load this module, so it imports what opens a repository only when a verb needs it.
"""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from lineclear.cli.render import Unwritable
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Mapping
    from typing import TextIO

    from lineclear.app.ports import Caller, Store
    from lineclear.cli.render import Output
    from lineclear.core.claims.resources import Resource
    from lineclear.wiring.repo import Repo


@dataclass(frozen=True, slots=True)
class Command:
    """A verb: how it declares its arguments, and the function that runs it and returns the exit code.

    `is_write`: it takes `--key`, an operation id that makes a repeat harmless. `wraps_command`: the words
    after `--` are another program's command line, in `args.command`.
    """

    run: Callable[[Context, Namespace], int | None]
    declare: Callable[[ArgumentParser], None] | None = None
    _: KW_ONLY
    is_write: bool = False
    wraps_command: bool = False


class Context:
    """What one call has to work with; it opens the repository when it first needs it."""

    def __init__(
        self, out: Output, environ: Mapping[str, str], *, cwd: str = "", given: str = "", key: str = ""
    ) -> None:
        self.out, self.environ, self.given, self.key = out, environ, given, key
        self.cwd = cwd or os.getcwd()
        # False while the files for agents are being removed: nobody may write them again.
        self.is_mirrored = True
        self._repo: Repo | None = None
        self._is_warned = False
        self._caller: Caller | None = None

    @property
    def repo(self) -> Repo:
        repo = self.opened
        if not self._is_warned:
            self._is_warned = True
            for warning in repo.settings.warnings:
                self.out.warn(warning)
        return repo

    def warn_of_idle_settings(self) -> None:
        """Say which settings of lineclear.toml are not in force, since main has not committed them."""
        from lineclear.wiring.checks import warnings_in_force

        repo = self.repo
        for warning in warnings_in_force(repo.layout, repo.environ, repo.settings):
            self.out.warn(warning)

    @property
    def opened(self) -> Repo:
        """The repository without the warnings of its settings; `repo` prints those on first use."""
        if self._repo is None:
            self._repo = self._open()
        return self._repo

    def use(self, repo: Repo) -> None:
        """Use this repository, which the caller opened in its own way."""
        self._repo = repo
        for warning in repo.settings.warnings:
            self.out.warn(warning)
        self._is_warned = True

    def _open(self) -> Repo:
        from lineclear.wiring.repo import open_repo

        return open_repo(self.cwd, self.environ, self.given)

    def _put_back(self, repo: Repo) -> None:
        repo.close()

    def perform(self, verb: str, command: Command, args: Namespace) -> int:
        """The exit code of a verb in these surroundings."""
        refusal: Refusal | None = None
        try:
            return command.run(self, args) or 0
        except Refusal as error:
            refusal = error
            raise
        finally:
            if refusal is not None or command.is_write or verb == "queue run":
                self._log_attempts(verb, refusal)

    def _log_attempts(self, verb: str, refusal: Refusal | None) -> None:
        """Log what an agent tried with this command and may not decide."""
        from lineclear.app.agents.attempts import LIMITS, OVERRULED, log_attempts
        from lineclear.app.ports import Caller

        overruled = self._repo.settings.overruled if self._repo is not None else {}
        attempts = [(OVERRULED, f"{name} by {variable}") for name, variable in overruled.items()]
        if refusal is not None and refusal.code in LIMITS:
            attempts.append((refusal.code, verb))
        if not attempts:
            return
        try:
            if refusal is not None and refusal.code == "token.other":
                caller = Caller(str(refusal.facts["owner"]))
            else:
                caller = self.caller
            if not caller.is_person:
                log_attempts(self.store, caller, attempts)
        except Refusal:
            pass  # the store cannot be written now; the command has said so, or its refusal matters more

    @property
    def store(self) -> Store:
        return self.repo.store

    @property
    def caller(self) -> Caller:
        """Who acts. Asking is also a sign of life: it renews the caller's leases when they are due."""
        if self._caller is None:
            from lineclear.app.agents.heartbeat import beat

            self._caller = self.repo.caller(self.given, self.key)
            try:
                beat(self.store, self.repo.presence, self._caller)
            except Refusal:
                # Reading is allowed where nothing can be written; a write fails with its own refusal.
                pass
        return self._caller

    @property
    def own_task(self) -> int:
        """The task that the supervisor gave to this agent; 0 for everybody else."""
        from lineclear.cli.parser import task_number

        given = self.environ.get("LINECLEAR_TASK", "")
        return task_number(given) if given and not self.caller.is_person else 0

    def resources(self, texts: list[str]) -> list[Resource]:
        found = [self.repo.resource(text, self.cwd) for text in texts]
        return list({resource.text: resource for resource in found}.values())

    def paths_from_root(self, texts: list[str], start: str) -> list[str]:
        """Paths typed in the directory `start`, relative to the repository's root; others are refused."""
        return [self.repo.places.locate(text, start, literal=True)[0] or "." for text in texts]

    def delivered(self, position: int) -> None:
        """Record that the caller has seen the log up to this position."""
        self.repo.presence.touch(self.caller.name, position)

    def publish(self) -> None:
        """Update the files for agents, if this repository keeps any."""
        if self._repo is None or not self.is_mirrored:
            return
        settings = self._repo.settings
        if settings.mirror_tasks or settings.mirror_coordination or settings.mirror_locks:
            from lineclear.mirror.publishing import publish_quietly

            try:
                self.out.flush()  # the caller need not wait for the files
            except Unwritable:
                pass  # the last flush reports it
            publish_quietly(self._repo)

    def close(self) -> None:
        if self._repo is not None:
            self.publish()
            self._put_back(self._repo)
            self._repo = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a command line runs; by default in this process as it is.

    `make` takes the arguments of `Context`. `passes`: exceptions that the caller handles itself.
    `asks_server`: let a server do the work if this process cannot write to the store.
    """

    _: KW_ONLY
    cwd: str = ""
    out: TextIO | None = None
    err: TextIO | None = None
    make: Callable[..., Context] = Context
    passes: tuple[type[Exception], ...] = ()
    asks_server: bool = True
