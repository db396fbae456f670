"""JSON of hooks: input read with care, since anything may stand in it, and answers as one line."""

from __future__ import annotations

from lineclear.core.agents import hooks
from lineclear.core.agents.hooks import MOST_PATHS
from lineclear.core.quick_json import write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EDIT, WRITE, READ, SHELL, PATCH = "edit", "write", "read", "shell", "patch"

# Names of arguments under which tools are given a path, or several.
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
    """An answer; nothing to say is no line at all."""
    return (write_json(said) + "\n").encode("utf-8", "replace") if said else b""


def text_of(data: dict[str, Any], *keys: str) -> str:
    """The first of these that is a text, else ""."""
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
    """Every path that a tool's arguments name, bounded, each once."""
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
    """Every piece of text that an edit replaces; empty when one of them is not known."""
    edits = given.get("edits")
    pieces = [edit for edit in edits if type(edit) is dict] if type(edits) is list else [given]
    found = tuple(text_of(piece, "old_string", "old_str", "oldString") for piece in pieces)
    return found if all(found) else ()


def id_of_command(command: str) -> str:
    """For a client whose calls have none: the same before a command and after it."""
    from zlib import crc32

    data = command.encode("utf-8", "replace")
    return f"{crc32(data):08x}-{len(data)}"


def event_of_tool(kind: str, *, is_before: bool) -> str:
    """Our word for a call of a tool; "" for one that needs no attention then."""
    if is_before:
        return "" if kind == READ else _BEFORE.get(kind, hooks.BEFORE_OTHER)
    return _AFTER.get(kind, hooks.AFTER_OTHER)


# -- patches ----------------------------------------------------------------------------------

_HEADS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")


def patch_paths(text: str) -> tuple[str, ...]:
    """The files that an `apply_patch` text names, moved ones under both names."""
    found = []
    for line in text.split("\n"):
        if line.startswith("*** "):
            found += [line[len(head) :].strip() for head in _HEADS if line.startswith(head)]
    return usable(found)


def patch_is_whole(text: str) -> bool:
    """Does it write a whole file, over whatever is there?"""
    return "*** Add File: " in text


def patch_replaced(text: str) -> tuple[str, ...]:
    """The text that each part of a patch of one file replaces; empty where it does more than that."""
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
    """The first line that a patch takes away, as a place to look for."""
    for line in text.split("\n"):
        if line.startswith("-") and len(line) > 1:
            return line[1:2_000]
    return ""
