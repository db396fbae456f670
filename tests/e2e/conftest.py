"""A repository under coordination, and its command line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.commandline import CommandLine
from tests.e2e.crew import Crew
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
