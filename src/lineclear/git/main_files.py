"""Reads files as they are committed on main, and applies patches to their content. Checks nothing out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.file_proposals import PatchFailed
from lineclear.git.apply_patch import NotApplied, apply_patch
from lineclear.git.detached_worktrees import file_at
from lineclear.git.landing import commit_of, landing_ref
from lineclear.git.object_store import ObjectStore
from lineclear.git.run import GitFailed

if TYPE_CHECKING:
    from lineclear.git.layout import Layout


class CloneMainFiles:
    """The `MainFiles` of app/file_proposals.py."""

    def __init__(self, layout: Layout) -> None:
        self._layout, self._ref = layout, landing_ref(layout)
        self.branch = self._ref.removeprefix("refs/heads/")

    def main(self) -> str:
        return commit_of(self._layout.worktree, self._ref)

    def file_at(self, commit: str, path: str) -> tuple[str, str]:
        blob, _, mode = file_at(self._layout.common_dir, commit, path)
        return blob, mode

    def content(self, blob: str) -> bytes:
        with ObjectStore(self._layout.worktree) as store:
            return store.read([blob])[blob]

    def patched(self, path: str, content: bytes | None, patch: str) -> bytes | None:
        try:
            return apply_patch(path, content, patch.encode())
        except NotApplied as error:
            raise PatchFailed(str(error)) from None
        except GitFailed as error:
            words = error.stderr.strip().replace("error: ", "").split("\n")[0]
            raise PatchFailed(f"the patch does not apply to main: {words}") from None
