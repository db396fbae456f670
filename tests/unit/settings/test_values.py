"""Kinds of value beyond plain texts and numbers: sizes, money, lists, choices, words, commands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.words.refusals import Refusal
from lineclear.settings import OTHER_VARIABLES, SETTINGS, Setting, Settings, build_settings
from lineclear.settings.setting import CHOICE, MONEY, SIZE
from lineclear.settings.values import expected, write_value


def build(team: str = "", **more: object) -> Settings:
    return build_settings(team=team.encode(), environ={}, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "toml", "text", "value"),
    [
        ("worktrees.copy", '["a", "b c"]', "a, b c,", ("a", "b c")),
        ("worktrees.copy", "[]", ",", ()),
        ("worktrees.setup", '["a, b", "c"]', "a, b\n\n c \n", ("a, b", "c")),
        ("worktrees.disk_reserve", '"2GB"', "2 gb", 2_000_000_000),
        ("worktrees.disk_reserve", "4096", "4096", 4_096),
        ("worktrees.disk_reserve", '"0"', "0", 0),
        ("budgets.run_memory", '"1.5GiB"', "1.5GiB", 1_610_612_736),
        ("budgets.run_money", '"2.50"', "$2.50", 2_500_000),
        ("budgets.run_money", "2.5", "2.5", 2_500_000),
        ("budgets.run_money", "3", "3", 3_000_000),
        ("budgets.day_money", "0.000001", "0.000001", 1),
        ("budgets.run_time", '"0s"', "0", 0),
        ("run.scope", '"refuse"', "refuse", "refuse"),
        ("worktrees.sandbox", '"bwrap"', "bwrap", "bwrap"),
        ("worktrees.base", '"origin/main"', "origin/main", "origin/main"),
        ("checks.gate", '"make -j2 check"', "make -j2 check", "make -j2 check"),
        ("run.land", "false", "no", False),
    ],
)
def test_a_value_reads_the_same_from_a_file_a_variable_and_a_flag(
    name: str, toml: str, text: str, value: object
) -> None:
    setting = SETTINGS[name]
    found = [
        build(f"{name} = {toml}"),
        build_settings(environ={setting.variable: text}),
        build_settings(environ={}, flags={name: text}),
    ]
    values = [getattr(settings, setting.attribute) for settings in found]
    assert [(type(one), one) for one in values] == [(type(value), value)] * 3


@pytest.mark.parametrize(
    ("name", "toml"),
    [
        ("worktrees.copy", '".env"'),
        ("worktrees.copy", '[""]'),
        ("worktrees.copy", "[1]"),
        ("worktrees.copy", f'["{"x" * 301}"]'),
        ("worktrees.copy", "[" + '"a",' * 101 + "]"),
        ("worktrees.setup", '["a\\nb"]'),
        ("worktrees.setup", '["a \\u202e b"]'),
        ("worktrees.setup", '"make"'),
        ("worktrees.ports", "1001"),
        ("worktrees.ports_from", "80"),
        ("worktrees.disk_reserve", '"101TiB"'),
        ("worktrees.disk_reserve", '"much"'),
        ("worktrees.disk_reserve", "-1"),
        ("worktrees.disk_reserve", "1.5"),
        ("worktrees.disk_reserve", "true"),
        ("worktrees.disk_reserve", "0x" + "f" * 5_000),
        ("run.prompt_size", '""'),
        ("run.prompt_size", '"8191"'),
        ("budgets.run_money", '"0"'),
        ("budgets.run_money", "0.0"),
        ("budgets.run_money", '"-1"'),
        ("budgets.run_money", "-1"),
        ("budgets.run_money", "-0.5"),
        ("budgets.run_money", "true"),
        ("budgets.run_money", "inf"),
        ("budgets.run_money", "nan"),
        ("budgets.run_money", "0.0000001"),
        ("budgets.run_money", '"1e3"'),
        ("budgets.run_money", '"2,50"'),
        ("budgets.run_money", "1_000_000_001"),
        ("run.scope", '"maybe"'),
        ("run.scope", "true"),
        ("worktrees.base", '"--upload-pack=x"'),
        ("worktrees.base", '"a b"'),
        ("worktrees.branches", '"-x/"'),
    ],
)
def test_an_unusable_value_is_refused_with_what_is_expected(name: str, toml: str) -> None:
    with pytest.raises(Refusal) as caught:
        build(f"{name} = {toml}")
    refusal = caught.value
    assert (refusal.code, refusal.facts["name"]) == ("settings.value", name)
    assert refusal.facts["expected"] == expected(SETTINGS[name])
    assert len(str(refusal)) <= 300


def test_an_empty_size_is_none_where_zero_may_be() -> None:
    assert build('budgets.run_memory = ""').budgets_run_memory_bytes == 0


@pytest.mark.parametrize(
    ("team", "is_usable"),
    [
        ("ports = 10\nports_from = 50000\nports_to = 50009", True),
        ("ports = 10\nports_from = 50000\nports_to = 50008", False),
        ("ports = 0\nports_from = 50000\nports_to = 49999", True),
        ("ports_from = 49000", False),
    ],
)
def test_the_ports_of_one_worktree_must_fit_between_the_ends(team: str, is_usable: bool) -> None:
    if is_usable:
        assert build(f"[worktrees]\n{team}").warnings == []
        return
    with pytest.raises(Refusal, match=r"worktrees\.ports_to"):
        build(f"[worktrees]\n{team}")


@given(st.sampled_from([s for s in SETTINGS.values() if s.kind in (SIZE, MONEY)]), st.data())
def test_a_written_amount_reads_back_as_the_same(setting: Setting, data: st.DataObject) -> None:
    value = data.draw(st.integers(setting.least, setting.most))
    settings = build(f'{setting.name} = "{write_value(setting, value)}"')
    assert getattr(settings, setting.attribute) == value


def test_every_choice_has_its_default_among_its_choices() -> None:
    choices = [setting for setting in SETTINGS.values() if setting.kind == CHOICE]
    assert choices
    assert all(setting.default in setting.choices for setting in choices)


def test_what_the_supervisor_tells_a_client_is_no_setting() -> None:
    told = {"TASK", "RUN", "PROMPT", "PORT", "PORTS", "WORKTREE", "EXIT"}
    assert told <= set(OTHER_VARIABLES)
    assert build_settings(environ={f"LINECLEAR_{name}": "1" for name in told}).warnings == []


def test_a_long_name_with_a_long_value_is_refused_in_few_words() -> None:
    variable = SETTINGS["worktrees.setup_timeout"].variable
    with pytest.raises(Refusal) as caught:
        build_settings(environ={variable: "x" * 500})
    assert len(str(caught.value)) <= 300
