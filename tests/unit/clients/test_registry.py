"""The table of clients and the folders say the same, and a name that is not in the table loads nothing."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import lineclear.clients
from lineclear.clients.registry import (
    CLIENTS,
    HOOK,
    PROBE,
    SETUP,
    START,
    STREAM,
    Client,
    hook_of,
    names_with,
    probe_of,
    setup_of,
    start_of,
    stream_of,
)
from lineclear.hook.on_error import BEFORE_TOOL

HERE = Path(lineclear.clients.__file__).parent
# What each part of a client has to have.
NAMES = {
    HOOK: ("EVENTS", "read_call", "write_answer"),
    SETUP: ("IN_WORKTREES", "files", "plan_install", "plan_remove"),
    START: ("launch",),
    STREAM: ("reader",),
    PROBE: ("EVENT", "probe"),
}


def test_every_folder_is_a_client_and_every_client_a_folder() -> None:
    folders = {path.parent.name for path in HERE.glob("*/__init__.py")}
    assert folders == {client.folder for client in CLIENTS.values()}


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_the_parts_of_a_client_are_the_modules_of_its_folder(client: Client) -> None:
    modules = {path.stem for path in (HERE / client.folder).glob("*.py")} - {"__init__"}
    assert modules == set(client.parts)
    for part in client.parts:
        module = import_module(f"lineclear.clients.{client.folder}.{part}")
        assert [name for name in NAMES[part] if not hasattr(module, name)] == [], part


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_the_parts_of_a_client_fit_together(client: Client) -> None:
    assert (START in client.parts) == (STREAM in client.parts)
    # A probe starts the program and waits for the hook.
    assert PROBE not in client.parts or {HOOK, SETUP} <= {*client.parts}
    assert PROBE not in client.parts or probe_of(client.name).probe("").argv[0] == client.program
    assert not client.install or client.program


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_client_does_not_import_another_one(client: Client) -> None:
    # Our own lines of JSON come from a command that is started like any other.
    allowed = {client.folder, "plain"} if client.name == "lineclear" else {client.folder}
    others = {other.folder for other in CLIENTS.values()} - allowed
    for path in (HERE / client.folder).glob("*.py"):
        imported = set(re.findall(r"from lineclear\.clients\.(\w+)", path.read_text()))
        assert not imported & others, path.name


@pytest.mark.parametrize("get", [setup_of, start_of, stream_of, probe_of])
def test_a_name_that_is_not_in_the_table_is_not_imported(get: object) -> None:
    assert callable(get)
    for name in ("stream_reader", "../x", ""):
        with pytest.raises(KeyError):
            get(name)


def test_a_part_that_a_client_does_not_have_is_not_imported() -> None:
    with pytest.raises(KeyError):
        start_of("cursor")
    assert "cursor" not in names_with(START)


@pytest.mark.parametrize("name", names_with(HOOK))
def test_an_unreadable_call_before_a_tool_is_known_by_its_event(name: str) -> None:
    module = hook_of(name)
    assert module is not None
    assert len(BEFORE_TOOL & set(module.EVENTS)) == 1
