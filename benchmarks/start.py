"""What one short-lived command costs: `lineclear claim`, and the imports that a hook will need.

Measured as CPU (user + system) of the whole child, so that a busy machine changes it little, and in an
environment as a user has it: the development tools of this repository start things of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from importlib.util import find_spec
from pathlib import Path

from benchmarks.harness import ROOT, Report, at_most, at_most_x, median, scratch, take_turns
from lineclear.settings import load_settings
from tests.architecture.hook_loads import HOOK_MODULES
from tests.repository import TemporaryRepo, clean_environment

TITLE = "start: one-shot commands and imports, CPU of the whole process"
HOOK_CORE = tuple(name for name in HOOK_MODULES if name.startswith("core."))
LAUNCHER = "import sys\nfrom lineclear.__main__ import main\nsys.exit(main())\n"
SHOW_FOREIGN = """
import sys
before = set(sys.modules)
import lineclear
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - sys.stdlib_module_names - {"lineclear"}))
"""


class Times:
    def __init__(self) -> None:
        self.cpu_ms: list[float] = []
        self.wall_ms: list[float] = []


def run(quick: bool) -> Report:
    rounds = 10 if quick else 40
    with scratch() as directory:
        repo, python = installed(directory)
        return _measure(repo, python, rounds)


def installed(directory: str) -> tuple[TemporaryRepo, Path]:
    """A new repository for an agent, and the interpreter of a lineclear that was installed for it."""
    home = Path(directory, "home")
    home.mkdir()
    environment = clean_environment(home) | {"LINECLEAR_AGENT": "bench", "PYTHONDONTWRITEBYTECODE": ""}
    environment.pop("VIRTUAL_ENV", None)
    repo = TemporaryRepo.create(Path(directory, "repo"), environment)
    return repo, _as_installed(Path(directory, "venv"))


def _as_installed(place: Path) -> Path:
    """A virtual environment that holds what `pip install lineclear` brings, and no more."""
    venv.create(place, symlinks=True, with_pip=False)
    packages = next(place.glob("lib/python*/site-packages"))
    (packages / "lineclear").symlink_to(ROOT / "src" / "lineclear")
    for name in ("apsw", "rich"):
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            (packages / name).symlink_to(spec.submodule_search_locations[0])
    (place / "bin" / "lineclear").write_text(LAUNCHER)
    return place / "bin" / "python"


def _measure(repo: TemporaryRepo, python: Path, rounds: int) -> Report:
    bare, claim, hook, version = Times(), Times(), Times(), Times()
    command = [str(python), str(python.parent / "lineclear")]
    _run([*command, "init"], repo, Times())
    core = ", ".join(f"lineclear.{name}" for name in HOOK_CORE)
    program = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); import {core}"
    take_turns(
        rounds + 2,
        lambda _turn: _run([str(python), "-I", "-S", "-c", "pass"], repo, bare),
        lambda turn: _run([*command, "claim", f"src/file{turn}.py"], repo, claim),
        lambda _turn: _run([str(python), "-I", "-S", "-c", program], repo, hook),
        lambda _turn: _run([*command, "--version"], repo, version),
    )
    return _report(bare, claim, hook, version, _foreign(python, repo))


def _run(command: list[str], repo: TemporaryRepo, times: Times) -> None:
    """Run to the end; user + system time of the child, and what the caller waits."""
    began = time.monotonic()
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1)]
    here = os.getcwd()
    os.chdir(repo.path)
    try:
        child = os.posix_spawn(command[0], command, repo.environment, file_actions=actions)
    finally:
        os.chdir(here)
        os.close(null)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        raise RuntimeError(f"{' '.join(command)} ended with status {status}")
    times.wall_ms.append((time.monotonic() - began) * 1_000)
    times.cpu_ms.append((usage.ru_utime + usage.ru_stime) * 1_000)


def _settings_us() -> float:
    """Every command and every hook reads them. The fastest of many: neighbours are in all the others."""
    took_ns = []
    for _ in range(500):
        began_ns = time.perf_counter_ns()
        load_settings(root=os.devnull, local_dir=os.devnull, environ={})
        took_ns.append(time.perf_counter_ns() - began_ns)
    return min(took_ns) / 1_000


def _foreign(python: Path, repo: TemporaryRepo) -> list[str]:
    """Modules from outside the standard library that `import lineclear` brings in."""
    done = subprocess.run(
        [str(python), "-c", SHOW_FOREIGN], env=repo.environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def _report(bare: Times, claim: Times, hook: Times, version: Times, foreign: list[str]) -> Report:
    report = Report()
    # The first two rounds fill caches (bytecode, files) that every later command finds filled.
    floor, name = median(bare.cpu_ms[2:]), "python -I -S -c pass"
    report.add(
        "lineclear claim FILE, CPU", median(claim.cpu_ms[2:]), "ms", beside=(floor, name), target=at_most_x(8)
    )
    report.add(
        "lineclear claim FILE, wall clock",
        median(claim.wall_ms[2:]),
        "ms",
        beside=(median(bare.wall_ms[2:]), name),
    )
    report.add("lineclear --version, CPU", median(version.cpu_ms[2:]), "ms", beside=(floor, name))
    report.add(
        "importing what a hook needs of the core, CPU", median(hook.cpu_ms[2:]), "ms", beside=(floor, name)
    )
    report.add("settings where there are none", _settings_us(), "us", target=at_most(50))
    report.add("foreign modules in `import lineclear`", len(foreign), "", target=at_most(0))
    report.note(
        f"Median of {len(bare.cpu_ms) - 2}; the same interpreter ({sys.version.split()[0]}) in all rows."
    )
    report.note(f"A hook's core: {len(HOOK_CORE)} modules.{f' Foreign: {foreign}.' if foreign else ''}")
    return report
