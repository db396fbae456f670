"""Reads lineclear.toml as the landing branch has committed it. On the hook's path: cheap while main stays.

The last answer is kept in the state directory, under main's commit; git is asked only after main has moved.
"""

from __future__ import annotations

import os

from lineclear.git import parse
from lineclear.git.layout import has_reftable, landing_branch, read_text

KEPT = "main-settings"


def main_file(common_dir: str, state_directory: str, landing: str, name: str) -> bytes | None:
    """The file's content, empty if main has none; None if there is no main. `landing`: the branch that the
    settings name, or ""."""
    branch = landing or landing_branch(common_dir)
    if not branch or has_reftable(common_dir):
        return _ask_git(common_dir, f"refs/heads/{branch}" if branch else "HEAD", name)
    ref = f"refs/heads/{branch}"
    commit = read_text(f"{common_dir}/{ref}").strip()
    commit = commit or parse.packed_ref(read_text(common_dir + "/packed-refs", limit=-1), ref)
    if not parse.is_object_id(commit):
        return None
    path, head = f"{state_directory}/{KEPT}", commit.encode() + b"\n"
    try:
        with open(path, "rb", buffering=0) as file:
            kept = file.read() or b""
        if kept.startswith(head):
            return kept[len(head) :]
    except OSError:
        pass
    content = _ask_git(common_dir, commit, name)
    if content is not None:
        _keep(path, head + content)
    return content


def _ask_git(common_dir: str, commit: str, name: str) -> bytes | None:
    from lineclear.git.run import git

    listed = git(["ls-tree", f"{commit}^{{tree}}", "--", name], common_dir, check=False)
    if listed.startswith(b"100"):
        return git(["cat-file", "blob", listed.split()[2].decode()], common_dir, check=False)
    words = ["rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"]
    return b"" if git(words, common_dir, check=False) else None


def _keep(path: str, content: bytes) -> None:
    """Beside a read-only or missing state directory nothing is kept."""
    own = f"{path}.{os.getpid()}"
    try:
        with open(own, "xb") as file:
            file.write(content)
        os.replace(own, path)
    except OSError:
        pass
