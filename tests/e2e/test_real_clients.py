"""The real Claude Code, Codex and Gemini CLI, started our way, edit and commit in a linked worktree.

Their model is a script on the loopback: no account, no network. What our readers say about the streams of
these programs is compared with what really happened.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import lineclear
from lineclear.clients.launch import EDIT, FULL, PROMPT_INPUT, Launch, WorkerCommand
from lineclear.clients.registry import start_of, stream_of
from lineclear.core.runs.client_events import (
    Call,
    CallDone,
    Limited,
    NotLoggedIn,
    RunEnd,
    SessionSign,
    Sign,
    Usage,
)
from tests.clients_server import Fault, Model, edit, running_model, say, shell
from tests.conftest import in_ci
from tests.e2e.commandline import CommandLine
from tests.real_clients import NAMES, ClientsMissing, RealClient, real_client, sandbox_works
from tests.repository import TemporaryRepo

PATIENCE_S = 90
PROMPT = "Make the greeting friendlier. " + "Mind the details. " * 10_000  # longer than one word may be

WORK = [
    edit("app.py", 'GREETING = "hi"', 'GREETING = "hello"'),
    shell("git add app.py"),
    shell("git commit --quiet --message=greeting"),
    shell("lineclear task note T-1 halfway"),
    shell("git push origin HEAD:main"),
    say("All done.", tokens_in=2000, tokens_out=70),
]


@dataclass(frozen=True)
class Outcome:
    signs: list[Sign]
    end: RunEnd
    stderr: str

    def of(self, kind: type[Sign]) -> list[Sign]:
        return [sign for sign in self.signs if type(sign) is kind]

    @property
    def session(self) -> str:
        found = self.of(SessionSign)
        assert len(found) == 1, self
        assert isinstance(found[0], SessionSign)
        return found[0].id


class Bench:
    """A repository with a linked worktree, and clients that work in it."""

    def __init__(self, repo: TemporaryRepo, home: Path) -> None:
        self.repo, self.home = repo, home
        repo.git("config", "user.name", "Ada")  # Gemini CLI hides all other settings of git
        repo.git("config", "user.email", "ada@example.invalid")
        repo.commit("Greet", {"app.py": 'GREETING = "hi"\n'})
        line = CommandLine(repo.path, repo.environment)
        line.ok("init")
        line.ok("task", "add", "Greet better")
        self.worktree = repo.add_worktree("ada")

    def client(self, name: str, model: Model) -> RealClient:
        scripts = self.home / "bin"
        if not scripts.exists():
            scripts.mkdir(parents=True)
            source = Path(lineclear.__file__).parents[1]
            words = f'#!/bin/sh\nPYTHONPATH="{source}" exec "{sys.executable}" -m lineclear "$@"\n'
            (scripts / "lineclear").write_text(words)
            (scripts / "lineclear").chmod(0o755)
        path = f"{scripts}{os.pathsep}{self.repo.environment['PATH']}"
        environment = self.repo.environment | {"PATH": path, "LINECLEAR_AGENT": "ada"}
        return real_client(name, model.url("ada"), self.home / name, environment)

    def launch(self, client: RealClient, *, prompt: str = PROMPT, **more: str) -> WorkerCommand:
        """As the supervisor starts it: it may edit here, commit, and use our commands."""
        is_boxed = client.name != "codex" or sandbox_works(client)
        asked = Launch(
            prompt=prompt,
            permissions=EDIT if is_boxed else FULL,
            model=client.model,
            worktree=str(self.worktree),
            git_dir=self.repo.git("rev-parse", "--absolute-git-dir", at=self.worktree),
            common_dir=str(self.repo.path / ".git"),
            command=client.argv,
            **more,
        )
        return start_of(client.name).launch(asked)

    def run(self, client: RealClient, *, prompt: str = PROMPT, **more: str) -> Outcome:
        started = self.launch(client, prompt=prompt, **more)
        assert started.stdin == PROMPT_INPUT
        done = subprocess.run(
            started.argv,
            cwd=self.worktree,
            env=client.env | started.env,
            input=prompt.encode(),
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        reader = stream_of(client.name).reader(str(self.worktree))
        signs = [sign for line in done.stdout.splitlines() for sign in reader.feed(line)]
        for line in done.stderr.splitlines():
            signs += reader.feed(line, is_error_output=True)
        return Outcome(signs, reader.finish(done.returncode), done.stderr.decode()[-2000:])


@pytest.fixture
def bench(repo: TemporaryRepo, tmp_path: Path) -> Bench:
    return Bench(repo, tmp_path / "clients")


@pytest.fixture(params=NAMES)
def start(request: pytest.FixtureRequest, bench: Bench) -> Callable[[Model], RealClient]:
    """Each client in turn, or the test is left out (and fails where everything must be there)."""

    def found(model: Model) -> RealClient:
        try:
            return bench.client(request.param, model)
        except ClientsMissing as missing:
            words = f"NOT TESTED WITH REAL CLIENTS: {missing}"
            if in_ci():
                pytest.fail(words)
            pytest.skip(words)

    return found


Start = Callable[[Model], RealClient]


def test_a_client_edits_and_commits_in_its_worktree_and_uses_our_commands(bench: Bench, start: Start) -> None:
    with running_model({"ada": WORK}) as model:
        outcome = bench.run(start(model), session=str(uuid.uuid4()))
        assert outcome.end.ok, outcome
        assert model.heard("ada", PROMPT[-2000:])
        assert model.heard("ada", "Noted at T-1")
    assert bench.repo.git("log", "--format=%s", "main..ada") == "greeting"
    assert bench.repo.git("status", "--porcelain", at=bench.worktree) == ""
    assert (bench.worktree / "app.py").read_text() == 'GREETING = "hello"\n'


def test_the_reader_sees_what_the_client_did(bench: Bench, start: Start) -> None:
    session = str(uuid.uuid4())
    with running_model({"ada": WORK}) as model:
        client = start(model)
        outcome = bench.run(client, session=session)
    calls = [sign for sign in outcome.signs if isinstance(sign, Call)]
    edits = [call.paths for call in calls if call.is_edit]
    assert edits == [("app.py",)]
    commands = [step.fields["command"] for step in WORK if step.kind == "shell"]
    assert [call.summary for call in calls if call.is_shell] == commands
    assert [sign.ok for sign in outcome.signs if isinstance(sign, CallDone)] == [True] * 4 + [False]
    assert outcome.session == session or client.name == "codex"
    used = outcome.of(Usage)[-1]
    assert isinstance(used, Usage)
    assert (used.tokens_in, used.tokens_out) == (5 * 1000 + 2000, 5 * 50 + 70)


def test_a_session_goes_on_in_a_second_process(bench: Bench, start: Start) -> None:
    steps = [say("I wait."), edit("app.py", 'GREETING = "hi"', 'GREETING = "hello"'), say("Done now.")]
    with running_model({"ada": steps}) as model:
        client = start(model)
        first = bench.run(client, session=str(uuid.uuid4()))
        second = bench.run(client, prompt="Go on.", resume_session=first.session)
        assert second.end.ok, second
        assert second.session == first.session
        assert [asked.holds("I wait.") for asked in model.asked] == [False, True, True]
    assert (bench.worktree / "app.py").read_text() == 'GREETING = "hello"\n'


def test_an_expired_login_is_told_apart(bench: Bench, start: Start) -> None:
    with running_model({"ada": WORK}, {"ada": {0: Fault(401)}}) as model:
        outcome = bench.run(start(model))
    assert (outcome.end.ok, outcome.end.is_login, outcome.end.is_limited) == (False, True, False), outcome
    assert outcome.of(NotLoggedIn)


def test_a_short_outage_is_no_end(bench: Bench, start: Start) -> None:
    with running_model({"ada": [say("Done.")]}, {"ada": {0: Fault(503, times=1)}}) as model:
        outcome = bench.run(start(model))
        assert len(model.asked) == 2
    assert (outcome.end.ok, outcome.end.reason) == (True, ""), outcome


@pytest.mark.parametrize("status", [429, 529])
@pytest.mark.parametrize("start", ["claude", "codex"], indirect=True)
def test_a_limit_that_stays_ends_the_run_as_limited(bench: Bench, start: Start, status: int) -> None:
    with running_model({"ada": WORK}, {"ada": {0: Fault(status)}}) as model:
        outcome = bench.run(start(model))
    assert (outcome.end.ok, outcome.end.is_limited, outcome.end.is_login) == (False, True, False), outcome
    assert outcome.of(Limited)


@pytest.mark.parametrize("start", ["gemini"], indirect=True)
def test_a_client_that_tries_again_for_minutes_says_so_at_once(bench: Bench, start: Start) -> None:
    with running_model({"ada": WORK}, {"ada": {0: Fault(429)}}) as model:
        client = start(model)
        started = bench.launch(client, prompt="Go.")
        reader = stream_of("gemini").reader()
        process = subprocess.Popen(
            started.argv,
            cwd=bench.worktree,
            env=client.env | started.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        with process:
            assert process.stdin is not None
            assert process.stderr is not None
            process.stdin.write(b"Go.")
            process.stdin.close()
            signs = (sign for line in process.stderr for sign in reader.feed(line, is_error_output=True))
            found = next(signs, None)
            os.killpg(process.pid, signal.SIGKILL)
        assert isinstance(found, Limited), reader.finish(process.returncode)
        assert reader.finish(process.returncode).is_limited
