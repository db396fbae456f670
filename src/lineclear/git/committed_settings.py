"""The settings for checks: lineclear.toml as committed on main, regardless of what a candidate or a person's
worktree says, plus this clone's local.toml and the environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.words.computed.settings import settings_too_large
from lineclear.core.words.refusals import refuse
from lineclear.git.commits import Commits
from lineclear.git.layout import ignores_case, main_worktree
from lineclear.git.objects import TREE_MODE, parse_tree
from lineclear.settings.loading import MAX_FILE_BYTES, load_under
from lineclear.settings.table import TEAM_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.git.object_store import ObjectStore
    from lineclear.git.objects import Entry
    from lineclear.settings import Settings

_PLAIN_FILES = ("100644", "100755")


class CommittedSettings:
    """Settings with the team's file as a given commit has it.

    Results are cached by the file's blob, so local settings and the environment count as they were at the
    first read.
    """

    def __init__(
        self, objects: ObjectStore, *, common_dir: str, local_dir: str, environ: Mapping[str, str],
        for_agent: bool,
    ) -> None:  # fmt: skip
        self._objects, self._common_dir, self._for_agent = objects, common_dir, for_agent
        self._local_dir, self._environ = local_dir, environ
        self._known: dict[Entry | None, Settings] = {}

    def at(self, commit: str) -> Settings:
        entry = self._entry(commit)
        if entry not in self._known:
            self._known[entry] = load_under(
                self._content(entry) if entry is not None else None,
                root=main_worktree(self._common_dir),
                local_dir=self._local_dir,
                environ=self._environ,
                folds_case=ignores_case(self._common_dir),
                for_agent=self._for_agent,
            )
        return self._known[entry]

    def _entry(self, commit: str) -> Entry | None:
        tree = Commits(self._objects).tree_of(self._objects.commit_of(commit))
        root = self._objects.read([tree])[tree]
        return parse_tree(root, len(tree) // 2).get(TEAM_FILE.encode())

    def _content(self, entry: Entry) -> bytes | None:
        mode, oid = entry
        if mode == TREE_MODE:
            return None
        if mode not in _PLAIN_FILES:
            raise refuse(
                "settings.unreadable", origin=TEAM_FILE, path=TEAM_FILE, why="it is not a plain file"
            )
        if self._objects.size_of(oid) > MAX_FILE_BYTES:
            raise settings_too_large(TEAM_FILE, MAX_FILE_BYTES)
        return self._objects.read([oid])[oid]
