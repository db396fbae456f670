"""Snapshots brought back, wired: list, find, show, restore. Needs no store: it may be what is broken."""

from __future__ import annotations

from lineclear.app.worktrees.snapshots import choose
from lineclear.core.words.refusals import refuse
from lineclear.core.words.worktrees import patch_exists
from lineclear.core.worktrees.snapshots import PREFIX, Kept
from lineclear.git.layout import find_layout
from lineclear.git.snapshots.refs import (
    count_lines,
    create_branch,
    diff,
    empty_tree,
    is_branch_name,
    list_snapshots,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_WHOLE = ("--binary", "--full-index")


class Salvage:
    """The snapshots of the repository around a directory."""

    def __init__(self, cwd: str, environ: Mapping[str, str]) -> None:
        self._common_dir = find_layout(cwd, environ).common_dir

    def kept(self, agent: str = "") -> list[Kept]:
        """All snapshots, or an agent's: newest first."""
        return list_snapshots(self._common_dir, agent)

    def find(self, name: str) -> Kept:
        return choose(self.kept(), name)

    def patch(self, kept: Kept) -> str:
        """What the snapshot adds to the commit it was taken on, for `git apply`."""
        return self._diff(kept, _WHOLE)

    def text(self, kept: Kept, *, stat: bool) -> str:
        """The same for people."""
        return self._diff(kept, ("--stat",) if stat else ())

    def files(self, kept: Kept) -> Sequence[dict[str, Any]]:
        return count_lines(self._common_dir, self._base(kept), kept.commit)

    def _diff(self, kept: Kept, options: tuple[str, ...]) -> str:
        return diff(self._common_dir, self._base(kept), kept.commit, options)

    def _base(self, kept: Kept) -> str:
        return kept.parent or empty_tree(self._common_dir)

    def restore_branch(self, kept: Kept, branch: str = "") -> str:
        """A new branch at the snapshot; without a name it gets one of its own. Gives the name."""
        short = f"{kept.agent}/{kept.number}"
        wanted = branch or f"salvage/{kept.ref.removeprefix(PREFIX)}"
        if not is_branch_name(self._common_dir, wanted):
            raise refuse("snapshot.branch_name", branch=wanted, free=short)
        names = [wanted] if branch else [wanted, *(f"{wanted}-{number}" for number in range(2, 1_000))]
        for name in names:
            if create_branch(self._common_dir, name, kept.commit):
                return name
        raise refuse("snapshot.branch_exists", branch=wanted, free=short)

    def restore_patch(self, kept: Kept, path: str) -> int:
        """The snapshot against its parent as a file; gives its size. Writes over nothing."""
        data = self.patch(kept).encode("utf-8", "surrogateescape")
        try:
            with open(path, "xb") as file:
                return file.write(data)
        except FileExistsError as error:
            raise patch_exists(path, f"{kept.agent}/{kept.number}") from error
        except OSError as error:
            raise refuse("snapshot.patch_unwritable", path=path, why=error.strerror or str(error)) from error
