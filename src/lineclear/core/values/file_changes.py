"""A proposed change of a file: the new content or its removal, and what it is based on. Data only.

The payload of a proposal holds it as a flat object, so that every reader of proposals can show it.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from lineclear.core.sizes import write_size
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from typing import Any

FORM = "file"
MOST_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class FileChange:
    """`text` is None for a removal. `commit` is main's commit at the time, `blob` the file's id in it ("" for
    a new file), `task` the one that the author worked on, 0 for none."""

    text: str | None
    _: KW_ONLY
    commit: str
    blob: str
    task: int = 0

    def as_payload(self) -> dict[str, Any]:
        content = {"removed": True} if self.text is None else {"text": self.text}
        return {"form": FORM, "commit": self.commit, "blob": self.blob, "task": self.task, **content}


def read_change(payload: object) -> FileChange | None:
    """The change that a payload holds; None if the payload has another form."""
    if not isinstance(payload, dict) or payload.get("form") != FORM:
        return None
    text, commit, blob, task = (payload.get(name) for name in ("text", "commit", "blob", "task"))
    is_removal = payload.get("removed") is True
    if not isinstance(commit, str) or not isinstance(blob, str) or type(task) is not int:
        return None
    if is_removal == isinstance(text, str):
        return None
    return FileChange(text if isinstance(text, str) else None, commit=commit, blob=blob, task=task)


def check_content(resource: str, text: str | None, before: str | None) -> None:
    """Refuse content that changes nothing, is too large, or is not text."""
    if text == before:
        why = "it is not on main" if text is None else "main already has it"
        raise refuse("proposal.nothing", resource=resource, why=why)
    if text is not None and len(text.encode()) > MOST_BYTES:
        raise refuse("proposal.nothing", resource=resource, why=f"it is larger than {write_size(MOST_BYTES)}")
    if text is not None and "\0" in text:
        raise refuse("proposal.nothing", resource=resource, why="it is not text")
