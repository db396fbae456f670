"""Install `serve` as a user service, one for each clone: it starts at login and restarts after a failure.

Linux with systemd; macOS with launchd, which is untested. `plan` says what to write and run.
"""

from __future__ import annotations

import os
import plistlib
import sys
from dataclasses import KW_ONLY, dataclass
from hashlib import sha256
from shutil import which
from typing import TYPE_CHECKING

from lineclear.clients.templating import fill
from lineclear.core.words.computed.serve import not_started
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.host import server_address
from lineclear.host.commands import run_to_end
from lineclear.host.files import write_atomically
from lineclear.settings import VARIABLES
from lineclear.wiring.repo import settings_root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from lineclear.wiring.repo import Repo

_TEMPLATES = os.path.join(os.path.dirname(__file__), "templates")
SYSTEMD, LAUNCHD = "systemd", "launchd"
MARK = b"lineclear serve --install"
# Variables that the service inherits; secrets do not belong in such a file.
_CARRIED = ("PATH", "LINECLEAR_PERSON")
_MOST_NAME = 40
_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class SystemService:
    """The file to write, and the commands that start and end the service.

    `clears` end a service that runs with the old file; they may fail. The last of `ends` runs after the file
    is removed.
    """

    manager: str
    label: str
    path: str
    text: bytes
    _: KW_ONLY
    clears: list[list[str]]
    starts: list[list[str]]
    ends: list[list[str]]


def install(repo: Repo, environ: Mapping[str, str]) -> dict[str, Any]:
    """Write the service file, or update it, and start the service; return a report."""
    service = plan(repo, environ)
    before = _read(service.path)
    if before is not None and MARK not in before:
        raise refuse("service.foreign", path=service.path)
    is_changed = before != service.text
    notes = _notes(repo, environ, is_first=before is None)
    if is_changed:
        _write(service)
    for words in service.clears if is_changed else ():
        _try(words, environ)
    for words in service.starts:
        _run(service, words, environ)
    return {
        "manager": service.manager,
        "service": service.label,
        "path": service.path,
        "changed": is_changed,
        "text": service.text.decode(),
        "notes": notes,
    }


def uninstall(repo: Repo, environ: Mapping[str, str]) -> dict[str, Any]:
    """End the service and remove its file, if there is one; return a report."""
    service = plan(repo, environ)
    before = _read(service.path)
    if before is not None and MARK not in before:
        raise refuse("service.foreign", path=service.path)
    notes = []
    if before is not None:
        for words in service.ends[:-1]:
            notes += _try(words, environ)
        os.unlink(service.path)
        notes += _try(service.ends[-1], environ)
    return {
        "manager": service.manager,
        "service": service.label,
        "path": service.path,
        "removed": before is not None,
        "notes": notes,
    }


def service_file(repo: Repo, environ: Mapping[str, str]) -> str:
    """The file of the service that `install` made; "" if there is none."""
    try:
        service = plan(repo, environ)
    except Refusal:
        return ""  # this machine has no service manager
    before = _read(service.path)
    return service.path if before is not None and MARK in before else ""


def plan(repo: Repo, environ: Mapping[str, str]) -> SystemService:
    root, path = settings_root(repo.layout), environ.get("PATH", os.defpath)
    command = [sys.executable, "-P", "-m", "lineclear", "serve", "-C", root]
    carried = {name: environ[name] for name in _CARRIED if environ.get(name)}
    label = _label(root, repo.layout.common_dir)
    home = environ.get("HOME") or os.path.expanduser("~")
    for text in (*command, *carried.values(), repo.state_directory):
        if "\n" in text or "\r" in text or not _is_text(text):
            raise refuse("service.place", path=text)
    if systemctl := which("systemctl", path=path):
        config = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        place = f"{config}/systemd/user/{label}.service"
        unit = systemd_unit(root, repo.state_directory, command, carried)
        return _for_systemd(systemctl, label, place, unit)
    if launchctl := which("launchctl", path=path):
        return _for_launchd(launchctl, label, home, command, carried)
    raise refuse("service.none")


def _label(root: str, common_dir: str) -> str:
    """Readable, and different for each clone."""
    plain = "".join(
        ch if ch.isascii() and (ch.isalnum() or ch in "._-") else "-" for ch in os.path.basename(root)
    )
    digest = sha256(os.fsencode(common_dir)).hexdigest()[:8]
    return f"lineclear-{plain[:_MOST_NAME] or 'repo'}-{digest}"


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# -- systemd ------------------------------------------------------------------------------------


