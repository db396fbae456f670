"""What set-up needs from outside. Wiring puts it together from git, files and the table of clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from lineclear.app.setup.plan import FileMove, SetupChange, SetupFacts, SetupPlan


class SetupModule(Protocol):
    """clients/<name>/setup.py. Both plans are pure. `GIT_SETTINGS`, where it is there: the settings of git
    that the plans need to know."""

    IN_WORKTREES: bool
    """Has every linked worktree its own copy of the files below the root?"""

    def files(self, facts: SetupFacts, /) -> list[str]:
        """The absolute paths of the files that the plans need to know."""

    def plan_install(self, facts: SetupFacts, /) -> SetupPlan: ...
    def plan_remove(self, facts: SetupFacts, /) -> SetupPlan: ...


class SetupClients(Protocol):
    """The table of clients."""

    def names(self) -> list[str]:
        """Those that can be set up."""

    def module(self, name: str, /) -> SetupModule: ...

    def stub_text(self) -> str:
        """The program that every client's hook calls."""


class SetupGit(Protocol):
    """Git of one clone."""

    def tracked(self, root: str, paths: Sequence[str], /) -> list[str]:
        """Those of the absolute paths that git tracks in this worktree."""

    def ignored(self, paths: Sequence[str], /) -> list[str]:
        """Those of the paths, relative to the main worktree, that git ignores there."""

    def setting(self, name: str, /) -> str:
        """As this repository says it; "" where it says nothing."""

    def set_setting(self, name: str, value: str, /) -> None:
        """In this repository; "" takes it out."""

    def hooks_path(self) -> str:
        """core.hooksPath as it counts, with `~` resolved; "" where unset."""

    def main_ref(self) -> str: ...

    def run_hook(self, name: str, variables: Mapping[str, str], /) -> None:
        """Let git start one of its hooks, as it would by itself."""


class SetupFiles(Protocol):
    """Files of the clients, and our records. OSError where the disk says no."""

    def read(self, path: str, /) -> bytes | None:
        """None when there is none."""

    def names_in(self, directory: str, /) -> list[str]:
        """Sorted; none for a directory that cannot be read."""

    def missing_directories(self, paths: Iterable[str], /) -> list[str]:
        """The directories that have to be made for these files, outermost first."""

    def leads_out(self, path: str, root: str, /) -> bool:
        """Do links lead this path, which begins below the root, to a place outside it?"""

    def apply(self, changes: Sequence[SetupChange | FileMove], /) -> None:
        """Each file whole or not at all; FileChangedMeanwhile, before any change, where a file is not what
        the plan was made from."""

    def write_record(self, path: str, data: bytes, /) -> None:
        """For this user alone, with its directory."""

    def remove_record(self, path: str, /) -> None: ...

    def remove_directories(self, paths: Iterable[str], /) -> None:
        """Those in which nothing is left."""

    def alone(self) -> AbstractContextManager[object]:
        """One set-up at a time in a clone."""


class FileChangedMeanwhile(Exception):
    """A file is no longer what the plan was made from; nothing was changed."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path
