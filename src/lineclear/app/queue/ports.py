"""What the queue's runner needs from outside: git without a work tree, and places where checks run."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from threading import Event
    from typing import Protocol

    from lineclear.app.queue.check_runner import CommandEnd
    from lineclear.app.queue.stacking import Level
    from lineclear.core.log.tables import Candidate, Task
    from lineclear.core.queue.checks import Check
    from lineclear.core.queue.gate import Finding

    class Moved(Protocol):
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

        def forbidden(self, row: Candidate, main: str) -> list[Finding]:
            """What the candidate changes although its author may not."""

        def touched(self, row: Candidate) -> list[str]:
            """The files that the candidate changes, as claims write their paths; none if git cannot say."""

        def chain(self, row: Candidate, top: str) -> list[str]:
            """Where the candidate's branch began, then each state of main from there to `top`."""

        def tree_of(self, commit: str) -> str: ...

        def is_on_main(self, commit: str) -> bool: ...

        def move(self, old: str, new: str, why: str) -> Moved:
            """Main by compare-and-set, with its files where it is checked out."""

    class Ended(Protocol):
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

        def ended(self) -> Sequence[tuple[int, Sequence[Ended]]]:
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
