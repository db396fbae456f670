"""Which values of a setting that needs trust are harmless and need none. On the hook's path."""

from __future__ import annotations

from os.path import dirname, join, normpath


def is_beside(directory: str, root: str) -> bool:
    """Is it in the repository's neighbourhood: beside its root, in a directory that has the root's name and
    then "." or "-" and more, such as shop.worktrees for shop? Elsewhere a program may read or run the files.
    """
    if directory.startswith("~"):
        return False
    own, place = normpath(root), normpath(join(root, directory))
    parent, beside = dirname(own), place[len(own) :]
    return place.startswith(own) and own != parent and beside[:1] in (".", "-") and len(beside) > 1
