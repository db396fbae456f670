"""Setting up clients, wired: finds the files, asks for the plan, writes it, remembers what was put in.

Everything is planned first and shown; `carry_out` is the one place that changes something.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from contextlib import contextmanager

from lineclear.app.setup.plan import FORMAT, CannotSetUp, Change, Found, Plan
from lineclear.clients import apply_plan as files
from lineclear.clients import text_blocks
from lineclear.clients.registry import SETUP, coding_agents, names_with, setup_of
from lineclear.clients.templating import fill
from lineclear.core import refusals_setup
from lineclear.core.identity import SIGNS
from lineclear.git.gate import tracked
from lineclear.git.layout import find_layout, worktrees
from lineclear.git.pictures import STATUS
from lineclear.git.worktrees import ignored_of
from lineclear.process.files import write_atomically
from lineclear.settings import PREFIX
from lineclear.wiring.repo import read_settings, settings_root, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from lineclear.app.setup.plan import Move
    from lineclear.git.layout import Layout

RECORDS = "setup"
STUB = "hook"


class Site:
    """One clone, as set-up sees it. `root` is the main worktree: settings of the project lie there."""

    __slots__ = ("common_dir", "environ", "home", "is_closed", "roots", "root", "state")

    def __init__(self, layout: Layout, environ: Mapping[str, str]) -> None:
        self.environ, self.common_dir = environ, layout.common_dir
        self.state, self.root = state_directory(layout), settings_root(layout)
        self.roots = [path for _, path in worktrees(layout.common_dir)] or [layout.worktree]
        self.home = environ.get("HOME") or os.path.expanduser("~")
        self.is_closed = read_settings(layout, environ).hooks_on_error == "closed"

    @property
    def stub(self) -> str:
        return f"{self.state}/{STUB}"

    def record_path(self, name: str) -> str:
        return f"{self.state}/{RECORDS}/{name}.json"

    def record(self, name: str) -> dict[str, Any]:
        """What an earlier set-up wrote down; {} when there is none, or none that can be read."""
        data = files.read(self.record_path(name))
        try:
            found = json.loads(data) if data else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) and found.get("format") == FORMAT else {}

    def known(self) -> list[str]:
        """Whatever was set up here, by name."""
        try:
            names = os.listdir(f"{self.state}/{RECORDS}")
        except OSError:
            return []
        return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


class Planned:
    """What will be done for one client, in all worktrees. `record` None: nothing is to be remembered."""

    __slots__ = ("changes", "directories", "name", "notes", "record", "site")

    def __init__(self, site: Site, name: str) -> None:
        self.site, self.name = site, name
        self.changes: list[Change | Move] = []
        self.notes: list[str] = []
        self.directories: list[str] = []
        self.record: dict[str, Any] | None = None

    def take(self, plan: Plan) -> None:
        self.changes += plan.changes
        self.notes += [note for note in plan.notes if note not in self.notes]

    def steps(self) -> list[str]:
        """In words, for whoever looks at it first."""
        return [f"{change.verb} {self._shown(change)}" for change in self.changes]

    def _shown(self, change: Change | Move) -> str:
        to = getattr(change, "to", "")
        return f"{change.path} -> {to}" if to else change.path


def open_site(cwd: str, environ: Mapping[str, str]) -> Site:
    return Site(find_layout(cwd, environ), environ)


def check_name(name: str) -> None:
    if name not in names_with(SETUP):
        raise refusals_setup.client_unknown(name, [*names_with(SETUP), "git-merge"])


# -- plans ------------------------------------------------------------------------------------


def plan_install(
    site: Site, name: str, roots: Sequence[str] | None = None, *, has_server: bool | None = None
) -> Planned:
    """For the main worktree and, where the client needs that, for the others.

    `has_server`: with our MCP server, or without; None: as it was set up before.
    """
    planned, old = Planned(site, name), site.record(name)
    wanted = bool(old.get("server")) if has_server is None else has_server
    record: dict[str, Any] = {"format": FORMAT, "client": name, "server": wanted, "files": {}}
    module = setup_of(name)
    private: list[str] = []
    for root in _roots(site, module.IN_WORKTREES) if roots is None else roots:
        found = _look(site, name, root, old)
        found.has_server = wanted
        plan = _asked(lambda found=found: module.plan_install(found))
        if not found.is_main:
            _leave_tracked(plan, found)
            _say_commit(planned, found)
        planned.take(plan)
        record["files"] |= plan.record.get("files", {})
        private += [os.path.relpath(path, root) for path in plan.private if path.startswith(root + "/")]
    if roots is not None:
        record["files"] = old.get("files", {}) | record["files"]
    _keep_out_of_git(planned, record, old, private)
    if record["files"]:
        _plan_stub(planned)
    planned.directories = files.missing_directories(change.path for change in planned.changes)
    made_before = old.get("directories", [])
    record["directories"] = made_before + [path for path in planned.directories if path not in made_before]
    planned.record = record if record["files"] else None
    return planned


def _leave_tracked(plan: Plan, found: Found) -> None:
    """Tracked files come with a merge; changing them here would put us into somebody's next commit."""
    plan.changes = [change for change in plan.changes if change.path not in found.shared]
    kept = plan.record.get("files", {})
    plan.record["files"] = {path: noted for path, noted in kept.items() if path not in found.shared}


