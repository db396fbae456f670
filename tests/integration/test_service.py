"""`serve` as a service of the user: what is written, as systemd itself reads it, and what is started."""

from __future__ import annotations

import os
import plistlib
import pwd
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.serve.installing import install, launchd_list, plan, systemd_unit, uninstall
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.starting import init_repo
from tests.repository import TemporaryRepo
from tests.world import refused

SYSTEMD = Path("/lib/systemd/systemd")
NASTY = "a $HOME $$ %n %% \"quoted\" back\\slash 'single' #;& ünï"


class Machine:
    """A clone, and a stand-in for systemctl: the real one would start services of whoever runs the tests."""

    def __init__(self, repo: Repo, home: Path) -> None:
        self.repo, self._bin = repo, home / "bin"
        self._bin.mkdir()
        self.calls = home / "calls"
        self.environ = {"HOME": str(home), "PATH": f"{self._bin}:{os.defpath}"}

    def has_systemctl(self, *, fails_at: str = "nothing") -> None:
        program = self._bin / "systemctl"
        program.write_text(
            f'#!/bin/sh\necho "$*" >>{shlex.quote(str(self.calls))}\n'
            f'case "$*" in *{fails_at}*) echo "Failed to connect to bus." >&2; exit 1;; esac\n'
        )
        program.chmod(0o755)

    def called(self) -> list[str]:
        """The verbs since the last question."""
        found = self.calls.read_text().splitlines() if self.calls.exists() else []
        self.calls.unlink(missing_ok=True)
        assert all(line.startswith("--user ") for line in found)
        return [line.split()[1] for line in found]

    @property
    def units(self) -> list[Path]:
        return sorted(Path(self.environ["HOME"], ".config").rglob("*.service"))


@pytest.fixture
def machine(repo: TemporaryRepo, tmp_path: Path) -> Iterator[Machine]:
    init_repo(str(repo.path), repo.environment)
    opened = open_repo(str(repo.path), repo.environment)
    yield Machine(opened, tmp_path / "home")
    opened.close()


def read_by_systemd(unit: bytes, directory: Path) -> dict[str, str]:
    """Values of the unit after systemd has parsed it. It does so only for users other than root."""
    if not SYSTEMD.exists():
        pytest.skip("there is no systemd here")
    config, runtime = directory / "config", directory / "runtime"
    (config / "systemd" / "user").mkdir(parents=True)
    runtime.mkdir(mode=0o700)
    (config / "systemd" / "user" / "ours.service").write_bytes(unit)
    before: list[str] = []
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody").pw_uid
        os.chown(runtime, nobody, -1)
        for place in (directory, *directory.parents):
            if place.stat().st_mode & 0o055 != 0o055 and place != Path("/"):
                place.chmod(place.stat().st_mode | 0o055)
        before = ["setpriv", f"--reuid={nobody}", "--clear-groups"]
    environ = {
        "PATH": os.defpath,
        "XDG_CONFIG_HOME": str(config),
        "XDG_RUNTIME_DIR": str(runtime),
        "HOME": "/",
    }
    words = [
        *before,
        str(SYSTEMD),
        "--user",
        "--test",
        "--no-pager",
        "--log-target=console",
        "--unit=ours.service",
    ]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=60, check=False)
    _, there, mine = done.stdout.partition("-> Unit ours.service:")
    assert there, done.stderr
    pairs = (line.strip().partition(": ") for line in mine.partition("-> Unit ")[0].splitlines())
    return {key: value for key, _, value in pairs if value}


def test_systemd_reads_every_path_as_it_is(tmp_path: Path) -> None:
    root = f"/srv/{NASTY}"
    command = [sys.executable, "-m", "lineclear", "-C", root]
    unit = systemd_unit(root, f"{root}/.git/lineclear", command, {"PATH": f"/bin:/{NASTY}"})
    found = read_by_systemd(unit, tmp_path)
    # What systemd shows is quoted for a shell; `$$` becomes `$` when it starts the command.
    shown = found["Command Line"].replace("\\$", "$")
    words = [word.replace("$$", "$") for word in shlex.split(shown)]
    assert words == command
    assert found["Environment"] == f"PATH=/bin:/{NASTY}"
    assert found["ConditionPathIsDirectory"].removesuffix(" untested") == f"{root}/.git/lineclear"
    assert found["Description"] == f"lineclear for {root}"
    assert found["Restart"] == "on-failure"


