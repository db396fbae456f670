"""A repository under coordination, and its command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from tests.e2e.commandline import CommandLine
from tests.e2e.crew import Crew
from tests.e2e.serving import ServeProcess
from tests.repository import TemporaryRepo


@pytest.fixture
def bare_line(repo: TemporaryRepo) -> Iterator[CommandLine]:
    """In a git repository that lineclear has not seen yet."""
    line = CommandLine(repo.path, repo.environment)
    yield line
    line.end_all()


@pytest.fixture
def line(bare_line: CommandLine) -> CommandLine:
    bare_line.ok("init")
    return bare_line


@pytest.fixture
def crew(repo: TemporaryRepo) -> Iterator[Crew]:
    crew = Crew(repo)
    yield crew
    crew.close()


@pytest.fixture(scope="module")
def shared_line(shared_repo: TemporaryRepo) -> Iterator[CommandLine]:
    """One repository for all tests of a file. A test keeps to names of its own (see `fresh`), and leaves
    nobody in line."""
    line = CommandLine(shared_repo.path, shared_repo.environment)
    line.ok("init")
    yield line
    line.end_all()


@pytest.fixture(scope="module")
def shared(shared_line: CommandLine) -> ServeProcess:
    """One server for all tests of a file: a start costs more than most of them. Nobody ends it."""
    return ServeProcess(shared_line)


_NUMBERS = count(1)


@pytest.fixture
def fresh() -> Callable[[str], str]:
    """A function: a word in, a name that nobody had before out."""
    return lambda word: f"{word}-{next(_NUMBERS)}"
