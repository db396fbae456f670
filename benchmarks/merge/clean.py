"""Replay merges of real histories: a file that git merges cleanly must come out byte for byte as git made it.

New objects go to a scratch directory; the repositories are only read.
"""

from __future__ import annotations

import os
import subprocess
import tempfile

from benchmarks.merge.cases import merge_with_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def check_clean_merges(mirror: str, merges: int) -> bool:
    """True when a file came out changed. Our own line merge (no git text given) is compared too."""
    from lineclear.merge import merge_texts

    seen = changed = own_differs = own_open = 0
    with tempfile.TemporaryDirectory() as scratch:
        for path, base, left, right in _both_changed(mirror, merges):
            git_text = merge_with_git(scratch, base, left, right)
            if "\n<<<<<<< " in "\n" + git_text:
                continue
            seen += 1
            changed += merge_texts(path, base, left, right, git_text=git_text).text != git_text
            own = merge_texts(path, base, left, right)
            own_open += not own.is_clean
            if own.is_clean and own.text != git_text:
                own_differs += 1
                print(f"  own line merge differs: {path}")
    print(f"{seen} files that git merges: {changed} changed")
    print(f"  without git's text: {own_open} left open, {own_differs} different")
    return bool(changed)


def _both_changed(mirror: str, merges: int) -> Iterator[tuple[str, str, str, str]]:
    for name in sorted(os.listdir(mirror)):
        repository = os.path.join(mirror, name, "repo")
        if os.path.isdir(repository):
            yield from _of_repository(repository, merges)


def _of_repository(repository: str, merges: int) -> Iterator[tuple[str, str, str, str]]:
    rows = _git(repository, "rev-list", "--all", "--merges", "--parents", f"--max-count={merges * 3}").split(
        b"\n"
    )
    for row in rows[::3]:
        words = row.decode().split()
        if len(words) != 3:
            continue
        base = _git(repository, "merge-base", words[1], words[2]).decode().strip()
        if not base:
            continue
        left, right = _changes(repository, base, words[1]), _changes(repository, base, words[2])
        for path in sorted(set(left) & set(right)):
            blobs = [
                _git(repository, "cat-file", "blob", oid)
                for oid in (left[path][0], left[path][1], right[path][1])
            ]
            try:
                texts = [blob.decode() for blob in blobs]
            except UnicodeDecodeError:
                continue
            if left[path][1] != right[path][1] and max(map(len, texts)) < 400_000:
                yield path, texts[0], texts[1], texts[2]


def _changes(repository: str, base: str, side: str) -> dict[str, tuple[str, str]]:
    """Paths that were edited (not added, removed or renamed): old blob, new blob."""
    found = {}
    fields = _git(repository, "diff-tree", "-r", "-z", "--no-renames", "--diff-filter=M", base, side).split(
        b"\0"
    )
    for info, path in zip(fields[::2], fields[1::2], strict=False):
        mode, _, old, new, _ = info.decode().split()
        if mode == ":100644" or mode == ":100755":
            found[path.decode("utf-8", "surrogateescape")] = (old, new)
    return found


def _git(repository: str, *words: str) -> bytes:
    command = ["git", "--git-dir", repository, *words]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
