"""The documentation tells the truth: the reference is complete, links lead somewhere, examples run.

An example is a fenced `console` block. `$ ` is the person's terminal, `ada$ ` the one of the agent ada;
what follows a command is what it printed. Times, durations, sizes and widths of columns may differ, a
`...` stands for anything. A block called `console waiting` starts a command that waits; its output is a
later block without a prompt. A block of another language followed by a file name writes that file.

`python -m tests.architecture.test_docs PAGE...` runs the pages and writes what was printed into them.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from lineclear.cli.index import INDEX
from lineclear.core.log.events import KINDS
from lineclear.core.log.tables import ALL
from lineclear.core.tasks.states import MOVES
from lineclear.settings import OTHER_VARIABLES, PREFIX, SETTINGS
from lineclear.settings.strategies import STRATEGY_KEYS
from lineclear.wiring.repo import open_repo
from tests.postgres_server import running_server
from tests.repository import TemporaryRepo, clean_environment

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "lineclear"
PAGES = sorted(DOCS.rglob("*.md"))
TUTORIAL = DOCS / "tutorial.md"
GUIDES = sorted((DOCS / "how-to").glob("*.md"))
EXPLANATIONS = sorted((DOCS / "explanation").glob("*.md"))


def reference(name: str) -> str:
    return (DOCS / "reference" / name).read_text()


def called(path: Path) -> str:
    return str(path.relative_to(ROOT))


# -- the reference is complete ----------------------------------------------------------------


def test_the_generated_reference_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(DOCS / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_every_verb_is_in_the_reference() -> None:
    assert [verb for verb in INDEX if f"\n### {verb}\n" not in reference("commands.md")] == []


def test_every_event_and_each_of_its_fields_is_in_the_reference() -> None:
    lines = {
        line.split("|")[1].strip(" `"): line for line in reference("events.md").splitlines() if "|" in line
    }
    for kind, (_, fields) in KINDS.items():
        assert [field for field in fields if f"`{field}`" not in lines[kind]] == []


def test_every_setting_and_every_variable_is_in_the_reference() -> None:
    text = reference("settings.md")
    for setting in SETTINGS.values():
        assert f"\n## {setting.name}\n" in text
        assert f"`{setting.variable}`" in text
    names = [*STRATEGY_KEYS, *(PREFIX + name for name in OTHER_VARIABLES)]
    assert [name for name in names if f"| `{name}` |" not in text] == []


def test_every_table_and_every_move_is_in_the_reference() -> None:
    assert [table.name for table in ALL if f"\n## {table.name}\n" not in reference("tables.md")] == []
    rows = reference("tasks-states.md")
    for (state, kind), after in MOVES.items():
        assert re.search(rf"\| {state} \| `{kind}` \|.*\| {after} \|", rows)


def test_every_refusal_code_is_in_the_reference() -> None:
    codes = set(refusal_codes())
    assert len(codes) > 60
    assert sorted(code for code in codes if f"\n### {code}\n" not in reference("refusals.md")) == []


def refusal_codes() -> Iterator[str]:
    """Read from the source, not from the rows: what the generator overlooks is to be found here."""
    for path in SOURCE.rglob("*.py"):
        for call in calls_in(path, ("refuse",)):
            yield from (code.partition("/")[0] for code in plain_texts(call.args[0]))
        for call in calls_in(path, ("not_found",)):
            yield from (f"{kind}.unknown" for kind in plain_texts(call.args[0]))


def calls_in(path: Path, names: tuple[str, ...]) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).rpartition(".")[2] in names:
            yield node


def plain_texts(node: ast.expr) -> list[str]:
    """The text, or both of a choice; a text that is put together is found where its parts are given."""
    choices = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
    values = [choice.value for choice in choices if isinstance(choice, ast.Constant)]
    return [value for value in values if isinstance(value, str)]


# -- pages and links --------------------------------------------------------------------------

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TEST_PATH = re.compile(r"`(tests/[\w./-]+)`")


def links_of(path: Path) -> list[str]:
    return LINK.findall(FENCED.sub("", path.read_text()))


def anchors_of(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", path.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md"))], ids=called)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links_of(page):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


def test_every_page_is_linked_from_the_index() -> None:
    index = DOCS / "README.md"
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in links_of(index)}
    hidden = [page for page in PAGES if page not in linked and page != index and "adr" not in page.parts]
    assert [called(page) for page in hidden] == []


@pytest.mark.parametrize("page", EXPLANATIONS, ids=called)
def test_every_test_that_a_page_names_is_there(page: Path) -> None:
    assert [name for name in TEST_PATH.findall(page.read_text()) if not (ROOT / name).exists()] == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    told = (DOCS / "dependencies.md").read_text()
    assert [text for text in wanted if f"| `{re.split(r'[^a-z-]', text)[0]}`" not in told] == []


# -- examples: reading them -------------------------------------------------------------------

OPENING = re.compile(r"^```(\w+)(?: (\S+))?$")
PROMPT = re.compile(r"^([a-z]*)\$ (.*)$")


class Step:
    """A file to write, a command to run, or (without a command) the rest of one that was waiting."""

    def __init__(self, line_no: int, *, terminal: str = "", command: str = "", file: str = "") -> None:
        self.line_no, self.terminal, self.command, self.file = line_no, terminal, command, file
        self.is_waiting = False
        self.lines: list[str] = []


def read_steps(text: str) -> list[Step]:
    steps: list[Step] = []
    language = title = ""
    for line_no, line in enumerate(text.splitlines(), 1):
        opening = OPENING.match(line)
        if not language and opening:
            language, title = opening[1], opening[2] or ""
            if language == "console" or "." in title:
                steps.append(Step(line_no, file=title if language != "console" else ""))
        elif line == "```":
            language = ""
        elif language == "console":
            _read_line(steps, line_no, line, title == "waiting")
        elif language and "." in title:
            steps[-1].lines.append(line)
    return [step for step in steps if step.command or step.lines]


def _read_line(steps: list[Step], line_no: int, line: str, is_waiting: bool) -> None:
    prompt = PROMPT.match(line)
    if steps[-1].command.endswith("\\"):
        steps[-1].command += f"\n{line}"
    elif prompt:
        steps.append(Step(line_no, terminal=prompt[1], command=prompt[2]))
        steps[-1].is_waiting = is_waiting
    else:
        steps[-1].lines.append(line)


# -- examples: running them -------------------------------------------------------------------

END = "--- end of command ---"


class Terminal:
    """A shell that stays open, so that `cd` and `export` last, with both outputs in one."""

    def __init__(self, cwd: Path, environment: dict[str, str]) -> None:
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=cwd,
            env=environment,
        )

    def start(self, command: str) -> None:
        assert self._shell.stdin is not None
        self._shell.stdin.write(f"{{ {command}\n}} </dev/null; code=$?; echo; echo '{END}'; (exit $code)\n")
        self._shell.stdin.flush()

    def finish(self) -> str:
        assert self._shell.stdout is not None
        lines = list(iter(self._shell.stdout.readline, f"{END}\n"))
        assert "" not in lines, "the shell has ended"
        return "".join(lines).rstrip("\n")

    def close(self) -> None:
        self._shell.kill()
        self._shell.communicate()


class Example:
    """One page's steps, each in its terminal, in a home of its own."""

    def __init__(self, home: Path, stack: ExitStack, *, texts: dict[str, str] | None = None) -> None:
        """`texts`: what stands on the page -> what is meant on this machine."""
        self.home, self._stack = home, stack
        self._texts = {"/home/sam": str(home), **(texts or {})}
        self.environment = clean_environment(home) | {"USER": "sam", "PYTHONUNBUFFERED": "1"}
        self.environment["PATH"] = f"{Path(sys.executable).parent}:{self.environment['PATH']}"
        self._terminals: dict[str, Terminal] = {}
        self._waiting = ""
        self.cwd = home

    def make_repo(self) -> None:
        self.cwd = TemporaryRepo.create(self.home / "shop", self.environment).path
        self.run(Step(0, command="lineclear init"))

    def run(self, step: Step) -> str:
        """What was printed, as the page would have it."""
        if step.file:
            path = self.cwd / step.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in step.lines))
            return "\n".join(step.lines)
        if step.command:
            terminal = self._terminal(step.terminal)
            if step.is_waiting:
                self._waiting = step.terminal
                self._start_waiting(terminal, self._meant(step.command))
                return ""
            terminal.start(self._meant(step.command))
        else:
            terminal = self._terminal(self._waiting)
        return self._shown(terminal.finish())

    def _terminal(self, name: str) -> Terminal:
        if name not in self._terminals:
            agent = {"LINECLEAR_AGENT": name} if name else {}
            self._terminals[name] = Terminal(self.cwd, self.environment | agent)
            self._stack.callback(self._terminals[name].close)
        return self._terminals[name]

    def _start_waiting(self, terminal: Terminal, command: str) -> None:
        """Start it, and come back when it is where the page goes on: in the line, at work, or listening."""
        repo = open_repo(str(self.home / "shop"), self.environment)
        stops_at_event = re.search(r" (claim|with) ", command) is not None
        try:
            head = repo.store.read(lambda view: view.head)
            terminal.start(command)
            give_up_at = time.monotonic() + 60
            while time.monotonic() < give_up_at:
                listens = any((self.home / "shop/.git/lineclear/bells").iterdir())
                if repo.store.read(lambda view: view.head) > head if stops_at_event else listens:
                    return
                time.sleep(0.02)
            pytest.fail(f"it does not wait: {command}")
        finally:
            repo.close()

    def _meant(self, command: str) -> str:
        for shown, real in self._texts.items():
            command = command.replace(shown, real)
        return command

    def _shown(self, output: str) -> str:
        for shown, real in self._texts.items():
            output = output.replace(real, shown)
        return output


MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIME"),
    (re.compile(r"\b\d\d:\d\d UTC"), "TIME"),
    (re.compile(r"\b\d+ (?:ms|s|min|h)\b(?: \d+ (?:s|min)\b)?"), "DURATION"),
    (re.compile(r"(\"seconds_left\": )\d+"), r"\1N"),
    (re.compile(r"\b\d+ (?:bytes|MiB)\b"), "SIZE"),
    (re.compile(r"\s+"), " "),
)


def masked(line: str) -> str:
    for pattern, word in MASKS:
        line = pattern.sub(word, line)
    return line.strip()


def is_as_told(told: list[str], printed: list[str]) -> bool:
    pattern = "".join(_pattern_of(line) for line in told)
    return re.fullmatch(pattern, "".join(f"{masked(line)}\n" for line in printed)) is not None


def _pattern_of(line: str) -> str:
    if line.strip() == "...":
        return r"(?:.*\n)*?"
    return ".*".join(re.escape(masked(part)) for part in re.split(r"\.\.\.", line)) + r" ?\n"


def differences(example: Example, page: Path) -> Iterator[tuple[Step, list[str]]]:
    """The steps whose output is not as told, each with what was printed."""
    if page != TUTORIAL:  # which begins at the very beginning
        example.make_repo()
    for step in read_steps(page.read_text()):
        printed = example.run(step).splitlines()
        if not step.is_waiting and not is_as_told(step.lines, printed):
            yield step, printed


