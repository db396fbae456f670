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
    from lineclear.app.queue.runner import QueueRules
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
        """One clone's git. Only `move` changes a branch."""

        @property
        def branch(self) -> str: ...

        def main(self) -> str:
            """Main's commit; "" if there is none."""

        def level(self, below: str, row: Candidate, task: Task | None) -> Level:
            """Merge the candidate onto a commit and commit the result. Refuses what cannot be merged."""

        def forbidden(self, row: Candidate, main: str) -> list[GateFinding]:
            """The files that the candidate changes although its author may not."""

        def touched(self, row: Candidate) -> list[str]:
            """The files that the candidate changes, as claims write paths; empty if git cannot say."""

        def chain(self, row: Candidate, top: str) -> list[str]:
            """The commit where the candidate's branch began, then each commit of main from there to `top`."""

        def tree_of(self, commit: str) -> str: ...

        def is_on_main(self, commit: str) -> bool: ...

        def move(self, old: str, new: str, why: str) -> MainMove:
            """Move main by compare-and-set, and update its files where it is checked out."""

    class LandingGit(QueueGit, Protocol):
        """The same clone's git, for submitting a branch and reporting what became of it."""

        def known_main(self) -> str:
            """Main's commit as last seen, without asking a remote; "" if there is none."""

        def ends_of(self, branch: str) -> tuple[str, str]:
            """(main's commit as last seen, the branch's newest commit, fetched if only the remote has it).
            Refuses if there is no main, no such branch, or if the branch is main itself."""

        def bases(self, main: str, tip: str) -> list[str]:
            """The merge bases; only the tip if main contains it, empty for unrelated histories."""

        def own(self, main: str, tip: str) -> list[str]:
            """The commits of the tip that main does not contain, newest first."""

        def landed_change(self, below: str, commit: str) -> tuple[list[str], str]:
            """(the files that differ between both, empty without `below`; the raw commit object)."""

        def take_notes(self) -> list[str]:
            """For a person: what was done about main since the last call."""

        def close(self) -> None:
            """End the git process. A later question starts a new one; closing twice has no effect."""

    class CommitKeeper(Protocol):
        """Protects a candidate's commit from git's garbage collection."""

        def keep(self, tip: str) -> None:
            """From now on every machine that may run the queue finds the commit."""

        def forget(self, tip: str, *, is_landed: bool) -> None:
            """Drop the protection if main or a branch contains the commit; otherwise has no effect."""

    class TurnLock(Protocol):
        """One process at a time in this clone; free when the process ends."""

        def take(self, wait_s: float) -> bool: ...

        def free(self) -> None: ...

    class Reviewer(Protocol):
        """The command that reviews candidates, from the settings in a commit of main."""

        def review(
            self, row: Candidate, main: str, level: Level, is_over: Callable[[], bool]
        ) -> tuple[bool, str] | None:
            """(did it approve?, the end of its output); None if cancelled. Refuses an untrusted command."""

    class QueueTools(Protocol):
        """What one operation of the queue needs; opened and closed with it. Its settings are those committed
        on main, read once."""

        @property
        def git(self) -> LandingGit: ...
        @property
        def kept(self) -> CommitKeeper: ...

        def rules(self, main: str) -> QueueRules:
            """The queue's rules in this commit's settings; without a commit those of this clone."""

        def open_checks(self, places: int) -> AbstractContextManager[CheckPool]: ...

        def stated_checks(self, main: str) -> list[tuple[Check, Resource | None]]:
            """The checks in this commit's settings, each with the part of the repository that needs it (None:
            all of it); without a commit those of this clone."""

        def reviewer(self, main: str) -> Reviewer | None:
            """None if the commit's settings have no review command."""

        def follow_up(self, caller: Caller, landed: list[dict[str, Any]]) -> dict[str, Any] | None:
            """After a landing, decide proposals and run the integrator. None if there was nothing to do; else
            `result` is submitted, nothing or failed, with `why`."""

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
            """It is not a check but a command that sets the check tree up."""

        @property
        def took_ms(self) -> int: ...
        @property
        def words(self) -> str:
            """How it failed, with the end of its output; of limited length."""

    class CheckPool(Protocol):
        """Runs checks in the background, as many at once as it has places."""

        def prepare(self, main: str) -> bool:
            """Use the checks in this commit's settings from now on; True if they differ from those before.
            Refuses untrusted ones."""

        def checks_for(self, files: Sequence[str]) -> list[Check]: ...

        def key(self, tree: str, check: Check) -> str:
            """The key under which a verdict is stored."""

        def free(self) -> int: ...

        def start(self, job: int, commit: str, tree: str, checks: Sequence[Check]) -> None: ...

        def ended(self) -> Sequence[tuple[int, Sequence[EndedCheck]]]:
            """The jobs that ended since the last call, with their results; a cancelled one has none."""

        def cancel(self, job: int) -> None: ...

        def wait(self, timeout_s: float) -> None:
            """Wait until a job has ended or the time is over."""

    class CheckPlace(Protocol):
        """A check tree that only this process uses, and how main's settings set it up."""

        def prepare(self, commit: str) -> str:
            """Check out the commit's tracked files, remove untracked ones, copy the ignored files that the
            settings name, and find free ports. Returns the key of the set-up that must run now; "" if the
            settings have none, or if it has run for the same commands, files and manifests."""

        def set_up(self, key: str, cancel: Event) -> tuple[str, CommandEnd] | None:
            """Run the set-up commands within their time. Returns the first that fails and how it ended; None
            if all succeed, and then remembers the key."""

        def run(self, command: str, *, timeout_s: float, cancel: Event, env: Mapping[str, str]) -> CommandEnd:
            """Run a shell command, in a sandbox if the settings ask for one. `env` is added to a check's
            environment."""

        def end_strays(self) -> bool:
            """End all processes that were started in the tree; False if one cannot be ended."""
