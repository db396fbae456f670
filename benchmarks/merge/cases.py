"""Merge cases on disk: a directory each, with base, left, right, resolved (what people made), meta.json."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Case:
    __slots__ = ("id", "path", "category", "language", "base", "left", "right", "resolved", "git_text")

    def __init__(self, meta: dict[str, Any], texts: dict[str, str], git_text: str) -> None:
        self.id: str = meta["id"]
        self.path: str = meta["path"]
        self.category: str = meta["category"]
        self.language: str = meta.get("stratum") or meta.get("language") or "other"
        self.base, self.left, self.right = texts["base"], texts["left"], texts["right"]
        self.resolved = texts["resolved"]
        self.git_text = git_text


def load_cases(directory: str, only: str = "") -> Iterator[Case]:
    with tempfile.TemporaryDirectory() as scratch:
        for name in sorted(os.listdir(directory)):
            folder = os.path.join(directory, name)
            if not os.path.isfile(os.path.join(folder, "meta.json")):
                continue
            with open(os.path.join(folder, "meta.json"), encoding="utf-8") as file:
                meta = json.load(file)
            if only and only not in meta["id"] and only not in meta["path"] and only not in meta["category"]:
                continue
            texts = {
                part: _read(os.path.join(folder, part)) for part in ("base", "left", "right", "resolved")
            }
            yield Case(meta, texts, merge_with_git(scratch, texts["base"], texts["left"], texts["right"]))


def merge_with_git(scratch: str, base: str, left: str, right: str) -> str:
    """What `git merge-file` writes, with markers where it found conflicts."""
    paths = []
    for part, text in (("left", left), ("base", base), ("right", right)):
        paths.append(os.path.join(scratch, part))
        with open(paths[-1], "w", encoding="utf-8", newline="") as file:
            file.write(text)
    words = ["git", "merge-file", "-p", "-q", "-L", "ours", "-L", "base", "-L", "theirs", *paths]
    return subprocess.run(words, stdout=subprocess.PIPE, check=False).stdout.decode()


def _read(path: str) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()
