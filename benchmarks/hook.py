"""What a hook costs an agent: CPU of the whole one-shot process, beside the cheapest process there is.

The first touch of a file in a worktree, the same file again, an edit in a shared tree, the two hooks around a
shell command beside one `git status`, and the first touch in a store that holds many claims.
Then the same with a server beside the repository: what the stub spends, and what the server does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.harness import ROOT, Report, at_most, at_most_x, median, scratch, take_turns
from benchmarks.start import _as_installed
from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims.granting import INTENT, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.git.tree_states import STATUS
from lineclear.wiring.repo import open_repo
from lineclear.wiring.setup import stub_text
from tests.repository import TemporaryRepo, clean_environment

TITLE = "hook: `lineclear hook claude EVENT`, one-shot process, SQLite, CPU"
FILES, MORE_FILES, MANY, FEW = 3_000, 20_000, 10_000, 10
STUB = """
import sys
sys.path[:0] = {paths!r}
import os
from lineclear.hook.entry import run
run(sys.argv[1:], os.environ)
"""


class Bench:
    def __init__(self, directory: Path) -> None:
        home = directory / "home"
        home.mkdir()
        self.environment = clean_environment(home) | {"PYTHONDONTWRITEBYTECODE": "", "CLAUDECODE": "1"}
        self.python = str(_as_installed(directory / "venv"))
        self.stub = directory / "stub.py"
        packages = next((directory / "venv").glob("lib/python*/site-packages"))
        self.stub.write_text(STUB.format(paths=[str(ROOT / "src"), str(packages)]))
        self.directory = directory

    def repo(self, name: str, files: int) -> tuple[TemporaryRepo, Path]:
        repo = TemporaryRepo.create(self.directory / name, self.environment)
        repo.commit("Files", {f"src/d{n % 50}/f{n}.py": f"x = {n}\n" for n in range(files)} or {"a": "a"})
        subprocess.run(
            [self.python, str(Path(self.python).parent / "lineclear"), "init"], cwd=repo.path, check=True,
            env=self.environment, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        tree = repo.add_worktree("desk")
        settle(repo, tree)
        return repo, tree

    def cpu_ms(self, command: list[str], cwd: Path, data: bytes = b"") -> float:
        source = self.directory / "input.json"
        source.write_bytes(data)
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, str(source), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        ]
        here = os.getcwd()
        os.chdir(cwd)
        try:
            child = os.posix_spawn(command[0], command, self.environment, file_actions=actions)
        finally:
            os.chdir(here)
        _, status, usage = os.wait4(child, 0)
        if status:
            raise RuntimeError(f"{command} ended with status {status}")
        return (usage.ru_utime + usage.ru_stime) * 1_000

    def hook(self, event: str, cwd: Path, tool: str, **given: str) -> float:
        data = {
            "session_id": "bench",
            "cwd": str(cwd),
            "tool_name": tool,
            "tool_input": given,
            "tool_use_id": "t",
        }
        command = [self.python, "-I", "-S", str(self.stub), "claude", event]
        return self.cpu_ms(command, cwd, json.dumps(data).encode())

    def installed(self, repo: TemporaryRepo) -> str:
        """The stub, as `setup` makes it."""
        path = repo.path / ".git/lineclear/hook"
        path.write_text(stub_text())
        path.chmod(0o755)
        return str(path)

    def by_stub(self, stub: str, event: str, cwd: Path, path: Path, session: str = "bench") -> float:
        """One call in the words of Claude Code, with a text of usual size."""
        text = 'def check(self):\n    return "x"\n' * 10
        response = {"filePath": str(path), "originalFile": text * 5} if event == "PostToolUse" else None
        data = {
            "session_id": session,
            "transcript_path": "/home/ada/.claude/projects/x/transcript.jsonl",
            "cwd": str(cwd),
            "permission_mode": "default",
            "hook_event_name": event,
            "tool_name": "Edit",
            "tool_input": {"file_path": str(path), "old_string": text, "new_string": text},
        } | ({"tool_response": response} if response else {})
        command = [stub, "claude", event]
        return self.cpu_ms(command, cwd, json.dumps(data, separators=(",", ":")).encode())

    def bare(self, cwd: Path) -> float:
        return self.cpu_ms([self.python, "-I", "-S", "-c", "pass"], cwd)


def run(quick: bool) -> Report:
    rounds = 10 if quick else 40
    report = Report()
    with scratch() as directory:
        bench = Bench(Path(directory))
        _edits(bench, rounds, report)
        for files in (FILES, MORE_FILES):
            _shell(bench, rounds, report, files)
        _served(bench, rounds, report)
        _growth(bench, rounds, report)
        log = list(Path(directory).glob("*/.git/lineclear/hook-errors.log"))
        if log:
            raise RuntimeError(log[0].read_text())
    report.note("A hook's process: interpreter, imports, store, one transaction. Medians, turns taken.")
    return report


def _edits(bench: Bench, rounds: int, report: Report) -> None:
    repo, tree = bench.repo("edits", 10)
    bare: list[float] = []
    first: list[float] = []
    again: list[float] = []
    shared: list[float] = []
    for turn in range(rounds + 2):
        file = f"new{turn}.py"
        bare.append(bench.bare(tree))
        first.append(bench.hook("PreToolUse", tree, "Edit", file_path=str(tree / file), old_string="x"))
        again.append(bench.hook("PreToolUse", tree, "Edit", file_path=str(tree / file), old_string="x"))
        shared.append(bench.hook("PreToolUse", repo.path, "Edit", file_path=str(repo.path / file)))
    floor, name = median(bare[2:]), "python -I -S -c pass"
    report.add("first touch of a file", median(first[2:]), "ms", beside=(floor, name), target=at_most_x(4))
    report.add("the same file again", median(again[2:]), "ms", beside=(floor, name))
    report.add("an edit in a shared tree, before", median(shared[2:]), "ms", beside=(floor, name))


def settle(repo: TemporaryRepo, tree: Path) -> None:
    """Files of the same second as the index are read anew by every `git status`, which would flatter us."""
    time.sleep(1.1)
    repo.git("update-index", "--refresh", "--force-write-index", at=tree)


def _shell(bench: Bench, rounds: int, report: Report, files: int) -> None:
    """What we add is the same for every size of tree; git's own part is not."""
    repo, tree = bench.repo(f"shell{files}", files)
    stub = bench.installed(repo)
    (tree / "src/d1/f1.py").write_text("mine\n")
    status: list[float] = []
    same: list[float] = []
    changed: list[float] = []
    for turn in range(rounds + 2):
        status.append(bench.cpu_ms(["/usr/bin/env", "git", *STATUS], tree))
        same.append(_pair(bench, stub, tree, f"same{turn}", ""))
        changed.append(_pair(bench, stub, tree, f"changed{turn}", f"made{turn % 5}.py"))
    beside = (median(status[2:]), f"git status, {files:,} files")
    report.add("both hooks around a command, no change", median(same[2:]), "ms", beside=beside)
    report.add("both hooks around a command, a change", median(changed[2:]), "ms", beside=beside)


