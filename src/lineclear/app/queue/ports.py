"""What the queue needs from outside: git without a work tree, places where checks run, a reviewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from threading import Event
    from typing import Any, Protocol

    from lineclear.app.ports import Caller
    from lineclear.app.queue.check_runner import CommandEnd
    from lineclear.app.queue.stacking import Level
    from lineclear.core.claims.resources import Resource
    from lineclear.core.log.tables import Candidate, Task
    from lineclear.core.queue.checks import Check
    from lineclear.core.queue.commit_gate import GateFinding

    class MainMove(Protocol):
        how: str
        why: str
        files: list[str]

    class QueueGit(Protocol):
        """One clone's git. Nothing but `move` moves anything."""

        @property
        def branch(self) -> str: ...

        def main(self) -> str:
            """The commit that main is; "" when there is none."""

        def level(self, below: str, row: Candidate, task: Task | None) -> Level:
            """The candidate on top of a commit, as a commit of its own. Refuses what cannot be merged."""

        def forbidden(self, row: Candidate, main: str) -> list[GateFinding]:
            """What the candidate changes although its author may not."""

        def touched(self, row: Candidate) -> list[str]:
            """The files that the candidate changes, as claims write their paths; none if git cannot say."""

        def chain(self, row: Candidate, top: str) -> list[str]:
            """Where the candidate's branch began, then each state of main from there to `top`."""

        def tree_of(self, commit: str) -> str: ...

        def is_on_main(self, commit: str) -> bool: ...

        def move(self, old: str, new: str, why: str) -> MainMove:
            """Main by compare-and-set, with its files where it is checked out."""

    class LandingGit(QueueGit, Protocol):
        """What submitting a branch, and telling what became of it, asks of the same clone."""

        def known_main(self) -> str:
            """As it was last seen, wherever main is; nobody is asked. "" where there is none."""

        def ends_of(self, branch: str) -> tuple[str, str]:
            """(main as it was last seen, the branch's newest commit). Refuses what could not land: no main,
            main itself, no such branch."""

        def bases(self, main: str, tip: str) -> list[str]:
            """Where both parted; the tip alone when main holds it, nothing for two strangers."""

        def own(self, main: str, tip: str) -> list[str]:
            """The commits of the tip that main does not hold, newest first."""

        def landed_change(self, below: str, commit: str) -> tuple[list[str], str]:
            """(the files that differ between both, none without `below`; the commit as git keeps it)."""

        def take_notes(self) -> list[str]:
            """What was done about main since this was asked last, as words for a person."""

        def close(self) -> None:
            """Lets go of what answers; can be asked again. Closing it twice has no effect."""

    class CommitKeeper(Protocol):
        """Keeps a candidate's commit from git's housekeeping while it may be wanted."""

        def keep(self, tip: str) -> None:
            """Every machine that may run the queue finds it from now on."""

        def forget(self, tip: str, *, is_landed: bool) -> None:
            """Once main or a branch holds it; has no effect before."""

    class TurnLock(Protocol):
        """One process at a time in this clone; free when the process ends."""

        def take(self, wait_s: float) -> bool: ...

        def free(self) -> None: ...

    class Reviewer(Protocol):
        """The command that looks at candidates, as a commit of main states it."""

        def review(
            self, row: Candidate, main: str, level: Level, is_over: Callable[[], bool]
        ) -> tuple[bool, str] | None:
            """(yes?, its last words); None when it was called off. Refuses what is not trusted."""

    class QueueTools(Protocol):
        """What one operation of the queue works with: opened for it, closed with it. Settings are those that
        main has committed, read once."""

        @property
        def git(self) -> LandingGit: ...

        def open_checks(self, places: int) -> AbstractContextManager[CheckPool]: ...

        def stated_checks(self, main: str) -> list[tuple[Check, Resource | None]]:
            """The checks that this commit states, each with its part of the repository, None for all of it;
            without a commit those of this clone."""

        def reviewer(self, main: str) -> Reviewer | None:
            """None when the commit states no command for it."""

        def follow_up(self, caller: Caller, landed: list[dict[str, Any]]) -> dict[str, Any] | None:
            """What a repository does after a landing: decide proposals, run its integrator. None when nothing
            was to be done; else `result` is submitted, nothing or failed, with `why`."""

    class EndedCheck(Protocol):
        """One run of one check command."""

        @property
        def key(self) -> str: ...
        @property
        def tree(self) -> str: ...
        @property
        def command(self) -> str: ...
        @property
        def is_green(self) -> bool: ...
        @property
        def is_flaky(self) -> bool: ...
        @property
        def is_set_up(self) -> bool:
            """It is no check, but a command that makes the place ready for them."""

        @property
        def took_ms(self) -> int: ...
        @property
        def words(self) -> str:
            """How it failed, with the end of its output; bounded."""

    class CheckPool(Protocol):
        """Runs checks beside us, as many at once as it has places."""

        def prepare(self, main: str) -> bool:
            """From now on checks are those that this commit states; True when they are others than before.
            Refuses what is not trusted."""

        def checks_for(self, files: Sequence[str]) -> list[Check]: ...

        def key(self, tree: str, check: Check) -> str:
            """What a verdict is kept under."""

        def free(self) -> int: ...

        def start(self, job: int, commit: str, tree: str, checks: Sequence[Check]) -> None: ...

        def ended(self) -> Sequence[tuple[int, Sequence[EndedCheck]]]:
            """Jobs that came to an end since the last time; a cancelled one with nothing."""

        def cancel(self, job: int) -> None: ...

        def wait(self, timeout_s: float) -> None:
            """Until a job has ended or the time is over."""

    class CheckPlace(Protocol):
        """A check tree that only we use, and how main's settings make it ready."""

        def prepare(self, commit: str) -> str:
            """The tracked files as the commit has them, nothing untracked, the ignored files that the
            settings name, and ports that are free. Gives the key of the set-up that has to run now: "" if
            the settings state none, or if it has run for the same commands, files and manifests."""

        def set_up(self, key: str, cancel: Event) -> tuple[str, CommandEnd] | None:
            """Run the set-up commands within their time; the first that fails, with how it ended. None if
            none fails: then the key is remembered."""

        def run(self, command: str, *, timeout_s: float, cancel: Event, env: Mapping[str, str]) -> CommandEnd:
            """Run a command by the shell, in a sandbox if the settings want one. `env` is added to the
            environment of a check."""

        def end_strays(self) -> bool:
            """End all processes that were started in it; False if one of them cannot be ended."""
