"""What a commit or a push brings in: its paths, and their texts before and after."""

from __future__ import annotations

import os

from lineclear.git.run import GitFailed, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_EMPTY_TREE = "hash-object", "-t", "tree", "--stdin"
_NAMES = ["--name-only", "-z", "--no-renames"]


def staged_paths(cwd: str, git_dir: str, environ: Mapping[str, str]) -> list[str]:
    """What the commit that is being made changes. Of a merge only what differs from every side: what came
    with the other branch was judged there.

    `git commit -a` and `git commit PATH` use an index of their own, which the hook's environment names.
    """
    env = _index_of(cwd, environ)
    found = _diff_index(cwd, _head(cwd), env)
    for other in _merge_heads(git_dir):
        theirs = set(_diff_index(cwd, other, env))
        found = [path for path in found if path in theirs]
    return found


def staged_new(cwd: str, environ: Mapping[str, str], paths: Sequence[str]) -> list[str]:
    """Those of the paths that the commit which is being made brings in, where there was nothing."""
    env = _index_of(cwd, environ)
    words = ["--literal-pathspecs", "diff-index", "--cached", "--diff-filter=A", *_NAMES, _head(cwd), "--"]
    return _split(git([*words, *paths], cwd, env=env)) if paths else []


def staged_texts(cwd: str, environ: Mapping[str, str], path: str) -> tuple[str, str]:
    """A file before and after the commit that is being made; "" where it is not there."""
    return _text(cwd, f"HEAD:{path}", {}), _text(cwd, f":0:{path}", _index_of(cwd, environ))


def texts_between(cwd: str, base: str, tip: str, path: str) -> tuple[str, str]:
    """A file in two commits; "" where it is not there."""
    return _text(cwd, f"{base}:{path}", {}), _text(cwd, f"{tip}:{path}", {})


def pushed_texts(cwd: str, local: str, landing_ref: str, path: str) -> tuple[str, str]:
    """A file where a pushed branch left the landing branch, and at its tip."""
    base = git(["merge-base", landing_ref, local], cwd, check=False).decode().strip()
    return texts_between(cwd, base, local, path)


def _text(cwd: str, name: str, env: Mapping[str, str]) -> str:
    return git(["cat-file", "blob", name], cwd, env=env, check=False).decode("utf-8", "replace")


def _index_of(cwd: str, environ: Mapping[str, str]) -> dict[str, str]:
    index = environ.get("GIT_INDEX_FILE", "")
    return {"GIT_INDEX_FILE": os.path.join(cwd, index)} if index else {}


def _head(cwd: str) -> str:
    words = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]
    return (
        git(words, cwd, check=False).decode().strip() or git([*_EMPTY_TREE], cwd, input=b"").decode().strip()
    )


def _diff_index(cwd: str, against: str, env: Mapping[str, str]) -> list[str]:
    return _split(git(["diff-index", "--cached", *_NAMES, against, "--"], cwd, env=env))


def _merge_heads(git_dir: str) -> list[str]:
    try:
        with open(git_dir + "/MERGE_HEAD", encoding="ascii") as file:
            return file.read().split()
    except (OSError, UnicodeDecodeError):
        return []


def _split(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]


def pushed_paths(cwd: str, local: str, landing_ref: str) -> list[str]:
    """What commits change that neither the landing branch nor a remote has; of merges as for a commit."""
    if local.strip("0") == "":
        return []
    words = ["log", "--format=", "-c", *_NAMES, local, "--not", "--remotes"]
    if git(["rev-parse", "--verify", "--quiet", landing_ref], cwd, check=False).strip():
        words.append(landing_ref)
    output = git([*words, "--"], cwd).decode("utf-8", "surrogateescape")
    return sorted({path.lstrip("\n") for path in output.split("\0") if path.strip("\n")})


def is_ancestor(cwd: str, commit: str, of: str) -> bool:
    try:
        git(["merge-base", "--is-ancestor", commit, of], cwd)
    except GitFailed:
        return False
    return True


def tracked(cwd: str, paths: Sequence[str]) -> list[str]:
    """Those of the absolute paths below `cwd` that git tracks there."""
    inside = {os.path.relpath(path, cwd): path for path in paths if path.startswith(cwd + "/")}
    if not inside:
        return []
    known = _split(git(["--literal-pathspecs", "ls-files", "-z", "--", *inside], cwd))
    return [inside[path] for path in known if path in inside]
