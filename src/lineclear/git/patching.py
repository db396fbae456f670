"""A patch of one file, applied to its content by git, in a directory of its own. Touches no repository."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

from lineclear.git.run import git


class NotApplied(Exception):
    """In words: why not."""


def apply_patch(path: str, content: bytes | None, patch: bytes) -> bytes | None:
    """The file's new content; None where there is no file, before or after. GitFailed has git's own words."""
    with TemporaryDirectory(prefix="lineclear-") as directory:
        place = os.path.join(directory, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if content is not None:
            with open(place, "wb") as file:
                file.write(content)
        # Whatever repository the directory for temporary files may lie in is none of this one's.
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
