"""Turns a typed path into a repo-relative path: the half of path identity that needs the disk.

Symlinks mean their targets, and every worktree of the repository gives the same repo-relative path.
Spelling (case, Unicode form) is left as typed: the rules in core fold it.

A path's worktree is found as git finds it, by the nearest `.git` above it that belongs to this repository. So
nested, new and moved worktrees need no list.
"""

from __future__ import annotations

import os
import stat

from lineclear.core.claims import paths
from lineclear.core.claims.resources import KNOWN, parse_resource, split_scheme
from lineclear.core.words.refusals import refuse
from lineclear.git import layout as layouts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.core.claims.resources import Resource
    from lineclear.git.layout import Layout


class WorktreePaths:
    """Paths of one repository, seen from one of its worktrees."""

    __slots__ = ("_common_dir", "_fold_case", "_git_dirs", "_is_ours", "_nfc", "_prefix", "_worktree_key")

    def __init__(self, layout: Layout, fold_case: bool, nfc: bool) -> None:
        self._fold_case = fold_case
        self._nfc = nfc
        self._common_dir = layout.common_dir
        self._prefix = layout.worktree + "/"
        self._worktree_key = self._key(layout.worktree)
        self._git_dirs = frozenset((self._key(layout.git_dir), self._key(layout.common_dir)))
        self._is_ours: dict[tuple[str, int, int], bool] = {}

    def locate(self, text: str, cwd: str, *, literal: bool = False) -> tuple[str, bool]:
        """(repo-relative POSIX path, is it a directory?) for a path or glob typed in `cwd`.

        With `literal`, text and answer are plain names. Without it, `*` and `?` in both are wildcards unless
        a backslash escapes them. "" is the root of the repository.
        """
        if not text or "\0" in text:
            raise refuse(
                "resource.bad",
                resource=text,
                why="it is empty" if not text else "it contains a control character",
            )
        if literal:
            return self._place(text, text, cwd)
        if paths.is_glob(text):
            return self._place_glob(text, cwd)
        path, is_dir = self._place(paths.unescape(text), text, cwd)
        return paths.escape(path), is_dir

    def resource(self, text: str, cwd: str, schemes: Sequence[str] = ()) -> Resource:
        """The resource that a typed text means.

        A bare path is relative to `cwd`, one with `file:` or `symbol:` to the repository's root.
        `schemes`: those that the repository declares in addition to ours.
        """
        known = (*KNOWN, *schemes)
        scheme, typed = split_scheme(text, known) if ":" in text else ("file", text)
        if scheme not in ("file", "symbol"):
            return parse_resource(text, fold_case=self._fold_case, nfc=self._nfc, schemes=known)
        start = cwd if typed is text else self._prefix[:-1]
        symbol = ""
        if scheme == "symbol":
            cut = typed.find("#", typed.rfind("/") + 1)
            if cut < 1:
                return parse_resource(text)  # raises the refusal
            typed, symbol = typed[:cut], typed[cut:]
        place, is_dir = self.locate(typed, start)
        return parse_resource(
            f"{scheme}:{place or './'}{symbol}", is_dir=is_dir or typed.endswith("/"),
            fold_case=self._fold_case, nfc=self._nfc, schemes=known,
        )  # fmt: skip

    def find(self, name: str, cwd: str) -> tuple[str, str]:
        """(the root of the worktree that contains the plain name, the path below it)."""
        if not name or "\0" in name:
            raise refuse(
                "resource.bad",
                resource=name,
                why="it is empty" if not name else "it contains a control character",
            )
        real, _ = self._resolve(name if name[0] == "/" else f"{cwd}/{name}")
        return self._split_at_root(real, name)

    def _place(self, name: str, shown: str, cwd: str) -> tuple[str, bool]:
        real, is_dir = self._resolve(name if name[0] == "/" else f"{cwd}/{name}")
        return self._split_at_root(real, shown)[1], is_dir

    def _place_glob(self, text: str, cwd: str) -> tuple[str, bool]:
        """Resolve only the directory before the first wildcard; the rest has no place on disk."""
        parts = text.split("/")
        first = next(at for at, part in enumerate(parts) if paths.is_glob(part))
        if ".." in parts[first:]:
            raise refuse("resource.bad", resource=text, why="`..` after a wildcard has no fixed meaning")
        prefix = "/".join(parts[:first]) or ("/" if first else ".")
        path, _ = self._place(paths.unescape(prefix), text, cwd)
        rest = [part for part in parts[first:] if part not in ("", ".")]
        return "/".join([paths.escape(path), *rest] if path else rest), text.endswith("/")

    def _resolve(self, name: str) -> tuple[str, bool]:
        """(the absolute path without symlinks, is it, or was it typed as, a directory?)."""
        if name.startswith(self._prefix):
            found = self._walk(name)
            if found is not None:
                return found
        real = os.path.realpath(name)
        try:
            return real, stat.S_ISDIR(os.lstat(real).st_mode)
        except OSError:
            return real, name.endswith("/")

    def _walk(self, name: str) -> tuple[str, bool] | None:
        """A fast `_resolve` for paths below our own root, which is a real path: one lstat per name. None at
        the first symlink or `..`, which need realpath."""
        at = self._prefix[:-1]
        parts = [part for part in name[len(at) :].split("/") if part and part != "."]
        if ".." in parts:
            return None
        mode = stat.S_IFDIR
        for done, part in enumerate(parts):
            at = f"{at}/{part}"
            try:
                mode = os.lstat(at).st_mode
            except OSError:  # does not exist yet: the rest is taken as typed
                return "/".join([at, *parts[done + 1 :]]), name.endswith("/")
            if stat.S_ISLNK(mode):
                return None
        return at, stat.S_ISDIR(mode)

    def _split_at_root(self, real: str, shown: str) -> tuple[str, str]:
        """The root of the nearest worktree of this repository, and the path below it."""
        root = self._root_above(real, shown)
        path = real[len(root) + 1 :] if root != "/" else real[1:]
        if ".git" in path.lower().split("/"):
            raise refuse(
                "resource.bad", resource=shown, why="it is inside a .git directory, which belongs to git"
            )
        return root, path

    def _root_above(self, real: str, shown: str) -> str:
        place = real
        while True:
            key = self._key(place)
            if key in self._git_dirs:
                raise refuse(
                    "resource.bad", resource=shown, why="it is inside a .git directory, which belongs to git"
                )
            if key == self._worktree_key or self._is_root(place):
                return place
            if place == "/":
                raise refuse("resource.outside", resource=shown, root=self._prefix[:-1])
            place = place[: place.rfind("/")] or "/"

    def _is_root(self, place: str) -> bool:
        """Is this directory the root of one of our repository's worktrees?"""
        link = place + "/.git"
        if not os.access(link, os.F_OK):
            return False
        try:
            found = os.lstat(link)
        except OSError:
            return False
        # The inode number of a file may be reused, so its time counts, too; a directory's time changes with
        # every commit.
        known = (place, found.st_ino, found.st_mtime_ns if stat.S_ISREG(found.st_mode) else 0)
        if known not in self._is_ours:
            self._is_ours[known] = self._belongs(link)
        return self._is_ours[known]

    def _belongs(self, link: str) -> bool:
        git_dir = layouts.linked_git_dir(link) if os.path.isfile(link) else os.path.realpath(link)
        return git_dir is not None and layouts.common_dir_of(git_dir) == self._common_dir

    def _key(self, path: str) -> str:
        """The path for comparison: folded if the file system treats two spellings as one."""
        return paths.fold(path, case=self._fold_case, nfc=self._nfc)
