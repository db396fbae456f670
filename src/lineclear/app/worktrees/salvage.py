"""List, find, show and restore snapshots. Needs no store, because that may be what is broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lineclear.app.worktrees.snapshots import choose
from lineclear.core.words.computed.worktrees import patch_exists
from lineclear.core.words.refusals import refuse
from lineclear.core.worktrees.snapshots import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.worktrees.ports import CommitReader, SalvageGit
    from lineclear.core.worktrees.snapshots import Kept

_WHOLE = ("--binary", "--full-index")


@dataclass(frozen=True, slots=True, kw_only=True)
class Salvage:
    """The snapshots of one clone. `write_new(path, data)` writes a file and raises if it exists."""

    git: SalvageGit
    commits: CommitReader
    write_new: Callable[[str, bytes], None]

    def kept(self, agent: str = "") -> list[Kept]:
        """All snapshots, or those of an agent; each agent's newest first."""
        return self.git.listed(agent)

    def find(self, name: str) -> Kept:
        return choose(self.kept(), name)

    def patch(self, kept: Kept) -> str:
        """The patch from the commit that the snapshot is based on to the snapshot, for `git apply`."""
        return self._diff(kept, _WHOLE)

    def text(self, kept: Kept, *, stat: bool) -> str:
        """The patch, or its statistics, for people."""
        return self._diff(kept, ("--stat",) if stat else ())

    def files(self, kept: Kept) -> Sequence[dict[str, Any]]:
        return self.commits.count_lines(self._base(kept), kept.commit)

    def _diff(self, kept: Kept, options: tuple[str, ...]) -> str:
        return self.commits.diff(self._base(kept), kept.commit, options)

    def _base(self, kept: Kept) -> str:
        return kept.parent or self.commits.empty_tree()

    def restore_branch(self, kept: Kept, branch: str = "") -> str:
        """Make a branch at the snapshot, under a generated name if none is given; returns the name."""
        short = f"{kept.agent}/{kept.number}"
        wanted = branch or f"salvage/{kept.ref.removeprefix(PREFIX)}"
        if not self.git.is_branch_name(wanted):
            raise refuse("snapshot.branch_name", branch=wanted, free=short)
        names = [wanted] if branch else [wanted, *(f"{wanted}-{number}" for number in range(2, 1_000))]
        for name in names:
            if self.git.create_branch(name, kept.commit):
                return name
        raise refuse("snapshot.branch_exists", branch=wanted, free=short)

    def restore_patch(self, kept: Kept, path: str) -> int:
        """Write the patch to a new file; returns its size. Never overwrites a file."""
        data = self.patch(kept).encode("utf-8", "surrogateescape")
        try:
            self.write_new(path, data)
        except FileExistsError as error:
            raise patch_exists(path, f"{kept.agent}/{kept.number}") from error
        except OSError as error:
            raise refuse("snapshot.patch_unwritable", path=path, why=error.strerror or str(error)) from error
        return len(data)
