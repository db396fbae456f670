"""Commands where the store cannot be written: through a server, with the same words, data and exit codes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lineclear.cli.index import SERVED
from lineclear.core.log.tables import LOG
from lineclear.host.command_frames import OUT, frame
from lineclear.host.server_address import ServerAddress, write_address
from lineclear.wiring.repo import open_repo
from tests.e2e.commandline import Answer, CommandLine
from tests.e2e.serve_peer import HttpPeer, token_for
from tests.e2e.serving import ServeProcess, state_of
from tests.fake_server import FakeServer
from tests.repository import TemporaryRepo
from tests.waiting import PATIENCE_S

Fresh = Callable[[str], str]

# As in a sandbox that refuses every write; says so where the command was done by this process after all.
IN_A_SANDBOX = (
    "import sys; from lineclear.wiring import server_address as door; "
    "door.is_writable = lambda directory: False; "
    "from lineclear.__main__ import main; code = main(); "
    "sys.exit('done here' if 'lineclear.store.sqlite.engine' in sys.modules else code)"
)


class Asking(CommandLine):
    """A command line that cannot write to the store itself."""

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-c", IN_A_SANDBOX, *words]


@pytest.fixture
def served(line: CommandLine) -> ServeProcess:
    return ServeProcess(line)


@pytest.fixture
def asking(shared: ServeProcess) -> Iterator[Asking]:
    asking = Asking(shared.line.place, shared.line.environment)
    yield asking
    asking.end_all()


def alone(asking: CommandLine) -> CommandLine:
    """In the same repository, where the store can be written."""
    return CommandLine(asking.place, asking.environment)


def operations(line: CommandLine) -> list[str]:
    """The operation id of every event."""
    repo = open_repo(str(line.place), line.environment)
    try:
        return [entry.op for entry in repo.store.read(lambda view: list(view.scan(LOG, "key")))]
    finally:
        repo.close()


# -- the same answers -----------------------------------------------------------------------------

# One story, in order; every verb that a server does is in it, and what is refused is compared as well.
STORY: list[str] = [
    "status",
    "",
    "task add 'Login form' --scope src/auth/ --label ui --body 'in full' --as ada",
    "task add 'Login form for users' --after T-1",
    "task add --json third --priority 12",
    "task add 'Zeile für\u200b Zeile \x1b[1m' --as ada",
    "task list",
    "task list --state nonsense",
    "task ready",
    "task next --as codex-1",
    "task next --as codex-1 T-99",
    "task note T-1 'half way' --as codex-1",
    "task show 1",
    "task show none",
    "task edit T-1 --priority 1",
    "task edit T-1",
    "task done T-1 --branch feat/login --as codex-1",
    "task fail T-2 --reason 'no idea'",
    "task reopen T-2",
    "task same T-2 T-3",
    "task cancel T-3 --reason 'not wanted'",
    "task export",
    "claim src/a.py src/b.py --as codex-1 --note 'the form'",
    "claim src/a.py --as codex-2",
    "claim src/a.py --as codex-2 --wait 200ms",
    "claim src/a.py --as codex-2 --wait 10ms --json",
    "claim",
    "claim a --ttl 3days --as codex-2",
    "claim /etc/passwd --as codex-2",
    "claim a.py --as 'no name'",
    "claim a.py --as=codex-1 --key",
    "claim a.py --mode shared --as codex-1 --key K-1",
    "claim a.py --mode shared --as codex-1 --key K-1",
    "claim a.py --mode intent --as codex-1 --key K-1",
    "who src/a.py",
    "who",
    "--json who src/a.py",
    "-C src who ../a.py",
    "-C nowhere who a.py",
    "release src/b.py --as codex-1",
    "release --as codex-1",
    "release --all --as codex-1",
    "release --all --as codex-1",
    "value put limits '{\"a\": 1}' --as codex-1",
    "value put limits '{' --as codex-1",
    "value put limits 2 --version 7 --as codex-1",
    "value get limits",
    "value get nothing",
    "value fork draft limits",
    "value put limits 3 --copy draft",
    "value list",
    "value merge draft",
    "value fork other limits",
    "value drop other",
    "value history limits",
    "value delete limits --version 2",
    "propose file:owned.txt '{\"a\": 1}' --as codex-1",
    "proposal list",
    "proposal show 1",
    "proposal accept 999",
    "proposal reject 999 --reason no",
    "say 'look at T-4' --to codex-1 --as ada",
    "say 'all of you' --as ada --urgent",
    "inbox --as codex-1 --peek",
    "inbox --as codex-1",
    "inbox --as codex-1 --json",
    "inbox --as codex-1 --wait 100ms",
    "topic api --as codex-1",
    "topic api --leave --as codex-1",
    "queue list",
    "queue checks",
    "queue show 7",
    "agent list",
    "agent leave codex-1",
    "log --limit 200 --json",
    "log --before 1 2",
    "log --since soon",
]
MASKS = (
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
    (r"\b\d\d:\d\d UTC", "TIME"),
    (r"\b\d+ min( \d+ s)?|\b\d+ s\b|\bin \d+", "SOON"),
    (r'("(?:seconds_left|idle_seconds|until_ns|at_ns)": )\d+', r"\1N"),
    (r"wait-\d+-\w+", "BOND"),
    (r"  +", "  "),
)


def masked(answer: Answer, place: Path) -> tuple[int, str, str]:
    found = []
    for text in (answer.out, answer.err):
        found.append(text.replace(str(place), "PLACE"))
        for pattern, word in MASKS:
            found[-1] = re.sub(pattern, word, found[-1])
    return answer.code, found[0], found[1]


def test_every_served_verb_is_in_the_story() -> None:
    told = {verb for verb in SERVED for words in STORY if words.startswith(verb)}
    assert told == SERVED


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_every_answer_is_the_one_that_the_command_gives_alone(line: CommandLine, tmp_path: Path) -> None:
    asking = Asking(line.place, line.environment)

    # A name as long as the other: long paths are cut.
    twin = TemporaryRepo.create(tmp_path / "twin", dict(line.environment))
    other = CommandLine(twin.path, line.environment)
    other.ok("init")
    for place in (line.place, twin.path):
        (place / "src").mkdir()
        # A setting that nobody knows is warned of, with every answer.
        (place / "lineclear.toml").write_text("[claims]\nttk = '1h'\n")
    for text in STORY:
        words = shlex.split(text)
        assert masked(asking.run(*words), line.place) == masked(other.run(*words), twin.path), text
    assert line.json("audit")["findings"] == []


def test_an_id_that_nobody_gave_is_not_shown(asking: Asking, fresh: Fresh) -> None:
    asking.ok("say", "hello", "--as", "ada")
    assert operations(asking)[-1].startswith("own:")
    assert "own:" not in asking.ok("log", "--json").out
    assert "replayed" not in asking.ok("claim", fresh("a"), "--as", "ada", "--json").out


def test_the_environment_of_who_asks_counts_and_not_the_servers(line: CommandLine) -> None:
    starter = CommandLine(line.place, {**line.environment, "USER": "starter", "LINECLEAR_CLAIMS_TTL": "2h"})
    ServeProcess(starter)
    asking = Asking(line.place, {**line.environment, "USER": "caller"})
    asking.ok("claim", "a")
    (held,) = asking.json("who", "a")["holders"]
    assert held["agent"] == "caller"
    assert held["seconds_left"] <= 30 * 60
    by_session = asking.run("claim", "b", "--json", env={"CODEX_THREAD_ID": "t-1"}).data
    assert by_session["claims"][0]["agent"] == "codex-1"
    short = asking.run("claim", "c", "--json", env={"LINECLEAR_CLAIMS_TTL": "1m"}).data
    assert short["claims"][0]["seconds_left"] <= 60
    starter.end_all()


def test_a_command_in_a_worktree_and_in_a_directory_is_done_from_there(
    shared_repo: TemporaryRepo, asking: Asking
) -> None:
    tree = shared_repo.add_worktree("desk")
    (tree / "src").mkdir()
    there = Asking(tree / "src", asking.environment)
    assert there.json("claim", "a.py", "--as", "x")["claims"][0]["resource"] == "file:src/a.py"
    assert asking.json("-C", str(tree / "src"), "claim", "b.py", "--as", "x")["claims"][0]["tree"] == "desk"


def test_an_answer_longer_than_a_pipe_holds_arrives_whole(asking: Asking) -> None:
    text, names = "é" * 30_000, [f"long-{number}" for number in range(5)]
    for name in names:
        asking.ok("value", "put", name, json.dumps(text, ensure_ascii=False), "--as", "x")
    values = {value["key"]: value["value"] for value in asking.json("value", "list")["values"]}
    assert [values.get(name) for name in names] == [text] * 5


def test_output_that_cannot_be_written_is_told_as_ever(asking: Asking) -> None:
    with open("/dev/full", "wb") as full:
        for one in (asking, alone(asking)):
            done = subprocess.run(
                one.argv("status"), cwd=one.place, env=one.environment, stdout=full, stderr=subprocess.PIPE,
                check=False,
            )  # fmt: skip
            said = b"The answer could not be written: No space left on device\n"
            assert (done.returncode, done.stderr) == (1, said)


# -- what is not for a server ---------------------------------------------------------------------


def test_a_command_that_can_write_to_the_store_asks_nobody(line: CommandLine) -> None:
    with FakeServer(state_of(line.place), lambda _: b"") as fake:
        line.ok("claim", "a.py", "--as", "ada")
        line.ok("who", "a.py")
    assert fake.asked == []


def test_a_command_is_done_alone_where_the_server_is_not_wanted_or_not_its_like(
    line: CommandLine, served: ServeProcess, tmp_path: Path
) -> None:
    def is_asked(*words: str, **env: str) -> bool:
        answer = Asking(line.place, {**line.environment, **env}).run(*words, stdin="1")
        assert (answer.code, "done here" in answer.err) in ((0, False), (1, True)), answer
        return answer.code == 0

    words = ("who", "a")
    assert is_asked(*words)
    assert is_asked(*words, PYTHONIOENCODING="latin-1")
    assert not is_asked(*words, LINECLEAR_SERVE="0")
    assert not is_asked(*words, GIT_DIR=str(line.place / ".git"))
    assert not is_asked("value", "put", "k", "-")
    assert not is_asked("audit")
    other = TemporaryRepo.create(tmp_path / "other", dict(line.environment))
    CommandLine(other.path, line.environment).ok("init")
    assert not is_asked("-C", str(other.path), *words)
    door = served.door
    write_address(
        state_of(line.place),
        ServerAddress(
            door.host,
            door.port,
            door.key,
            door.socket,
            door.pid,
            "0.0.9",
        ),
    )
    assert not is_asked(*words)
    served.kill()
    write_address(state_of(line.place), door)
    assert not is_asked(*words)


def test_a_server_does_no_command_that_is_not_for_it(shared: ServeProcess, fresh: Fresh) -> None:
    line = shared.line

    def ask(peer: HttpPeer, **more: object) -> tuple[int, bytes]:
        question = {"words": ["who", "a"], "cwd": str(line.place), "environ": {}}
        said = peer.send({**question, **more}, path="/command")
        return said.status, said.body

    by_key = HttpPeer(shared)
    status, body = ask(by_key)
    assert status == 200
    assert body.endswith(b"c 1\n0")
    for words in (["audit"], ["value", "put", "k", "-"], ["propose", "a", "--file=/etc/hostname"], ["serve"]):
        assert ask(by_key, words=words) == (421, b"")
    assert ask(by_key, cwd="/") == (421, b"")
    wrong: dict[str, list[object]] = {"words": ["who a", [1]], "cwd": [1], "environ": [[]]}
    for name, values in wrong.items():
        for value in values:
            assert ask(by_key, **{name: value})[0] == 400
    by_token = HttpPeer(shared, proof=token_for(line, fresh("ada")))
    status, body = ask(by_token)
    assert status == 400
    assert b"a token is valid for tools" in body


# -- waiting --------------------------------------------------------------------------------------


def test_who_gives_up_waiting_leaves_no_place_in_line(asking: Asking, fresh: Fresh) -> None:
    direct, file, name = alone(asking), fresh("a"), fresh("waiter")
    direct.ok("claim", file, "--as", "holder")
    for number in (signal.SIGKILL, signal.SIGINT):
        waiter = asking.start("claim", file, "--wait", "10m", "--as", name)
        direct.until_waiting(name)
        waiter.process.send_signal(number)
        assert waiter.wait() == (130 if number == signal.SIGINT else -9)
        direct.until_waiting()
    assert len(direct.json("log", "--kind", "WaitEnded", "--agent", name)["events"]) == 2


def test_a_waiter_says_at_once_whom_it_waits_for_and_is_served(asking: Asking, fresh: Fresh) -> None:
    direct, file = alone(asking), fresh("a")
    direct.ok("claim", file, "--as", "holder")
    waiter = subprocess.Popen(
        asking.argv("claim", file, "--wait", "10m", "--as", "waiter"), cwd=asking.place,
        env=asking.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert waiter.stderr is not None
    assert waiter.stderr.readline().startswith(f"Waiting: holder holds file:{file} until ")
    direct.ok("release", file, "--as", "holder")
    out, _ = waiter.communicate(timeout=PATIENCE_S)
    assert out.startswith(f"file:{file} is yours (exclusive)")


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_waiter_whose_server_ends_is_told_so_and_stands_in_no_line(
    line: CommandLine, served: ServeProcess, how: str
) -> None:
    line.ok("claim", "a", "--as", "holder")
    waiter = Asking(line.place, line.environment).start("claim", "a", "--wait", "10m", "--as", "waiter")
    line.until_waiting("waiter")
    if how == "killed":
        served.kill()
    else:
        assert served.end() == 0
    assert waiter.wait() == 1
    line.ok("release", "a", "--as", "holder")
    line.ok("claim", "a", "--as", "other")
    assert line.holders("a") == ["other"]
    line.ok("audit")


# -- lost answers ---------------------------------------------------------------------------------

HEAD = b"HTTP/1.1 200 OK\r\n"
LOSSES = [b"", HEAD, HEAD + b"\r\n" + frame(OUT, b"Message 1"), HEAD + b"\r\n1 9\nhalf", b"nonsense\r\n\r\n"]


@pytest.mark.parametrize("answer", LOSSES, ids=["nothing", "half a head", "no code", "half", "no HTTP"])
def test_whose_answer_is_lost_is_told_that_nobody_knows_what_was_done(
    line: CommandLine, answer: bytes
) -> None:
    with FakeServer(state_of(line.place), lambda _: answer) as fake:
        lost = Asking(line.place, line.environment).run("say", "once", "--as", "ada")
    assert len(fake.asked) == 1
    assert (lost.code, lost.out) == (1, "")
    assert lost.err.startswith(
        "The server ended before it answered; whether the command took effect is unknown.\n"
    )
    assert "\nNext: run `lineclear say --key own:" in lost.err


WRITES = [
    ("say", "NEW"),
    ("task", "add", "NEW"),
    ("claim", "NEW"),
    ("value", "put", "NEW", "1", "--version", "0"),
    ("topic", "NEW"),
]


def lose_answer(shared: ServeProcess, *words: str) -> list[str]:
    """As if the server had been killed right after its commit; the words of the next action."""

    def do_and_forget(question: bytes) -> bytes:
        assert HttpPeer(shared).send(question, path="/command").body.endswith(b"c 1\n0")
        return b""

    asking = Asking(shared.line.place, shared.line.environment)
    with FakeServer(state_of(shared.line.place), do_and_forget):
        lost = asking.run(*words, "--json")
    assert lost.code == 1
    error = json.loads(lost.out)["error"]
    assert error["code"] == "serve.lost"
    return shlex.split(error["next"])[1:]


@pytest.mark.parametrize("words", WRITES, ids=" ".join)
def test_what_the_server_did_before_it_was_lost_is_not_done_again(
    shared: ServeProcess, fresh: Fresh, words: tuple[str, ...]
) -> None:
    line, ada, new = shared.line, fresh("ada"), fresh("new")
    again = lose_answer(shared, *(new if word == "NEW" else word for word in words), "--as", ada)
    assert line.ok(*again).data["replayed"] is True
    events = line.json("log", "--agent", ada)["events"]
    assert len({event["kind"] for event in events}) == len(events) >= 2, "it came, and one of each kind"
    line.ok("audit")


def test_messages_that_were_lost_on_the_way_are_given_again(shared: ServeProcess, fresh: Fresh) -> None:
    line, ada = shared.line, fresh("ada")
    line.ok("say", "hello", "--to", ada, "--as", "eve")
    again = lose_answer(shared, "inbox", "--as", ada)
    assert "hello" in line.ok(*again).out
    assert line.ok("inbox", "--as", ada).out == "Nothing unread.\n"


# -- sandboxes ------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap is not installed")
def test_a_client_that_may_not_write_to_the_repository_works_through_the_socket(
    line: CommandLine, served: ServeProcess
) -> None:
    def inside(*words: str) -> subprocess.CompletedProcess[str]:
        box = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net"]
        return subprocess.run(
            [*box, *line.argv(*words)], cwd=line.place, env=line.environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    if inside("--version").returncode != 0:
        pytest.skip("no sandbox works in this place")
    done = inside("claim", "a.py", "--as", "codex-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert line.holders("a.py") == ["codex-1"]
    line.ok("say", "hello", "--to", "codex-1", "--as", "eve")
    assert "> hello" in inside("inbox", "--as", "codex-1").stdout
    assert line.ok("inbox", "--as", "codex-1").out == "Nothing unread.\n"
    served.kill()
    done = inside("claim", "b.py", "--as", "codex-1", "--json")
    assert done.returncode == 4
    assert json.loads(done.stdout)["error"]["code"] == "store.read_only"
    assert "codex-1" in inside("who", "a.py").stdout, "who only reads needs no server"
    assert os.access(state_of(line.place), os.W_OK), "only inside it is read-only"
