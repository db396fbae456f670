"""Read and replace small files in a worktree: whole, bounded, and never through a link.

The files can be written again from the store, so nothing waits for the disk.
"""

from __future__ import annotations

import os
import stat

from lineclear.host.files import write_atomically, write_new

PRIVATE = ".lineclear"


def read_small(path: str, most_bytes: int) -> bytes | None:
    """The content of a plain file; None if it does not exist, OSError if it is something else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(f"{path} is not a plain file")
        data = _read_up_to(fd, most_bytes + 1)
    finally:
        os.close(fd)
    if len(data) > most_bytes:
        raise OSError(f"{path} is larger than {most_bytes} bytes")
    return data


def _read_up_to(fd: int, size_bytes: int) -> bytes:
    parts = []
    while size_bytes > 0 and (part := os.read(fd, size_bytes)):
        parts.append(part)
        size_bytes -= len(part)
    return b"".join(parts)


def private_directory(root: str) -> str:
    """The directory for our files in the worktree; never a link, which could lead anywhere."""
    path = os.path.join(root, PRIVATE)
    try:
        os.mkdir(path)
    except FileExistsError:
        if os.path.islink(path) or not os.path.isdir(path):
            raise OSError(f"{path} is not a directory") from None
    return path


def replace(root: str, path: str, data: bytes) -> None:
    """Replace atomically: a reader sees the old or the new content, and git never sees the temporary file."""
    write_atomically(path, data, is_durable=False, temporary=_fresh_name(root))


def replace_and_look(root: str, path: str, data: bytes, expected: bytes | None, most_bytes: int) -> bytes:
    """Replace the file and return its last content: somebody may have written after we read it.

    A second link keeps the old file until we have read it again.
    """
    temporary, kept = _written(root, data), f"{_fresh_name(root)}.old"
    try:
        try:
            os.link(path, kept, follow_symlinks=False)
        except OSError:
            kept = ""  # it did not exist, or this file system has no links
        os.replace(temporary, path)
        found = read_small(kept, most_bytes) if kept else expected
    finally:
        remove(temporary)
        if kept:
            remove(kept)
    return found or b""


def create(root: str, path: str, data: bytes) -> bool:
    """Create the file; False if the name is taken."""
    temporary = _written(root, data)
    try:
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        return False
    finally:
        remove(temporary)
    return True


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _written(root: str, data: bytes) -> str:
    temporary = _fresh_name(root)
    write_new(temporary, data, is_durable=False)
    return temporary


def _fresh_name(root: str) -> str:
    return os.path.join(private_directory(root), f".new-{os.getpid()}-{os.urandom(4).hex()}")
