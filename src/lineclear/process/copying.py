"""Bring files of one directory into another: copy or link. First a plan, then one function that does it.

Nothing that is there already is replaced, and nothing is written through a symlink that leads elsewhere.
"""

from __future__ import annotations

import os
import shutil
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

COPY, LINK = "copy", "link"


class Step:
    """One file or directory to bring; `how` is copy or link, `path` is relative to both roots."""

    __slots__ = ("how", "path")

    def __init__(self, how: str, path: str) -> None:
        self.how, self.path = how, path


class CannotBring(Exception):
    """A file could not be brought; `path` says which one, the words say why."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(why)
        self.path = path


def plan_steps(target: str, *, copies: Iterable[str], links: Iterable[str]) -> list[Step]:
    """What is to be done in the target, without what is there already; a path in both lists is linked."""
    linked = list(links)
    steps = [Step(LINK, path) for path in linked]
    steps += [Step(COPY, path) for path in copies if path not in linked]
    return [step for step in steps if _is_ours_to_fill(target, step.path)]


def _is_ours_to_fill(target: str, path: str) -> bool:
    """Not there yet, and no directory above it is a symlink: a branch can hold one that leads outside."""
    if os.path.lexists(f"{target}/{path}"):
        return False
    above = os.path.dirname(f"{target}/{path}")
    return os.path.realpath(above) == os.path.normpath(above)


def apply_steps(source: str, target: str, steps: Iterable[Step]) -> None:
    """Do it; what vanished from the source in the meantime is passed over."""
    for step in steps:
        old, new = f"{source}/{step.path}", f"{target}/{step.path}"
        try:
            os.makedirs(os.path.dirname(new), exist_ok=True)
            if step.how == LINK:
                os.symlink(old, new)
            else:
                _copy(old, new)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise CannotBring(step.path, os.strerror(error.errno or 0)) from error


def _copy(old: str, new: str) -> None:
    """With permissions and times; symlinks stay symlinks; sockets, pipes and devices are left out."""
    mode = os.lstat(old).st_mode
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(old), new)
    elif stat.S_ISREG(mode):
        shutil.copy2(old, new, follow_symlinks=False)
    elif stat.S_ISDIR(mode) and not os.path.lexists(old + "/.git"):  # else another repository or worktree
        os.mkdir(new)
        for name in sorted(os.listdir(old)):
            try:
                _copy(f"{old}/{name}", f"{new}/{name}")
            except FileNotFoundError:
                continue
        shutil.copystat(old, new)
