"""Set-up of clients, put together: this clone's git, its files, and the table of clients."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from functools import partial
from typing import TYPE_CHECKING

import apsw

import lineclear
from lineclear.app.setup.checking import check_client, check_git, check_merge_driver
from lineclear.app.setup.clone import SetupClone
from lineclear.app.setup.planning import MERGE_DRIVER
from lineclear.clients.machine_probe import MachineProbe
from lineclear.clients.registry import SETUP, names_with, setup_of
from lineclear.clients.setup_files import DiskSetupFiles
from lineclear.clients.templating import fill
from lineclear.core.agents.identity import SIGNS
from lineclear.git.layout import find_layout, worktrees
from lineclear.git.scratch import try_merge_driver
from lineclear.git.setup import RepositorySetupGit
from lineclear.settings import PREFIX
from lineclear.wiring.repo import read_settings, settings_root, state_directory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lineclear.app.setup.ports import SetupModule
    from lineclear.git.layout import Layout


def open_clone(cwd: str, environ: Mapping[str, str]) -> SetupClone:
    return clone_of(find_layout(cwd, environ), environ)


def clone_of(layout: Layout, environ: Mapping[str, str]) -> SetupClone:
    root, state = settings_root(layout), state_directory(layout)
    return SetupClone(
        root=root,
        roots=[path for _, path in worktrees(layout.common_dir)] or [layout.worktree],
        common_dir=layout.common_dir,
        state=state,
        home=environ.get("HOME") or os.path.expanduser("~"),
        variables=environ,
        is_closed=read_settings(layout, environ).hooks_on_error == "closed",
        python=sys.executable,
        git=RepositorySetupGit(layout, root),
        files=DiskSetupFiles(state),
        clients=RegisteredClients(),
    )


def check_setup(clone: SetupClone, name: str) -> dict[str, Any]:
    """Start the real client, with a model that is none, and see whether its hooks come to us."""
    if name not in ("git", MERGE_DRIVER):
        return check_client(clone, name, MachineProbe(clone, name))
    with tempfile.TemporaryDirectory(prefix="lineclear-probe-") as directory:
        if name == MERGE_DRIVER:
            return check_merge_driver(clone, partial(try_merge_driver, directory))
        return check_git(clone, os.path.join(directory, "fired"))


class RegisteredClients:
    """The table of clients, for app/setup."""

    def names(self) -> list[str]:
        return names_with(SETUP)

    def module(self, name: str) -> SetupModule:
        return setup_of(name)

    def stub_text(self) -> str:
        return stub_text()


def stub_text(python: str = "") -> str:
    """The program that every client's hook ends in: this interpreter, and only the paths it needs."""
    program = fill("templates/hook_program.txt", PATHS=repr(import_paths())).strip()
    # Who calls, and from where, as the environment says it.
    signs = [name for name in SIGNS if not name.startswith(PREFIX)]
    names = " ".join((*signs, "CLAUDE_PROJECT_DIR", "USER", "LOGNAME"))
    return fill(
        "templates/hook.sh", PYTHON=shlex.quote(python or sys.executable), PROGRAM=shlex.quote(program),
        ASK=shlex.quote(fill("templates/ask_serve.bash", NAMES=names).rstrip("\n")),
        BASH=shlex.quote(shutil.which("bash") or ""),
    )  # fmt: skip


def import_paths() -> list[str]:
    """Where lineclear and its one engine are; `-S` leaves out the rest, and what it costs."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(lineclear.__file__)))
    engine = os.path.dirname(os.path.abspath(str(apsw.__file__)))
    if os.path.basename(engine) == "apsw":
        engine = os.path.dirname(engine)
    return list(dict.fromkeys([ours, engine]))