def systemd_unit(root: str, state: str, command: Sequence[str], environ: Mapping[str, str]) -> bytes:
    # systemd expands `$` in every word of a command but the first.
    words = [_quoted(command[0]), *(_quoted(word.replace("$", "$$")) for word in command[1:])]
    text = fill(
        "systemd.service",
        directory=_TEMPLATES,
        PLACE=_plain("".join(ch if ch.isprintable() else " " for ch in root)),
        STATE=_plain(state),
        COMMAND=" ".join(words),
        ENVIRONMENT="\n".join(f"Environment={_quoted(f'{name}={value}')}" for name, value in environ.items()),
    )
    return text.encode()


def _plain(text: str) -> str:
    """Escape percent signs, which systemd would expand."""
    return text.replace("%", "%%")


def _quoted(text: str) -> str:
    """Quote any text as one word."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return f'"{_plain(escaped)}"'


def _for_systemd(systemctl: str, label: str, path: str, text: bytes) -> SystemService:
    name, user = f"{label}.service", [systemctl, "--user"]
    return SystemService(
        SYSTEMD, name, path, text,
        # `enable` only writes a link, so it works even if no manager is running.
        clears=[[*user, "stop", name]],
        starts=[[*user, "enable", name], [*user, "daemon-reload"], [*user, "start", name]],
        ends=[[*user, "stop", name], [*user, "disable", name], [*user, "daemon-reload"]],
    )  # fmt: skip


# -- launchd ------------------------------------------------------------------------------------


def launchd_list(label: str, command: Sequence[str], environ: Mapping[str, str]) -> bytes:
    return plistlib.dumps(
        {
            "Label": label,
            "ProgramArguments": list(command),
            "EnvironmentVariables": dict(environ),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 5,
            "LineclearNote": f"Written by `{MARK.decode()}`.",
        }
    )


def _for_launchd(
    launchctl: str, label: str, home: str, command: Sequence[str], environ: Mapping[str, str]
) -> SystemService:
    path = f"{home}/Library/LaunchAgents/{label}.plist"
    domain = f"gui/{os.getuid()}"
    bootout = [launchctl, "bootout", f"{domain}/{label}"]
    text = launchd_list(label, command, environ)
    return SystemService(
        LAUNCHD, label, path, text,
        clears=[bootout],
        starts=[[launchctl, "enable", f"{domain}/{label}"], [launchctl, "bootstrap", domain, path]],
        ends=[bootout, [launchctl, "disable", f"{domain}/{label}"]],
    )  # fmt: skip


# -- doing it -----------------------------------------------------------------------------------


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refuse("setup.not_written", path=path, why=error.strerror or str(error)) from error


def _write(service: SystemService) -> None:
    try:
        os.makedirs(os.path.dirname(service.path), exist_ok=True)
        write_atomically(service.path, service.text)
    except OSError as error:
        raise refuse("setup.not_written", path=service.path, why=error.strerror or str(error)) from error


def _run(service: SystemService, words: list[str], environ: Mapping[str, str]) -> None:
    failed = _try(words, environ)
    if failed:
        last = service.starts[-1]
        by_hand = (
            "systemctl --user enable --now " + service.label if service.manager == SYSTEMD else " ".join(last)
        )
        raise not_started(service.path, failed[0], by_hand)


def _try(words: list[str], environ: Mapping[str, str]) -> list[str]:
    """Run the command; if it fails, return its last line of output."""
    done = run_to_end(words, cwd="/", env=environ, timeout_s=_LIMIT_S)
    if done.code == 0:
        return []
    said = done.tail.strip().splitlines()
    return [said[-1].rstrip(".") if said else f"{os.path.basename(words[0])} ended with {done.code}"]


def _notes(repo: Repo, environ: Mapping[str, str], *, is_first: bool) -> list[str]:
    notes = []
    unseen = sorted(name for name in environ if name in VARIABLES)
    if unseen:
        notes.append(
            f"The service does not see {', '.join(unseen)}: put that into .git/lineclear/local.toml."
        )
    if is_first and server_address.is_held(repo.state_directory):
        notes.append("Another server is already running; the service takes over when it has ended.")
    return notes
