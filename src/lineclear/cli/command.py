"""What a command module declares, and what a command is given to work with."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

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
    """A verb: how its arguments are declared, and what it does with them (its exit code).

    `is_write` commands take `--key`: an operation id that makes a repeat harmless. `wraps_command`: the words
    behind `--` are another program's command line, in `args.command`.
    """

    run: Callable[[Context, Namespace], int | None]
    declare: Callable[[ArgumentParser], None] | None = None
    _: KW_ONLY
    is_write: bool = False
    wraps_command: bool = False


class Context:
    """The surroundings of one call; the repository is opened when first needed."""

    def __init__(
        self, out: Output, environ: Mapping[str, str], *, cwd: str = "", given: str = "", key: str = ""
    ) -> None:
        self.out, self.environ, self.given, self.key = out, environ, given, key
        self.cwd = cwd or os.getcwd()
        # False where the files for agents must not be written any more: they are being removed.
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

    @property
    def opened(self) -> Repo:
        """The repository, for a look at it: what its settings warn of is said when a verb first uses it."""
        if self._repo is None:
            self._repo = self._open()
        return self._repo

    def use(self, repo: Repo) -> None:
        """This one, opened in another way than usual."""
        self._repo = repo
        for warning in repo.settings.warnings:
            self.out.warn(warning)
        self._is_warned = True

    def _open(self) -> Repo:
        from lineclear.wiring.repo import open_repo

        return open_repo(self.cwd, self.environ)

    def _put_back(self, repo: Repo) -> None:
        repo.close()

    def perform(self, _verb: str, command: Command, args: Namespace) -> int:
        """The exit code of a verb in these surroundings."""
        return command.run(self, args) or 0

    @property
    def store(self) -> Store:
        return self.repo.store

    @property
    def caller(self) -> Caller:
        """Who acts; finding that out is also a sign of life, and renews leases when that is due."""
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
        """The number of the task that who runs under the supervisor was given; 0 for everybody else."""
        from lineclear.cli.parser import task_number

        given = self.environ.get("LINECLEAR_TASK", "")
        return task_number(given) if given and not self.caller.is_person else 0

    def resources(self, texts: list[str]) -> list[Resource]:
        found = [self.repo.resource(text, self.cwd) for text in texts]
        return list({resource.text: resource for resource in found}.values())

    def delivered(self, position: int) -> None:
        """The caller has now been told of the log up to here."""
        self.repo.presence.touch(self.caller.name, position)

    def publish(self) -> None:
        """Bring the files for agents up to date, where there are any: what we did shows there at once."""
        if self._repo is None or not self.is_mirrored:
            return
        settings = self._repo.settings
        if settings.mirror_tasks or settings.mirror_coordination or settings.mirror_locks:
            from lineclear.mirror.publishing import publish_quietly

            self._answer_first()
            publish_quietly(self._repo)

    def _answer_first(self) -> None:
        """Nobody waits for files to be told; an answer that cannot be written is noticed at the end."""
        from lineclear.cli.render import Unwritable

        try:
            self.out.flush()
        except Unwritable:
            pass

    def close(self) -> None:
        if self._repo is not None:
            self.publish()
            self._put_back(self._repo)
            self._repo = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a command line runs: this process as it is by default.

    `make` is called as `Context` is. `passes`: exceptions that are not our fault and need no words.
    `asks_server`: a server may do the work where this process cannot write to the store.
    """

    _: KW_ONLY
    cwd: str = ""
    out: TextIO | None = None
    err: TextIO | None = None
    make: Callable[..., Context] = Context
    passes: tuple[type[Exception], ...] = ()
    asks_server: bool = True
