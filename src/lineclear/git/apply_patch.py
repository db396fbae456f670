"""Lets git apply a patch to the content of one file, in a temporary directory. Touches no repository."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

from lineclear.git.run import git


class NotApplied(Exception):
    """The message says why."""


def apply_patch(path: str, content: bytes | None, patch: bytes) -> bytes | None:
    """Return the file's new content. None, given or returned, means that the file does not exist.

    Raise NotApplied if the patch changes another file or makes a link, GitFailed if git rejects it.
    """
    with TemporaryDirectory(prefix="lineclear-") as directory:
        place = os.path.join(directory, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if content is not None:
            with open(place, "wb") as file:
                file.write(content)
        # The temporary directory may lie inside some repository: git must not find it.
        env = {"GIT_CEILING_DIRECTORIES": os.path.dirname(directory)}
        rows = git(["apply", "--numstat", "-z"], directory, input=patch, env=env).split(b"\0")[:-1]
        names = {row.split(b"\t", 2)[-1] for row in rows}
        if names != {os.fsencode(path)}:
            raise NotApplied(f"the patch changes more than {path}")
        git(["apply", "--whitespace=nowarn"], directory, input=patch, env=env)
        if os.path.islink(place):
            raise NotApplied("it turns the file into a link")
        if not os.path.isfile(place):
            return None
        with open(place, "rb") as file:
            return file.read()
