"""Writes files atomically, removes trees, measures disk space, and finds the type of a path's file system."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat

from lineclear.host.spawning import output_of

_MOUNTINFO = "/proc/self/mountinfo"
_MOUNT_COMMAND = ("/sbin/mount",)

# Several kernels (other hosts, or a guest and its host) can write to these, and do not share locks and memory
# maps.
_NETWORK_TYPES = (
    "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afpfs", "webdav", "davfs", "ncpfs", "afs",
    "coda", "ceph", "lustre", "beegfs", "gpfs", "glusterfs", "orangefs", "pvfs2", "gfs", "gfs2",
    "ocfs2", "panfs", "9p", "virtiofs", "vboxsf", "vmhgfs", "prl_fs",
)  # fmt: skip
_NETWORK_FUSE = (
    "sshfs", "rclone", "s3fs", "gcsfuse", "goofys", "davfs", "davfs2", "glusterfs", "ceph", "smbnetfs",
    "curlftpfs", "juicefs", "mfs", "moosefs", "seaweedfs", "vmhgfs-fuse", "grpcfuse",
)  # fmt: skip


def write_atomically(
    path: str, data: bytes, *, is_durable: bool = True, mode: int | None = None, temporary: str = ""
) -> None:
    """Replace or create the file as a whole: a reader sees the old content or the new one, never a part.

    `is_durable`: content and name are on the disk when this returns. Without it, a power cut may lose or
    empty the file; use that only for files that can be made again.
    `mode`: the permissions of the file. Without it, an existing file keeps its own.
    `temporary`: where the content is written first, on the same file system. By default a unique name in the
    same directory. Where only one process writes at a time, a fixed name lets the next call replace what a
    killed process left behind.
    A symbolic link is replaced, not followed.
    """
    directory = os.path.dirname(path) or "."
    if temporary:
        _remove(temporary)
    else:
        temporary = f"{directory}/.{os.path.basename(path)[:100]}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    try:
        write_new(temporary, data, is_durable=is_durable, mode=_mode_of(path) if mode is None else mode)
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise
    if is_durable:
        _sync_directory(directory)


def write_new(path: str, data: bytes, *, is_durable: bool, mode: int | None = None) -> None:
    """Create the file and write all of it; fails if anything has that name."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if mode is None else 0o600)
    try:
        if mode is not None:
            os.fchmod(fd, mode)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        if is_durable:
            sync(fd)
    finally:
        os.close(fd)


def sync(fd: int) -> None:
    """Flush to the disk itself: on macOS fsync stops at the drive's cache, F_FULLFSYNC does not."""
    full_sync = getattr(fcntl, "F_FULLFSYNC", None)
    if full_sync is not None:
        try:
            fcntl.fcntl(fd, full_sync)
            return
        except OSError:
            pass  # not every file system supports it
    os.fsync(fd)


def _sync_directory(directory: str) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _mode_of(path: str) -> int | None:
    """The permissions of a plain file; None for others (a symbolic link shows 0777, which nobody chose)."""
    try:
        found = os.stat(path, follow_symlinks=False).st_mode
    except OSError:
        return None
    return found & 0o777 if stat.S_ISREG(found) else None


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


REMOVED = ".removed"


def remove_if_empty(directory: str) -> None:
    try:
        os.rmdir(directory)
    except OSError:
        pass  # it holds other files, or does not exist


def remove_at_once(path: str) -> None:
    """Remove a directory so that a kill leaves it whole, or under another name (`REMOVED` at its end), where
    calling this again finds it."""
    aside = path + REMOVED
    remove_tree(aside)
    if os.path.isdir(path):
        os.rename(path, aside)
        remove_tree(aside)


def remove_tree(path: str) -> None:
    """Remove a file, a link or a directory with everything in it, even below read-only directories (such as
    module caches). Does nothing if the path does not exist."""
    if os.path.islink(path) or not os.path.isdir(path):
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        return
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        pass
    except PermissionError:
        _make_directories_writable(path)
        shutil.rmtree(path)


def _make_directories_writable(path: str) -> None:
    os.chmod(path, stat.S_IRWXU)
    for directory, names, _ in os.walk(path):
        for name in names:
            inner = os.path.join(directory, name)
            if not os.path.islink(inner):
                os.chmod(inner, stat.S_IRWXU)


def leads_out(path: str, root: str) -> bool:
    """Do links lead this path, which begins below the root, to a place outside it?"""
    return not os.path.realpath(path).startswith(os.path.realpath(root) + "/")


def free_bytes(path: str) -> int:
    """The free space for this user on the disk of the path, which need not exist yet."""
    found = os.statvfs(_existing(path))
    return found.f_bavail * found.f_frsize


def used_bytes(path: str) -> int:
    """The disk space used below a directory; does not follow links, and skips files that vanish."""
    total = 0
    for directory, _, names in os.walk(path, onerror=lambda _error: None):
        for name in names:
            try:
                total += os.lstat(os.path.join(directory, name)).st_blocks * 512
            except OSError:
                pass
    return total


def is_open_to_others(directory: str) -> bool:
    """May other users read or write this directory? False if it does not exist."""
    return os.path.isdir(directory) and bool(os.stat(directory).st_mode & 0o077)


def is_network_fs(path: str) -> str | None:
    """The type of the network file system that the path is on; None for a local or unknown one."""
    kind = type_of_mount(_mounts(), os.path.realpath(_existing(path)))
    return kind if is_network_type(kind) else None


def is_network_type(kind: str) -> bool:
    driver, _, subtype = kind.partition(".")
    return kind in _NETWORK_TYPES or (driver.startswith("fuse") and subtype in _NETWORK_FUSE)


def _existing(path: str) -> str:
    path = os.path.abspath(path)
    while not os.path.exists(path) and path != "/":
        path = os.path.dirname(path)
    return path


def type_of_mount(mounts: list[tuple[str, str]], path: str) -> str:
    """The type of the deepest mount above the path; the last one if several have the same mount point."""
    best, best_type = "", ""
    for point, kind in mounts:
        covers = point == "/" or path == point or path.startswith(point + "/")
        if covers and len(point) >= len(best):
            best, best_type = point, kind
    return best_type


def _mounts() -> list[tuple[str, str]]:
    try:
        with open(_MOUNTINFO, encoding="utf-8", errors="surrogateescape") as file:
            return parse_mountinfo(file.read())
    except OSError:
        pass
    try:
        return parse_mount_output(os.fsdecode(output_of(_MOUNT_COMMAND)))
    except OSError:
        return []


def parse_mountinfo(text: str) -> list[tuple[str, str]]:
    """(mount point, type) of each line of Linux's mountinfo."""
    mounts = []
    for line in text.split("\n"):
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if dash and len(fields) > 4:
            mounts.append((_unescape(fields[4]), after.split(" ")[0]))
    return mounts


def _unescape(text: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text


def parse_mount_output(text: str) -> list[tuple[str, str]]:
    """(mount point, type) of each line of BSD's and macOS's `mount`: `WHAT on POINT (TYPE, ...)`."""
    mounts = []
    for line in text.split("\n"):
        _, on, rest = line.partition(" on ")
        point, bracket, options = rest.rpartition(" (")
        if on and bracket:
            mounts.append((point, options.split(",")[0].rstrip(")")))
    return mounts