def _say_commit(planned: Planned, found: Found) -> None:
    changed = {change.path for change in planned.changes}
    for path in sorted(os.path.relpath(path, found.root) for path in found.shared):
        note = (
            f"{path} is tracked by git: other worktrees get our part when you commit it and they merge that"
        )
        if note not in planned.notes and f"{planned.site.root}/{path}" in changed:
            planned.notes.append(note)


def plan_remove(site: Site, name: str) -> Planned:
    """Everything that the record names, wherever it is."""
    planned, old = Planned(site, name), site.record(name)
    module = setup_of(name)
    for root in _roots(site, module.IN_WORKTREES):
        found = _look(site, name, root, old)
        plan = _asked(lambda found=found: module.plan_remove(found))
        if not found.is_main:
            _leave_tracked(plan, found)
        planned.take(plan)
    plan, found = Plan(), _look_at(site, site.root, [_exclude(site)], old)
    text_blocks.remove(plan, found, _exclude(site), name)
    planned.take(plan)
    planned.directories = old.get("directories", [])
    others = [other for other in site.known() if other not in (name, "git")]
    if not others and os.path.exists(site.stub):
        planned.changes.append(Change(site.stub, files.read(site.stub), None))
    return planned


def _asked(make: Any) -> Plan:
    try:
        plan: Plan = make()
    except CannotSetUp as error:
        raise refusals_setup.settings_unusable(error.path, error.why) from None
    return plan


def _roots(site: Site, is_everywhere: bool) -> list[str]:
    return [site.root, *(path for path in site.roots if path != site.root)] if is_everywhere else [site.root]


def _look(site: Site, name: str, root: str, record: Mapping[str, Any]) -> Found:
    bare = _found(site, root, record)
    return _look_at(site, root, setup_of(name).files(bare), record)


def _look_at(site: Site, root: str, paths: Sequence[str], record: Mapping[str, Any]) -> Found:
    found = _found(site, root, record)
    # In a worktree that lacks the file a tracked one will come with a merge: then it is not ours to make.
    found.shared = frozenset(tracked(root, paths))
    # Nor is what somebody's branch makes of it a reason to refuse.
    is_left = found.shared if not found.is_main else frozenset()
    found.files = {path: None if path in is_left else _read(path) for path in paths}
    return found


def _read(path: str) -> bytes | None:
    try:
        return files.read(path)
    except OSError as error:
        raise refusals_setup.settings_unusable(path, error.strerror or str(error)) from None


def _found(site: Site, root: str, record: Mapping[str, Any]) -> Found:
    return Found(
        root,
        home=site.home,
        stub=site.stub,
        record=record,
        variables=site.environ,
        is_closed=site.is_closed,
        is_main=root == site.root,
    )


def _exclude(site: Site) -> str:
    return f"{site.common_dir}/info/exclude"


def _keep_out_of_git(
    planned: Planned, record: dict[str, Any], old: Mapping[str, Any], private: Sequence[str]
) -> None:
    """Lines in .git/info/exclude for what we made, unless git ignores it already for another reason."""
    site = planned.site
    wanted = sorted({*private, *(line.removeprefix("/") for line in old.get("excludes", []))})
    fresh = [path for path in wanted if f"/{path}" not in old.get("excludes", [])]
    ignored = set(ignored_of(site.root, fresh)) if fresh else set()
    record["excludes"] = [f"/{path}" for path in wanted if path not in ignored]
    plan = Plan()
    found = _look_at(site, site.root, [_exclude(site)], old)
    text_blocks.install(plan, found, _exclude(site), planned.name, record["excludes"])
    record["files"] |= plan.record.get("files", {}) if record["files"] else {}
    planned.take(plan)


def _plan_stub(planned: Planned) -> None:
    text = stub_text().encode()
    before = files.read(planned.site.stub)
    if before != text:
        planned.changes.append(Change(planned.site.stub, before, text, is_program=True))


