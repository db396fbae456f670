"""Make the payload of a proposal for a file: from its new text, from a patch, or to remove the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lineclear.core.json_text import canonical
from lineclear.core.log.tables import TASK
from lineclear.core.tasks.states import TAKEN
from lineclear.core.values.file_changes import FileChange, check_content
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from lineclear.app.ports import Caller, Store, View
    from lineclear.core.claims.resources import Resource

_PLAIN_FILES = ("", "100644", "100755")


class PatchFailed(Exception):
    """A patch does not apply; the message says why."""


class MainFiles(Protocol):
    """The files that are committed on main."""

    @property
    def branch(self) -> str:
        """Main's name."""

    def main(self) -> str:
        """Main's commit; "" if there is none."""

    def file_at(self, commit: str, path: str, /) -> tuple[str, str]:
        """(object id, mode); "" for both if there is no such file."""

    def content(self, blob: str, /) -> bytes: ...

    def patched(self, path: str, content: bytes | None, patch: str, /) -> bytes | None:
        """The patched content; None if the patch removes the file. Raises PatchFailed."""


def file_payload(
    store: Store, files: MainFiles, caller: Caller, resource: Resource, *, text: str | None, patch: str = "",
    task: int = 0,
) -> str:  # fmt: skip
    """The payload of a proposal based on main as it is now. Without text and patch it removes the file."""
    if resource.scheme != "file" or resource.kind != "file":
        raise refuse("proposal.not_a_file", resource=resource.text)
    main = files.main()
    if not main:
        raise refuse("land.unborn", main=files.branch)
    blob, mode = files.file_at(main, resource.path)
    if mode not in _PLAIN_FILES:
        raise refuse("proposal.not_a_file", resource=resource.text)
    content = files.content(blob) if blob else None
    if patch:
        try:
            text = _text(files.patched(resource.path, content, patch))
        except PatchFailed as error:
            raise refuse("proposal.nothing", resource=resource.text, why=str(error)) from None
    check_content(resource.text, text, _text(content))
    task = task or store.read(lambda view: _only_task(view, caller.name))
    return canonical(FileChange(text, commit=main, blob=blob, task=task).as_payload())


def _text(content: bytes | None) -> str | None:
    return content.decode("utf-8", "replace") if content is not None else None


def _only_task(view: View, agent: str) -> int:
    """The only task that the agent works on; 0 if there is none or more than one."""
    mine = [row.id for row in view.scan(TASK, "ready", (TAKEN,)) if row.agent == agent]
    return mine[0] if len(mine) == 1 else 0
