"""Which commands a server may do for the process that was started."""

from __future__ import annotations

import pytest

from lineclear.cli.index import INDEX, SERVED, is_served
from lineclear.cli.main import load

READS = {
    "agent list", "log", "proposal list", "proposal show", "queue checks", "queue list", "queue show",
    "status", "task export", "task list", "task ready", "task show", "value get", "value history",
    "value list", "who",
}  # fmt: skip


def test_every_served_verb_that_changes_something_takes_an_operation_id() -> None:
    assert set(INDEX) > SERVED
    assert {verb for verb in SERVED if not load(verb).is_write} == READS


@pytest.mark.parametrize(
    "words",
    [
        "", "status", "--json", "--json status", "claim a", "--as x claim a --wait 5s", "-C src claim a",
        "value put k 1 --version 0", "inbox --wait 1m", "propose value:k 1", "log --since 1h", "queue show 7",
        "task add -- --name", "--key k task next",
    ],
)  # fmt: skip
def test_what_needs_nothing_but_the_store_is_served(words: str) -> None:
    assert is_served(words.split())


@pytest.mark.parametrize(
    "words",
    [
        "--version", "--help", "-h", "help claim", "claim --help", "claim a -h", "clam a", "task", "audit",
        "init", "with a -- make", "run", "land", "check", "sync", "setup codex", "serve", "serve --stop",
        "mcp", "trust", "token add x", "hook claude Stop", "task import list.md", "say -", "value put k -",
        "task add x --body -", "task add x --body=-", "propose a --file b", "propose a --file=b",
        "propose a --patch=b", "log -f", "log --follow", "log -fCdir", "status --watch", "--watch",
        "queue show 7 --diff", "queue run",
    ],
)  # fmt: skip
def test_what_reads_files_or_stdin_never_ends_or_starts_programs_is_not(words: str) -> None:
    assert not is_served(words.split())