def stub_text(python: str = "") -> str:
    """The program that every client's hook ends in: this interpreter, and only the paths it needs."""
    program = fill("templates/hook_program.txt", PATHS=repr(import_paths())).strip()
    status = shlex.join(word for word in STATUS if word != "-z")
    # Who calls, and from where, as the environment says it.
    signs = [name for name in SIGNS if not name.startswith(PREFIX)]
    names = " ".join((*signs, "CLAUDE_PROJECT_DIR", "USER", "LOGNAME"))
    return fill(
        "templates/hook.sh", PYTHON=shlex.quote(python or sys.executable), PROGRAM=shlex.quote(program),
        STATUS=status,
        ASK=shlex.quote(fill("templates/ask_serve.bash", NAMES=names).rstrip("\n")),
        BASH=shlex.quote(shutil.which("bash") or ""),
    )  # fmt: skip


def import_paths() -> list[str]:
    """Where lineclear and its one engine are; `-S` leaves out the rest, and what it costs."""
    import apsw

    import lineclear

    ours = os.path.dirname(os.path.dirname(os.path.abspath(lineclear.__file__)))
    engine = os.path.dirname(os.path.abspath(str(apsw.__file__)))
    if os.path.basename(engine) == "apsw":
        engine = os.path.dirname(engine)
    return list(dict.fromkeys([ours, engine]))


# -- carried out ------------------------------------------------------------------------------


def carry_out(planned: Planned) -> None:
    """First what is remembered, then the files: killed between, `--remove` still knows what to look for."""
    site = planned.site
    try:
        with _alone(site):
            if planned.record is not None:
                write_record(site, planned.name, planned.record)
            files.apply(planned.changes, write_atomically)
            if planned.record is None:
                _forget(site, planned.name)
                files.remove_directories(planned.directories)
    except files.Moved as error:
        raise refusals_setup.settings_moved(error.path, planned.name) from None
    except OSError as error:
        raise refusals_setup.not_written(error.filename or site.state, error.strerror or str(error)) from None


def write_record(site: Site, name: str, record: Mapping[str, Any]) -> None:
    path = site.record_path(name)
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    if files.read(path) != text.encode():
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        write_atomically(path, text.encode())
        os.chmod(path, 0o600)


def _forget(site: Site, name: str) -> None:
    try:
        os.unlink(site.record_path(name))
    except FileNotFoundError:
        pass
    files.remove_directories([f"{site.state}/{RECORDS}"])


@contextmanager
def _alone(site: Site) -> Iterator[None]:
    """One set-up at a time in a clone."""
    import fcntl

    os.makedirs(site.state, mode=0o700, exist_ok=True)
    fd = os.open(f"{site.state}/setup.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


# -- new worktrees, and the whole -------------------------------------------------------------


def equip(layout: Layout, environ: Mapping[str, str], root: str) -> list[str]:
    """A worktree that was just made gets what this repository's clients read in it; gives their names."""
    if not os.path.isdir(f"{state_directory(layout)}/{RECORDS}"):
        return []
    site = Site(layout, environ)
    done = []
    for name in _known_agents(site):
        if setup_of(name).IN_WORKTREES:
            planned = plan_install(site, name, [root])
            if planned.changes:
                carry_out(planned)
                done.append(name)
    return done


def remove_every(cwd: str, environ: Mapping[str, str]) -> list[str]:
    """For `uninstall`: whatever was set up here is taken out again; says what."""
    from lineclear.wiring import setup_git

    site = open_site(cwd, environ)
    steps: list[str] = []
    for name in site.known():
        if name == setup_git.NAME:
            hooks = setup_git.plan_remove(cwd, environ)
            setup_git.carry_out_hooks(hooks)
            steps += hooks.steps()
        elif name in _known_agents(site):
            planned = plan_remove(site, name)
            carry_out(planned)
            steps += planned.steps()
    return steps


def _known_agents(site: Site) -> list[str]:
    """Those that were set up here, without what a later release may have set up."""
    agents = {client.name for client, _ in coding_agents()}
    return [name for name in site.known() if name in agents]


def listed(site: Site) -> list[dict[str, Any]]:
    """Every client with what holds for it, and whether it is set up here."""
    known = site.known()
    rows: list[dict[str, Any]] = [
        {
            "name": client.name,
            "title": client.title,
            "installed": client.name in known,
            "edits": guarantees.edits,
            "shell": guarantees.shell,
        }
        for client, guarantees in coding_agents()
    ]
    return rows