def _pair(bench: Bench, stub: str, tree: Path, call: str, written: str) -> float:
    """Both hooks around one command, which writes a file or nothing."""

    def hook(event: str) -> float:
        data = {
            "session_id": "bench",
            "transcript_path": "/home/ada/.claude/projects/x/transcript.jsonl",
            "cwd": str(tree),
            "hook_event_name": event,
            "tool_name": "Bash",
            "tool_input": {"command": "make test"},
            "tool_use_id": call,
        }
        return bench.cpu_ms([stub, "claude", event], tree, json.dumps(data, separators=(",", ":")).encode())

    before = hook("PreToolUse")
    if written:
        (tree / written).write_text(f"{time.monotonic_ns()}\n")
    return before + hook("PostToolUse")


class Server:
    """`lineclear serve` for one repository, doing nothing but answer."""

    def __init__(self, bench: Bench, repo: TemporaryRepo) -> None:
        quiet = {f"LINECLEAR_SERVE_{work}": "false" for work in ("QUEUE", "SNAPSHOTS", "MIRROR")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lineclear", "serve", "--port", "0"], cwd=repo.path,
            env=bench.environment | quiet, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self._process.stdout is not None
        self._process.stdout.readline()  # it serves

    def cpu_ms(self) -> float:
        """What it and its children have used so far. Known in steps of 10 ms: to be divided by many calls."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) * 1_000 / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def _served(bench: Bench, rounds: int, report: Report) -> None:
    for files in (FILES, MORE_FILES):
        repo, tree = bench.repo(f"served{files}", files)
        stub = bench.installed(repo)
        (tree / "src/d1/f1.py").write_text("mine\n")
        server = Server(bench, repo)
        try:
            if files == FILES:
                _served_edits(bench, server, stub, tree, rounds, report)
            _served_shell(bench, server, (stub, tree, files), rounds, report)
        finally:
            server.close()


def _served_edits(
    bench: Bench, server: Server, stub: str, tree: Path, rounds: int, report: Report
) -> None:  # fmt: skip
    bench.by_stub(stub, "PreToolUse", tree, tree / "begin.py")
    began = server.cpu_ms()
    first = [bench.by_stub(stub, "PreToolUse", tree, tree / f"new{turn}.py") for turn in range(rounds)]
    theirs = (server.cpu_ms() - began) / rounds
    bare = median([bench.bare(tree) for _ in range(rounds)])
    walls: list[float] = []
    for turn in range(rounds):
        at = time.perf_counter()
        bench.by_stub(stub, "PreToolUse", tree, tree / f"more{turn}.py")
        walls.append((time.perf_counter() - at) * 1_000)
    beside = (bare, "python -I -S -c pass")
    mine, whole = median(first), median(first) + theirs
    report.add("served: first touch of a file, by the stub", mine, "ms", beside=beside, target=at_most(10))
    report.add("served: the same with the server's part", whole, "ms", beside=beside, target=at_most(20))
    report.add("served: the same, until the answer is there", median(walls), "ms")


def _served_shell(
    bench: Bench, server: Server, place: tuple[str, Path, int], rounds: int, report: Report
) -> None:
    stub, tree, files = place
    status: list[float] = []
    kinds = {"no change": "", "a change": "made{}.py", "a change that git knows": "src/d{0}/f{0}.py"}
    found: dict[str, tuple[list[float], list[float]]] = {kind: ([], []) for kind in kinds}
    for turn in range(rounds + 2):
        status.append(bench.cpu_ms(["/usr/bin/env", "git", *STATUS], tree))
        for kind, (mine, theirs) in found.items():
            began = server.cpu_ms()
            mine.append(_pair(bench, stub, tree, f"{len(kind)}-{turn}", kinds[kind].format(turn % 5)))
            theirs.append(server.cpu_ms() - began)
    beside = (median(status[2:]), f"git status, {files:,} files")
    for kind, (mine, theirs) in found.items():
        whole = median(mine[2:]) + sum(theirs[2:]) / rounds
        report.add(f"served: both hooks around a command, {kind}", whole, "ms", beside=beside)


def _growth(bench: Bench, rounds: int, report: Report) -> None:
    few, many = bench.repo("few", 10), bench.repo("many", 10)
    for (repo, _), count in ((few, FEW), (many, MANY)):
        _fill(repo, bench, count)
    times: dict[str, list[float]] = {"few": [], "many": []}

    def touch(name: str, tree: Path, turn: int) -> None:
        path = str(tree / f"src/n{turn}.py")
        times[name].append(bench.hook("PreToolUse", tree, "Edit", file_path=path, old_string="x"))

    take_turns(rounds + 2, lambda turn: touch("few", few[1], turn), lambda turn: touch("many", many[1], turn))
    beside = (median(times["few"][2:]), f"with {FEW} claims")
    report.add(
        f"first touch with {MANY:,} claims",
        median(times["many"][2:]),
        "ms",
        beside=beside,
        target=at_most_x(1.2),
    )


def _fill(repo: TemporaryRepo, bench: Bench, count: int) -> None:
    opened = open_repo(str(repo.path), bench.environment)
    try:
        for start in range(0, count, 100):
            texts = [f"file:lib{n % 97}/a{n}.py" for n in range(start, min(count, start + 100))]
            request = Request(
                "filler", "main", INTENT, [parse_resource(text) for text in texts], ttl_ms=86_000_000
            )
            claims.ask(opened.store, NobodyDies(), Caller("filler"), request)
    finally:
        opened.close()