def check(example: Example, page: Path) -> None:
    for step, printed in differences(example, page):
        told, found = "\n".join(step.lines), "\n".join(printed)
        words = f"{called(page)}:{step.line_no}: {step.command}\n-- told\n{told}\n-- printed\n{found}"
        pytest.fail(words, pytrace=False)


def record(example: Example, page: Path) -> None:
    lines = page.read_text().splitlines()
    for step, printed in reversed(list(differences(example, page))):
        start = step.line_no + step.command.count("\n")
        lines[start : start + len(step.lines)] = printed
    page.write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture
def example(tmp_path: Path) -> Iterator[Example]:
    with ExitStack() as stack:
        yield Example(tmp_path, stack)


TEAM_GUIDE = DOCS / "how-to" / "team-postgresql.md"
TEAM_URL = "postgresql://sam@db.example.com/team"
WITH_EXAMPLES = [
    page
    for page in PAGES
    if any(step.command.startswith("lineclear ") for step in read_steps(page.read_text()))
]


def test_the_tutorial_and_every_guide_have_examples() -> None:
    assert [called(page) for page in (TUTORIAL, *GUIDES) if page not in WITH_EXAMPLES] == []


def test_the_tutorial_runs_as_it_is_told(example: Example) -> None:
    check(example, TUTORIAL)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in WITH_EXAMPLES if page not in (TUTORIAL, TEAM_GUIDE)], ids=called
)
def test_the_examples_run_as_they_are_told(example: Example, page: Path) -> None:
    check(example, page)