def test_systemd_finds_nothing_to_complain_about(machine: Machine, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd here")
    machine.has_systemctl()
    path = install(machine.repo, machine.environ)["path"]
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    environ = {**machine.environ, "XDG_RUNTIME_DIR": str(runtime)}
    done = subprocess.run(
        [analyze, "--user", "verify", path], env=environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_it_is_written_enabled_and_started_and_again_changes_nothing(machine: Machine) -> None:
    machine.has_systemctl()
    first = install(machine.repo, machine.environ)
    assert machine.called() == ["stop", "enable", "daemon-reload", "start"]
    [unit] = machine.units
    assert (str(unit), unit.read_text()) == (first["path"], first["text"])
    assert first["changed"]
    again = install(machine.repo, machine.environ)
    assert (again["changed"], again["text"]) == (False, first["text"])
    assert machine.called() == ["enable", "daemon-reload", "start"]


def test_a_service_that_was_written_otherwise_is_started_anew(machine: Machine) -> None:
    machine.has_systemctl()
    install(machine.repo, machine.environ)
    machine.called()
    machine.environ["LINECLEAR_PERSON"] = "sam"
    assert install(machine.repo, machine.environ)["changed"]
    assert machine.called()[0] == "stop"
    assert 'Environment="LINECLEAR_PERSON=sam"' in machine.units[0].read_text()


def test_taken_away_nothing_is_left_and_again_that_is_fine(machine: Machine) -> None:
    machine.has_systemctl()
    install(machine.repo, machine.environ)
    machine.called()
    assert uninstall(machine.repo, machine.environ)["removed"]
    assert (machine.called(), machine.units) == (["stop", "disable", "daemon-reload"], [])
    assert not uninstall(machine.repo, machine.environ)["removed"]
    assert machine.called() == []


def test_without_anybody_to_start_services_nothing_is_written(machine: Machine) -> None:
    machine.environ["PATH"] = str(machine.repo.layout.worktree)
    with refused("service.none"):
        install(machine.repo, machine.environ)
    assert machine.units == []


def test_a_service_that_cannot_be_started_from_here_is_written_and_says_how(machine: Machine) -> None:
    machine.has_systemctl(fails_at="daemon-reload")
    with refused("service.not_started") as caught:
        install(machine.repo, machine.environ)
    assert caught.value.facts["why"] == "Failed to connect to bus"
    assert caught.value.next == f"systemctl --user enable --now {machine.units[0].name}"
    assert machine.called() == ["stop", "enable", "daemon-reload"]


def test_a_service_can_be_taken_away_where_no_manager_answers(machine: Machine) -> None:
    machine.has_systemctl()
    install(machine.repo, machine.environ)
    machine.has_systemctl(fails_at="stop")
    found = uninstall(machine.repo, machine.environ)
    assert (found["removed"], found["notes"], machine.units) == (True, ["Failed to connect to bus"], [])


def test_a_file_of_somebody_else_is_left_alone(machine: Machine) -> None:
    machine.has_systemctl()
    path = Path(plan(machine.repo, machine.environ).path)
    path.parent.mkdir(parents=True)
    path.write_text("[Service]\n")
    for act in (install, uninstall):
        with refused("service.foreign"):
            act(machine.repo, machine.environ)
    assert path.read_text() == "[Service]\n"


def test_secrets_of_the_environment_are_not_written_down(machine: Machine) -> None:
    machine.has_systemctl()
    machine.environ["LINECLEAR_STORE_URL"] = "postgresql://sam:hidden@db/team"
    found = install(machine.repo, machine.environ)
    assert "hidden" not in found["text"]
    assert "LINECLEAR_STORE_URL" in found["notes"][0]


def test_two_clones_of_one_name_are_two_services(machine: Machine, tmp_path: Path) -> None:
    machine.has_systemctl()
    other = TemporaryRepo.create(tmp_path / "elsewhere" / "repo", dict(os.environ))
    init_repo(str(other.path), other.environment)
    opened = open_repo(str(other.path), other.environment)
    names = {plan(repo, machine.environ).label for repo in (machine.repo, opened)}
    opened.close()
    assert len(names) == 2
    assert all(name.startswith("lineclear-repo-") for name in names)


def test_a_path_with_a_line_break_is_refused(machine: Machine, tmp_path: Path) -> None:
    machine.has_systemctl()
    odd = TemporaryRepo.create(tmp_path / "two\nlines", dict(os.environ))
    init_repo(str(odd.path), odd.environment)
    opened = open_repo(str(odd.path), odd.environment)
    with refused("service.place"):
        install(opened, machine.environ)
    opened.close()


def test_the_command_of_the_service_is_one_that_runs(machine: Machine) -> None:
    machine.has_systemctl()
    text = install(machine.repo, machine.environ)["text"]
    [line] = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    words = shlex.split(line.removeprefix("ExecStart="))
    done = subprocess.run(
        [*words, "--help"], env=machine.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "serve" in done.stdout


def test_a_property_list_holds_what_launchd_needs() -> None:
    found = plistlib.loads(launchd_list("lineclear-shop", ["/usr/bin/python3", "-C", NASTY], {"PATH": NASTY}))
    assert found["ProgramArguments"] == ["/usr/bin/python3", "-C", NASTY]
    assert found["EnvironmentVariables"] == {"PATH": NASTY}
    assert (found["RunAtLoad"], found["KeepAlive"]) == (True, {"SuccessfulExit": False})
