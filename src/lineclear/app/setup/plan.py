"""The values of a set-up: what was found, what is to change, and what is remembered of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

FORMAT = 1


class CannotSetUp(Exception):
    """A file that stands in the way, and why; the story makes a refusal of it."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


@dataclass(frozen=True, slots=True)
class SetupFacts:
    """What is there now. Paths are absolute.

    `files`: the content of every file the client's plan asked for, None where there is none.
    `shared`: those that git tracks: others will get what we write. `stub`: the program a hook calls.
    `record`: what an earlier set-up has put in, {} when there was none. `is_closed`: fail closed is wanted.
    `is_main`: the root is the main worktree; what concerns the whole repository is done from there.
    `has_server`: our MCP server is wanted, too.
    `git_settings`: what this repository says for the settings the client's plan asked for, "" where unset.
    `hooks_path` (core.hooksPath as it counts), `main_ref`, `python`: for git's own hooks.
    """

    root: str
    home: str = ""
    stub: str = ""
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    shared: Collection[str] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    is_closed: bool = False
    is_main: bool = True
    has_server: bool = False
    git_settings: Mapping[str, str] = field(default_factory=dict)
    hooks_path: str = ""
    main_ref: str = ""
    python: str = ""

    @property
    def state(self) -> str:
        """The directory of the stub."""
        return self.stub.rpartition("/")[0]

    @property
    def git_dir(self) -> str:
        """The git directory that all worktrees share."""
        return self.state.rpartition("/")[0]

    def text(self, path: str) -> str | None:
        """The file's text; None when it is not there."""
        data = self.files.get(path)
        if data is None:
            return None
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise CannotSetUp(path, "it is not UTF-8") from None


@dataclass(frozen=True, slots=True)
class SetupChange:
    """One file: from what it is (None: not there) to what it will be (None: gone)."""

    path: str
    before: bytes | None
    after: bytes | None
    is_program: bool = False

    def __str__(self) -> str:
        verb = "remove" if self.after is None else "make" if self.before is None else "change"
        return f"{verb} {self.path}"


@dataclass(frozen=True, slots=True)
class FileMove:
    """A file under another name, as it is: its mode, its times, or that it is a link."""

    path: str
    to: str

    def __str__(self) -> str:
        return f"move {self.path} -> {self.to}"


@dataclass(slots=True)
class SetupPlan:
    """What is to change for one client in one worktree, and what a person has to know.

    `record`: what is to be remembered of the files. `own_record`: what is remembered instead, by a client
    that is not known by its files. `private`: files that we made and that are to stay out of git.
    `git_settings`: what this repository's settings are to say ("": nothing any more). `directories`: those
    that go with a removal, if nothing is left in them.
    """

    changes: list[SetupChange | FileMove] = field(default_factory=list)
    record: dict[str, Any] = field(default_factory=dict)
    own_record: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    private: list[str] = field(default_factory=list)
    git_settings: dict[str, str] = field(default_factory=dict)
    directories: list[str] = field(default_factory=list)

    def change(self, path: str, before: str | None, after: str | None, *, is_program: bool = False) -> None:
        """Noted only where something differs."""
        was = before.encode() if before is not None else None
        will = after.encode() if after is not None else None
        self.change_bytes(path, was, will, is_program=is_program)

    def change_bytes(
        self, path: str, before: bytes | None, after: bytes | None, *, is_program: bool = False
    ) -> None:
        if before != after:
            self.changes.append(SetupChange(path, before, after, is_program))
