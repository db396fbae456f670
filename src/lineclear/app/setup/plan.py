"""What a plan of `setup` is made of: what was found, what is to change, and what is remembered of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

FORMAT = 1


class CannotSetUp(Exception):
    """A file that stands in the way, and why; the surface makes a refusal of it."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


class Found:
    """What is there now. Paths are absolute.

    `files`: the content of every file the client's plan asked for, None where there is none.
    `shared`: those that git tracks: others will get what we write. `stub`: the program a hook calls.
    `record`: what an earlier set-up has put in, {} when there was none. `is_closed`: fail closed is wanted.
    `is_main`: the root is the main worktree; what concerns the whole repository is done from there.
    `has_server`: our MCP server is wanted, too.
    """

    __slots__ = (
        "files", "has_server", "home", "is_closed", "is_main", "record", "root", "shared", "stub",
        "variables",
    )  # fmt: skip

    def __init__(
        self,
        root: str,
        *,
        home: str = "",
        stub: str = "",
        files: Mapping[str, bytes | None] | None = None,
        shared: Sequence[str] = (),
        record: Mapping[str, Any] | None = None,
        variables: Mapping[str, str] | None = None,
        is_closed: bool = False,
        is_main: bool = True,
        has_server: bool = False,
    ) -> None:
        self.root, self.home, self.stub = root, home, stub
        self.files = dict(files or {})
        self.shared, self.record = frozenset(shared), dict(record or {})
        self.variables, self.is_closed, self.is_main = dict(variables or {}), is_closed, is_main
        self.has_server = has_server

    def text(self, path: str) -> str | None:
        """The file's text; None when it is not there."""
        data = self.files.get(path)
        if data is None:
            return None
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise CannotSetUp(path, "it is not UTF-8") from None


class Change:
    """One file: from what it is (None: not there) to what it will be (None: gone)."""

    __slots__ = ("after", "before", "is_program", "path")

    def __init__(
        self, path: str, before: bytes | None, after: bytes | None, *, is_program: bool = False
    ) -> None:
        self.path, self.before, self.after, self.is_program = path, before, after, is_program

    @property
    def verb(self) -> str:
        return "remove" if self.after is None else "make" if self.before is None else "change"


class Move:
    """A file under another name, as it is: its mode, its times, or that it is a link."""

    __slots__ = ("path", "to")

    def __init__(self, path: str, to: str) -> None:
        self.path, self.to = path, to

    @property
    def verb(self) -> str:
        return "move"


class Plan:
    """Changes of files, what is to be remembered ({}: nothing any more), and what a person has to know.

    `private`: files that we made and that are to stay out of git.
    """

    __slots__ = ("changes", "notes", "private", "record")

    def __init__(self) -> None:
        self.changes: list[Change | Move] = []
        self.record: dict[str, Any] = {}
        self.notes: list[str] = []
        self.private: list[str] = []

    def change(self, path: str, before: str | None, after: str | None, *, is_program: bool = False) -> None:
        """Noted only where something differs."""
        if before != after:
            was = before.encode() if before is not None else None
            will = after.encode() if after is not None else None
            self.changes.append(Change(path, was, will, is_program=is_program))
