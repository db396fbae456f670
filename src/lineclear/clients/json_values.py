"""Safe access to other programs' JSON: every result has the expected type, and nothing raises.

A value that is missing or of another type is empty (text, list, object) or -1 (number).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    Given = dict[str, object]

_LARGEST = 1 << 53
_PATH_KEYS = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "target_file", "filename")
_LIST_KEYS = ("paths", "files", "changes")
_PATCH_MARKS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
_MOST_PATHS = 200
_SUMMARY_CHARS = 120
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


@dataclass(frozen=True, slots=True)
class Json:
    """An object in which any part may be missing or of an unexpected type."""

    raw: Given

    def inner(self, *names: str) -> Json:
        value: object = self.raw
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return Json(value if isinstance(value, dict) else {})

    def text(self, name: str) -> str:
        value = self.raw.get(name)
        return value if isinstance(value, str) else ""

    def count(self, name: str) -> int:
        return int(number(self.raw.get(name)))

    def total(self, *names: str) -> int:
        """The sum of the existing numbers; -1 if there is none."""
        known = [value for value in map(self.count, names) if value >= 0]
        return sum(known) if known else -1

    def flag(self, name: str) -> bool:
        return self.raw.get(name) is True

    def value(self, name: str) -> object:
        return self.raw.get(name)

    def list(self, name: str) -> list[Json]:
        value = self.raw.get(name)
        return [Json(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []

    def objects(self) -> Iterator[Json]:
        """The values that are objects themselves."""
        return (Json(value) for value in self.raw.values() if isinstance(value, dict))


def number(value: object) -> float:
    """A number from zero to 2**53, which a double holds exactly; -1 for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= _LARGEST else -1  # type: ignore[operator, return-value]


def one_line(text: str, most_chars: int) -> str:
    """The text on one line, without colours, control characters and lone surrogates, cut with three dots."""
    clean = " ".join(_COLOURS.sub("", text[: most_chars * 4]).split())
    clean = "".join(char if char.isprintable() else "?" for char in clean)
    return clean if len(clean) <= most_chars else clean[: most_chars - 3].rstrip() + "..."


def paths_in(given: object, worktree: str) -> tuple[str, ...]:
    """The paths in the input of a call, in order and without repeats."""
    found: list[str] = []
    if isinstance(given, dict):
        found += [given[key] for key in _PATH_KEYS if isinstance(given.get(key), str)]
        found += [path for key in _LIST_KEYS for path in _paths_of_list(given.get(key))]
        found += [path for value in given.values() for path in _paths_of_patch(value)]
    elif isinstance(given, str):
        found += _paths_of_patch(given)
    named = dict.fromkeys(_relative(one_line(path, 1000), worktree) for path in found[:_MOST_PATHS])
    return tuple(path for path in named if path)


def summary_of(tool: str, given: object, paths: tuple[str, ...]) -> str:
    """A short summary for a person: the command, else the tool with its paths, else with its first text."""
    fields: Given = given if isinstance(given, dict) else {"input": given}
    command = fields.get("command") or fields.get("cmd")
    if isinstance(command, list):
        command = " ".join(str(word) for word in command[:50])
    if isinstance(command, str) and command.strip():
        return one_line(command, _SUMMARY_CHARS)
    first = next((value for value in fields.values() if isinstance(value, str) and value.strip()), "")
    about = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    return one_line(f"{tool} {about or first}", _SUMMARY_CHARS)


def _paths_of_list(value: object) -> list[str]:
    items = value[:_MOST_PATHS] if isinstance(value, list) else []
    named = [item.get("path") if isinstance(item, dict) else item for item in items]
    return [path for path in named if isinstance(path, str)]


def _paths_of_patch(value: object) -> list[str]:
    """The files in a patch of the form that Codex and others use."""
    if not isinstance(value, str) or "*** " not in value:
        return []
    lines = value[:1_000_000].splitlines()
    return [line[len(mark) :] for line in lines for mark in _PATCH_MARKS if line.startswith(mark)]


def _relative(path: str, worktree: str) -> str:
    root = worktree.rstrip("/")
    if root and path.startswith(root + "/"):
        return path[len(root) + 1 :]
    return path.removeprefix("./")
