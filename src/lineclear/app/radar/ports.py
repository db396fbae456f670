"""What a pass of the radar needs from git, from its cache and from the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lineclear.app.ports import Caller, Store
    from lineclear.app.queue.merge_trees import MergeRules
    from lineclear.core.radar.facts import FileFacts

MAIN_TREE = "main tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSide:
    """The unmerged work of a worktree, or of a branch that is checked out nowhere.

    `name`: the agent; without one the branch, or `MAIN_TREE` for uncommitted work in the main worktree.
    `tree` and `commit`: its newest snapshot, or the tip of its branch if nothing was uncommitted. `base` and
    `base_tree`: its merge base with main. `worktree`: our name for the worktree, "" for a bare branch.
    `task`: 0 if unknown. `at_s`: its last change.
    """

    name: str
    tree: str
    commit: str
    base: str
    base_tree: str
    branch: str
    worktree: str
    task: int
    at_s: int


class RadarGit(Protocol):
    """The unmerged work of one clone. Trees, commits and blobs go by their ids."""

    @property
    def left_out(self) -> int:
        """How many live sides the last `sides()` left out because there were too many."""

    def main(self) -> tuple[str, str]:
        """Main's commit and its tree; ("", "") before the first commit."""

    def sides(self) -> list[WorkSide]:
        """Every live worktree and open branch that differs from its base, newest first."""

    def changed(self, base_tree: str, tree: str) -> dict[str, tuple[str, str]]:
        """path -> (old blob or "", new blob or "") of the plain files that differ."""

    def read(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The content of blobs; those above 1.5 MB, and those that do not exist, are left out."""

    def merge(self, base_tree: str, left_tree: str, right_tree: str) -> dict[str, Any]:
        """The report of `merge_two_trees`. The merged tree can be read until this object is closed."""

    def files_naming(self, tree: str, words: Iterable[str]) -> dict[str, dict[str, str]]:
        """word -> {path: blob} of the text files of a tree that contain the word as a whole; at most
        `MOST_FILES_NAMING` files for each word."""

    def common_tree(self, left: str, right: str) -> str:
        """The tree of the merge base of two commits; "" if they have none."""

    def blob_at(self, tree: str, path: str) -> str:
        """The blob at a path of a tree; "" if there is none."""

    def who_changed(self, base: str, tip: str, path: str) -> str:
        """The newest commit of base..tip that changed the path; "" if there is none."""


MOST_FILES_NAMING = 200


class FactsCache(Protocol):
    """Facts of files by (blob, kind of path), and answers by any key. It may forget everything at any time,
    and never raises."""

    def facts(self, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], FileFacts]:
        """Those of the wanted facts that are known."""

    def keep(self, facts: Mapping[tuple[str, str], FileFacts]) -> None: ...

    def answer(self, key: str) -> Any | None:
        """The JSON value that was kept under a key; None if there is none."""

    def keep_answer(self, key: str, value: Any) -> None: ...

    def prune(self) -> None:
        """Forget what was not used for longest, until the cache is small enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RadarPorts:
    git: RadarGit
    cache: FactsCache
    rules: MergeRules
    store: Store
    caller: Caller
