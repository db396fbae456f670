"""The table of settings says who may set each from where: the loader does exactly that, for every one."""

from __future__ import annotations

import json

import pytest

from lineclear.settings import SETTINGS, Setting, Settings, build_settings
from lineclear.settings.setting import (
    CHOICE,
    COMMANDS,
    COUNT,
    DURATION,
    FOLD,
    FREELY,
    LIST,
    MONEY,
    NEVER,
    ON_MAIN,
    SCHEMES,
    SIZE,
    STRICTER,
    SWITCH,
    TO_COUNT,
)
from lineclear.settings.values import write_value

ROWS = pytest.mark.parametrize("row", SETTINGS.values(), ids=SETTINGS)
ROOT = "/home/sam/shop"
SAMPLES: dict[str, object] = {COMMANDS: ["x"], LIST: ["x"], SCHEMES: ["x"], FOLD: True, MONEY: "2.50"}


def other(row: Setting) -> object:
    """A value other than the default that is not harmless, as a file states it."""
    if row.kind == CHOICE:
        return row.choices[-1] if row.default != row.choices[-1] else row.choices[0]
    if row.kind == SWITCH:
        return not row.default
    if row.kind in (COUNT, DURATION, SIZE):
        assert isinstance(row.default, int)
        step = 1 if row.kind == COUNT else 1_000
        return write_value(row, row.default + (step if row.default + step <= row.most else -step))
    return SAMPLES.get(row.kind, "x")


def load(row: Setting, source: str, *, for_agent: bool = False, is_trusted: bool = False) -> Settings:
    value = other(row)
    file = f"{row.name} = {json.dumps(value)}\n".encode()
    text = value[0] if isinstance(value, list) else str(value)
    return build_settings(
        team=file if source == "team" else b"",
        local=file if source == "local" else b"",
        environ={row.variable: text} if source == "variable" else {},
        flags={row.name: text} if source == "flag" else None,
        for_agent=for_agent,
        root=ROOT,
        is_trusted=lambda _where, _text: is_trusted,
    )


def counts(settings: Settings, row: Setting) -> bool:
    return bool(getattr(settings, row.attribute) != row.default)


@ROWS
def test_a_person_sets_everything_from_their_own_sources(row: Setting) -> None:
    for source in ("local", "variable", "flag"):
        assert counts(load(row, source), row), source


@ROWS
def test_the_teams_file_sets_what_needs_no_trust_and_the_rest_after_trust(row: Setting) -> None:
    before = load(row, "team")
    assert counts(before, row) == (row.trust != TO_COUNT)
    assert (row.name in before.held) == (row.trust == TO_COUNT)
    after = load(row, "team", is_trusted=True)
    assert counts(after, row)
    assert after.held == {}


@ROWS
def test_a_variable_of_an_agent_sets_what_the_table_allows(row: Setting) -> None:
    settings = load(row, "variable", for_agent=True)
    assert counts(settings, row) == (row.agents != NEVER)
    assert settings.overruled == ({row.name: row.variable} if row.agents == NEVER else {})
    # What a file of the person says is not replaced.
    file = f"{row.name} = {json.dumps(other(row))}\n".encode()
    if row.agents not in (FREELY, STRICTER) and row.kind in ("text", "word", "command"):
        replaced = build_settings(local=file, environ={row.variable: "y"}, for_agent=True)
        assert list(replaced.overruled) == [row.name]
    if row.agents == STRICTER:
        replaced = build_settings(local=file, environ={row.variable: row.choices[0]}, for_agent=True)
        assert (list(replaced.overruled), counts(replaced, row)) == ([row.name], True)


def test_whatever_decides_what_lands_or_needs_trust_is_closed_to_agents() -> None:
    for row in SETTINGS.values():
        is_guarded = bool(row.trust) or row.read_from == ON_MAIN or row.name.startswith(("queue.", "checks."))
        assert not is_guarded or row.agents != FREELY, row.name