@pytest.mark.slow
@pytest.mark.postgres
def test_the_examples_for_a_team_run_on_a_real_server(
    tmp_path: Path, fresh_postgres: Callable[[], str]
) -> None:
    with ExitStack() as stack:
        check(Example(tmp_path, stack, texts={TEAM_URL: fresh_postgres()}), TEAM_GUIDE)


# -- the examples' reader can fail ------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "printed"),
    [
        (["a  b"], ["a b"]),
        (["until 12:12 UTC (in 12 min)."], ["until 09:01 UTC (in 1 h 3 min)."]),
        (["...", "b"], ["x", "y", "b"]),
        (["...", "b"], ["b"]),
        (['boot="..." x'], ['boot="1f2e" x']),
        ([], []),
    ],
)
def test_what_may_differ_is_let_through(told: list[str], printed: list[str]) -> None:
    assert is_as_told(told, printed)


@pytest.mark.parametrize(
    ("told", "printed"),
    [
        (["fence 3"], ["fence 4"]),
        (["a"], []),
        ([], ["a"]),
        (["a", "..."], ["b"]),
        (["ada holds it."], ["ben holds it."]),
        (["a.c"], ["abc"]),
    ],
)
def test_what_differs_is_found(told: list[str], printed: list[str]) -> None:
    assert not is_as_told(told, printed)


def test_a_page_is_read_step_by_step() -> None:
    text = (
        "```toml lineclear.toml\n[claims]\n```\n```console\n$ one \\\n  two\nout\nada$ three\n```\n"
        "```console waiting\nben$ four\n```\n```console\nrest\n```\n```sh\n$ not run\n```\n"
    )
    steps = [(s.terminal, s.command, s.file, s.is_waiting, s.lines) for s in read_steps(text)]
    assert steps == [
        ("", "", "lineclear.toml", False, ["[claims]"]),
        ("", "one \\\n  two", "", False, ["out"]),
        ("ada", "three", "", False, []),
        ("ben", "four", "", True, []),
        ("", "", "", False, ["rest"]),
    ]


def test_a_choice_of_two_codes_counts_as_both() -> None:
    call = ast.parse('Refusal("a.b" if x else "c.d", "words")').body[0]
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    assert plain_texts(call.value.args[0]) == ["a.b", "c.d"]


def main(names: list[str]) -> None:
    from tempfile import TemporaryDirectory

    with running_server() as server:
        for name in names:
            with TemporaryDirectory() as home, ExitStack() as stack:
                url = server.url(server.create_database())
                record(Example(Path(home).resolve(), stack, texts={TEAM_URL: url}), Path(name).resolve())


if __name__ == "__main__":
    main(sys.argv[1:])
