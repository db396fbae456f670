"""The server's address file, which hooks and commands read, and the lock that allows only one `serve` per
clone. While no `serve` holds that lock, `run` may write its own address.

The file may be stale: a reader that cannot reach the server does the work alone. Its lines are host, port,
key, socket, pid and version; a shell reads them, too (clients/templates/hook.sh).
"""

from __future__ import annotations

import os

from lineclear.host.locks import LockFile, is_locked, share

TYPE_CHECKING = False

DIRECTORY, DOOR, LOCK, LOG, PORT, SOCKET = "serve", "door", "lock", "log", "port", "sock"
# The kernel's limit is 108 bytes on Linux and 104 on macOS, including the final zero.
LONGEST_SOCKET_BYTES = 100
_MOST_BYTES = 4096
_INSTANT_S = 0.2


class ServerAddress:
    """How to reach a server: by TCP with the key, or by its socket without a key."""

    __slots__ = ("host", "key", "pid", "port", "socket", "version")

    def __init__(self, host: str, port: int, key: str, socket: str, pid: int, version: str) -> None:
        self.host, self.port, self.key = host, port, key
        self.socket, self.pid, self.version = socket, pid, version

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def directory_of(state_directory: str) -> str:
    return f"{state_directory}/{DIRECTORY}"


def read_address(state_directory: str) -> ServerAddress | None:
    """None if there is no file, or it is not an address of ours."""
    try:
        fd = os.open(f"{state_directory}/{DIRECTORY}/{DOOR}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(fd, _MOST_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    finally:
        os.close(fd)
    lines = text.split("\n")
    if len(lines) < 7 or not lines[1].isdigit() or not lines[4].isdigit():
        return None
    return ServerAddress(lines[0], int(lines[1]), lines[2], lines[3], int(lines[4]), lines[5])


def write_address(state_directory: str, address: ServerAddress) -> None:
    """Replace the file atomically, for this user only. Not synced: a power cut ends the server, too."""
    host, port, pid = address.host, str(address.port), str(address.pid)
    lines = (host, port, address.key, address.socket, pid, address.version, "")
    _write(f"{directory_of(state_directory)}/{DOOR}", "\n".join(lines))


def _write(path: str, text: str) -> None:
    from lineclear.host.files import write_atomically

    data = text.encode("utf-8", "surrogateescape")
    write_atomically(path, data, is_durable=False, mode=0o600, temporary=f"{path}.new")


def remove_address(state_directory: str) -> None:
    try:
        os.unlink(f"{directory_of(state_directory)}/{DOOR}")
    except FileNotFoundError:
        pass


def remembered_port(state_directory: str) -> int:
    """The server's last port, so that addresses in clients' settings stay valid; 0 if there is none."""
    try:
        with open(f"{directory_of(state_directory)}/{PORT}", encoding="ascii") as file:
            text = file.read(8).strip()
    except (OSError, ValueError):
        return 0
    return int(text) if text.isdigit() and 0 < int(text) < 65536 else 0


def remember_port(state_directory: str, port: int) -> None:
    _write(f"{directory_of(state_directory)}/{PORT}", f"{port}\n")


def be_the_only_one(state_directory: str) -> int | None:
    """Take the server lock and return its descriptor; None if another server has it. The kernel frees it when
    the holder ends."""
    directory = directory_of(state_directory)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    lock = LockFile(f"{directory}/{LOCK}")
    # Wait a little: a process that asks whether a server runs holds the lock for an instant.
    return lock.fd if lock.take(_INSTANT_S) else None


def is_held(state_directory: str) -> bool:
    """Does a server run, even if it cannot be reached yet or any more?"""
    return is_locked(f"{directory_of(state_directory)}/{LOCK}")


def announce(state_directory: str, address: ServerAddress) -> None:
    """Write this address, unless it is already there or a `serve` runs, which can do more."""
    fd = os.open(f"{directory_of(state_directory)}/{LOCK}", os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        # While we share the lock, no `serve` can start.
        if share(fd) and not _is_there(state_directory, address):
            write_address(state_directory, address)
    finally:
        os.close(fd)


def withdraw(state_directory: str, address: ServerAddress) -> None:
    """Remove this address, unless a `serve` has written its own, or is about to."""
    fd = os.open(f"{directory_of(state_directory)}/{LOCK}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if share(fd) and _is_there(state_directory, address):
            remove_address(state_directory)
    finally:
        os.close(fd)


def _is_there(state_directory: str, address: ServerAddress) -> bool:
    found = read_address(state_directory)
    return found is not None and found.key == address.key


def socket_place(state_directory: str, runtime_directory: str, name: str = SOCKET) -> str:
    """The path for a socket: beside the address file or, if that is too long, in a private directory."""
    path = f"{directory_of(state_directory)}/{name}"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_BYTES:
        return path
    from hashlib import sha256

    short = sha256(os.fsencode(path)).hexdigest()[:20] + ".sock"
    private = f"{runtime_directory}/lineclear-{os.getuid()}"
    if not runtime_directory or len(os.fsencode(f"{private}/{short}")) > LONGEST_SOCKET_BYTES:
        private = f"/tmp/lineclear-{os.getuid()}"
    os.makedirs(private, mode=0o700, exist_ok=True)
    found = os.lstat(private)
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or not os.path.isdir(private):
        raise PermissionError(f"{private} is not a directory of this user alone")
    return f"{private}/{short}"
