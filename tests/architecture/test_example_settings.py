"""lineclear.example.toml agrees with the loader; the loader reads real files; every variable is declared."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest

from lineclear.core.claims.strategies import STRATEGIES
from lineclear.core.words.refusals import Refusal
from lineclear.settings import (
    OTHER_VARIABLES,
    PREFIX,
    SECTIONS,
    SETTINGS,
    VARIABLES,
    Settings,
    build_settings,
    load_settings,
)
from lineclear.settings.checks import CHECK_PATH_KEYS
from lineclear.settings.loading import MAX_FILE_BYTES
from lineclear.settings.prices import PRICE_KEYS
from lineclear.settings.setting import COUNT, DURATION, SIZE
from lineclear.settings.strategies import STRATEGY_KEYS
from lineclear.settings.values import write_value
from lineclear.settings.workers import WORKER_KEYS
from tests.architecture.hook_loads import COSTLY
from tests.architecture.test_imports import modules_imported_by

ROOT = Path(__file__).parents[2]
EXAMPLE = (ROOT / "lineclear.example.toml").read_text()
COMMENTED = re.compile(r"^# (?=[A-Za-z_]+ = |\"[^\"]+\" = |\[\[?[a-z.]+\]\]?$)", re.MULTILINE)


def activated(text: str) -> str:
    return COMMENTED.sub("", text)


def names_in(text: str) -> list[str]:
    """Every key outside the tables that a file names itself, as section.key, in the order of the file."""
    table = tomllib.loads(text)
    for name in ("strategy", "workers", "prices"):
        table.pop(name, None)
    for section, key in (("worktrees", "env"), ("checks", "paths")):
        table.get(section, {}).pop(key, None)
    return [f"{section}.{key}" for section, content in table.items() for key in content]


def values_of(settings: Settings) -> dict[str, object]:
    return {name: getattr(settings, setting.attribute) for name, setting in SETTINGS.items()}


def loaded(directory: Path, local: Path | None = None) -> Settings:
    return load_settings(root=str(directory), local_dir=str(local or directory / "none"), environ={})


# -- the example ------------------------------------------------------------------------------


def test_the_example_has_every_key_and_no_other() -> None:
    assert names_in(activated(EXAMPLE)) == list(SETTINGS)
    assert [line[1:-1] for line in EXAMPLE.splitlines() if re.fullmatch(r"\[[a-z]+\]", line)] == list(
        SECTIONS
    )


def test_every_value_of_the_example_is_the_default() -> None:
    settings = build_settings(team=activated(EXAMPLE).encode(), environ={})
    assert values_of(settings) == {name: setting.default for name, setting in SETTINGS.items()}
    assert set(settings.origins.values()) == {"lineclear.toml"}
    assert settings.warnings == []


def test_the_example_shows_every_key_of_the_tables_that_a_file_names_itself() -> None:
    table = tomllib.loads(activated(EXAMPLE))
    assert {key for worker in table["workers"].values() for key in worker} == {*WORKER_KEYS, "env"}
    assert {key for price in table["prices"].values() for key in price} == set(PRICE_KEYS)
    assert {key for entry in table["checks"]["paths"] for key in entry} == set(CHECK_PATH_KEYS)
    assert table["worktrees"]["env"]


def test_the_example_as_it_is_changes_nothing() -> None:
    settings = build_settings(team=EXAMPLE.encode(), environ={})
    assert set(settings.origins.values()) == {"default"}
    assert (settings.rules, settings.workers, settings.check_paths, settings.warnings) == ([], [], [], [])
    assert (settings.prices, settings.worktrees_env) == ({}, {})


def test_the_example_shows_each_strategy_once_and_each_of_its_keys() -> None:
    settings = build_settings(team=activated(EXAMPLE).encode(), environ={})
    assert [rule.strategy for rule in settings.rules] == list(STRATEGIES)
    entries = tomllib.loads(activated(EXAMPLE))["strategy"]
    assert {key for entry in entries for key in entry} == set(STRATEGY_KEYS)


NUMBERS = [name for name, setting in SETTINGS.items() if setting.kind in (COUNT, DURATION, SIZE)]


@pytest.mark.parametrize("name", NUMBERS)
def test_the_example_names_the_bounds_of_a_number(name: str) -> None:
    section, _, key = name.partition(".")
    text = EXAMPLE[EXAMPLE.index(f"\n[{section}]\n") :]
    words = text[: text.index(f"\n# {key} = ")].rpartition("\n\n")[2].replace("\n# ", " ")
    least, most = (
        write_value(SETTINGS[name], bound) for bound in (SETTINGS[name].least, SETTINGS[name].most)
    )
    assert f"{least} to {most}" in words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('[claims]\n# ttl = "1h"', ["claims.ttl"]),
        ("[claims]\n# a claim = a lease", []),
        ('[claims]\n#ttl = "1h"', []),
        ("# [tasks]\n# attempts = 1", ["tasks.attempts"]),
    ],
)
def test_only_a_comment_that_is_a_key_is_activated(text: str, found: list[str]) -> None:
    assert names_in(activated(text)) == found


def test_every_variable_that_the_program_mentions_is_declared() -> None:
    """An undeclared one would be reported to the user as unknown."""
    source = "\n".join(
        path.read_text() for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".sh")
    )
    named = set(re.findall(rf"\b{PREFIX}[A-Z][A-Z_]*", source))
    assert named - set(VARIABLES) - {PREFIX + name for name in OTHER_VARIABLES} == set()


# -- files on disk ----------------------------------------------------------------------------


def test_a_repository_without_files_has_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for local in (tmp_path / "none", tmp_path / "file" / "below"):
        assert set(loaded(tmp_path, local).origins.values()) == {"default"}


def test_both_files_are_read_and_the_clones_own_wins(tmp_path: Path) -> None:
    local = tmp_path / ".git" / "lineclear"
    local.mkdir(parents=True)
    (tmp_path / "lineclear.toml").write_text('[claims]\nttl = "1h"\n[tasks]\nattempts = 7')
    (local / "local.toml").write_text('[claims]\nttl = "2h"')
    settings = loaded(tmp_path, local)
    assert (settings.claims_ttl_ms, settings.tasks_attempts) == (7_200_000, 7)
    assert (settings.origins["claims.ttl"], settings.origins["tasks.attempts"]) == (
        "local.toml",
        "lineclear.toml",
    )


def test_a_file_as_large_as_may_be_is_read_and_one_byte_more_refused(tmp_path: Path) -> None:
    file = tmp_path / "lineclear.toml"
    text = "tasks.attempts = 7\n".ljust(MAX_FILE_BYTES, "#")
    file.write_text(text)
    assert loaded(tmp_path).tasks_attempts == 7
    file.write_text(text + "#")
    with pytest.raises(Refusal, match="the limit is 256 KiB") as caught:
        loaded(tmp_path)
    assert caught.value.code == "settings.size"


def make_directory(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [make_directory, make_pipe, make_loop])
def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path, make: object) -> None:
    assert callable(make)
    make(tmp_path / "lineclear.toml")
    before = os.listdir("/dev/fd")
    with pytest.raises(Refusal) as caught:
        loaded(tmp_path)
    assert caught.value.code == "settings.unreadable"
    assert caught.value.facts["path"] == str(tmp_path / "lineclear.toml")
    assert os.listdir("/dev/fd") == before


# -- cost -------------------------------------------------------------------------------------


def test_importing_the_settings_loads_nothing_costly() -> None:
    assert modules_imported_by("lineclear.settings", "-S") & (COSTLY | {"tomllib", "difflib"}) == set()


def test_without_files_and_variables_nothing_is_loaded_that_checks_or_shows_values() -> None:
    loaded = modules_imported_by("lineclear.settings", "-S")
    ours = {name for name in loaded if name.startswith("lineclear.settings")}
    assert ours == {"lineclear.settings"} | {
        f"lineclear.settings.{name}"
        for name in ("harmless", "loading", "other_variables", "setting", "table")
    }
