"""The JSON of hooks: reads input that may contain anything, and writes answers as one line."""

from __future__ import annotations

from lineclear.core.agents import hooks
from lineclear.core.agents.hooks import MOST_PATHS
from lineclear.core.quick_json import write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EDIT, WRITE, READ, SHELL, PATCH = "edit", "write", "read", "shell", "patch"

# The names of tool arguments that contain a path, or several.
PATH_KEYS = ("file_path", "notebook_path", "path", "absolute_path", "filePath", "target_file")
LIST_KEYS = ("paths", "file_paths", "files")
_LONGEST_PATH = 4_096

_BEFORE = {
    EDIT: hooks.BEFORE_EDIT,
    WRITE: hooks.BEFORE_EDIT,
    PATCH: hooks.BEFORE_EDIT,
    SHELL: hooks.BEFORE_SHELL,
}
_AFTER = {
    EDIT: hooks.AFTER_EDIT, WRITE: hooks.AFTER_EDIT, PATCH: hooks.AFTER_EDIT, SHELL: hooks.AFTER_SHELL,
    READ: hooks.AFTER_READ,
}  # fmt: skip


def json_line(said: dict[str, Any]) -> bytes:
    """An answer as a line; b"" if it is empty."""
    return (write_json(said) + "\n").encode("utf-8", "replace") if said else b""


def text_of(data: dict[str, Any], *keys: str) -> str:
    """The first of these values that is a text and not empty, else ""."""
    for key in keys:
        value = data.get(key)
        if type(value) is str and value:
            return value
    return ""


def dict_of(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        value = data.get(key)
        if type(value) is dict:
            return value
    return {}


def paths_of(given: dict[str, Any]) -> tuple[str, ...]:
    """The paths in a tool's arguments, without repeats and limited in number."""
    found = [value for key in PATH_KEYS if type(value := given.get(key)) is str]
    for key in LIST_KEYS:
        value = given.get(key)
        if type(value) is list:
            found += [_path_in(item) for item in value[:MOST_PATHS]]
    edits = given.get("edits")
    if type(edits) is list:
        found += [_path_in(item) for item in edits[:MOST_PATHS]]
    return usable(found)


def _path_in(item: object) -> str:
    if type(item) is dict:
        return text_of(item, *PATH_KEYS)
    return item if type(item) is str else ""


def usable(paths: list[str]) -> tuple[str, ...]:
    kept = [path for path in paths if path and len(path) <= _LONGEST_PATH and "\0" not in path]
    return tuple(dict.fromkeys(kept))[:MOST_PATHS]


def old_text_of(given: dict[str, Any]) -> str:
    text = text_of(given, "old_string", "old_str", "oldString")
    edits = given.get("edits")
    if not text and type(edits) is list and edits and type(edits[0]) is dict:
        text = text_of(edits[0], "old_string", "old_str")
    return text[:2_000]


def replaced_by(given: dict[str, Any]) -> tuple[str, ...]:
    """Every text that an edit replaces; () if one of them is unknown."""
    edits = given.get("edits")
    pieces = [edit for edit in edits if type(edit) is dict] if type(edits) is list else [given]
    found = tuple(text_of(piece, "old_string", "old_str", "oldString") for piece in pieces)
    return found if all(found) else ()


def id_of_command(command: str) -> str:
    """A call id for clients without one: the same before and after the command."""
    from zlib import crc32

    data = command.encode("utf-8", "replace")
    return f"{crc32(data):08x}-{len(data)}"


def event_of_tool(kind: str, *, is_before: bool) -> str:
    """Our event for a tool call; "" if it does not concern us."""
    if is_before:
        return "" if kind == READ else _BEFORE.get(kind, hooks.BEFORE_OTHER)
    return _AFTER.get(kind, hooks.AFTER_OTHER)


# -- patches ----------------------------------------------------------------------------------

_HEADS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")


def patch_paths(text: str) -> tuple[str, ...]:
    """The files in an `apply_patch` text; a moved one with both names."""
    found = []
    for line in text.split("\n"):
        if line.startswith("*** "):
            found += [line[len(head) :].strip() for head in _HEADS if line.startswith(head)]
    return usable(found)


def patch_is_whole(text: str) -> bool:
    """Does it write a whole file, even over an existing one?"""
    return "*** Add File: " in text


def patch_replaced(text: str) -> tuple[str, ...]:
    """The text that each hunk replaces, if the patch only updates one file; else ()."""
    hunks: list[list[str]] = [[]]
    heads = 0
    for line in text.split("\n"):
        if line.startswith("*** "):
            heads += line.startswith(_HEADS)
        elif line.startswith("@@"):
            hunks.append([])
        elif line[:1] in (" ", "-"):
            hunks[-1].append(line[1:])
    if heads != 1 or "*** Update File: " not in text:
        return ()
    return tuple("\n".join(hunk) for hunk in hunks if hunk)


def patch_old_text(text: str) -> str:
    """The first line that a patch removes, to locate the edit."""
    for line in text.split("\n"):
        if line.startswith("-") and len(line) > 1:
            return line[1:2_000]
    return ""
