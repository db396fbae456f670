"""Hides the files that we write for agents (mirror) from git, by a block of lines in `info/exclude`, and says
whether the repository itself tracks a file of such a name."""

from __future__ import annotations

import os

from lineclear.git.run import GitFailed, git
from lineclear.host.files import write_atomically

HIDDEN = ("/TASKS.md", "/.lineclear/", "*.agent-lock")
_BEGIN, _END = "# lineclear: files for agents", "# lineclear: end"


def hide_agent_files(common_dir: str, *, is_hidden: bool) -> bool:
    """Add our block to `info/exclude`, or remove exactly that block. Return True if the file changed."""
    path = os.path.join(common_dir, "info", "exclude")
    try:
        with open(path, "rb") as file:
            before = file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        before = ""
    after = _without_block(before)
    if is_hidden:
        gap = "" if not after or after.endswith("\n") else "\n"
        after += gap + "\n".join([_BEGIN, *HIDDEN, _END]) + "\n"
    if after == before:
        return False
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_atomically(path, after.encode("utf-8", "surrogateescape"))
    return True


def are_agent_files_hidden(common_dir: str) -> bool:
    try:
        with open(os.path.join(common_dir, "info", "exclude"), encoding="utf-8") as file:
            lines = file.read().split("\n")
    except (OSError, ValueError):
        return False
    return all(line in lines for line in HIDDEN)


def is_tracked(root: str, name: str) -> bool:
    """Does the repository itself track a file of this name?"""
    try:
        return bool(git(["ls-files", "-z", "--", name], root, check=False))
    except GitFailed:
        return True  # unknown: the caller must not overwrite it


def _without_block(text: str) -> str:
    lines = text.splitlines(keepends=True)
    plain = [line.rstrip("\r\n") for line in lines]
    if _BEGIN not in plain or _END not in plain[plain.index(_BEGIN) :]:
        return text
    first = plain.index(_BEGIN)
    last = plain.index(_END, first)
    return "".join(lines[:first] + lines[last + 1 :])
