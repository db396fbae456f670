"""The names of this host, of a clone, and of the person at the keyboard."""

from __future__ import annotations

import os

from lineclear.host.clock import boot_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def host_name() -> str:
    """A name of this host until it restarts: locks do not outlive a boot."""
    return boot_id()[:13]


def clone_name(directory: str) -> str:
    """The permanent name of the clone with this state directory, made at the first call."""
    path = os.path.join(directory, "clone")
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        pass
    os.makedirs(directory, mode=0o700, exist_ok=True)
    name = f"clone-{os.urandom(4).hex()}"
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return clone_name(directory)
    with os.fdopen(fd, "w", encoding="ascii") as file:
        file.write(name)
    return name


def person_name(chosen: str, environ: Mapping[str, str]) -> str:
    """The person's name in plain characters: from the variable, the settings or the login name."""
    given = environ.get("LINECLEAR_PERSON") or chosen or environ.get("USER") or environ.get("LOGNAME")
    if given and given.isascii() and given.isalnum():
        return given[:64]
    plain = "".join(ch if (ch.isalnum() and ch.isascii()) or ch in "._-" else "-" for ch in given or "person")
    return plain.strip("-._")[:64] or "person"
