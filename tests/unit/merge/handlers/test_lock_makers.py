"""The table of package managers, and the look at what they made."""

from __future__ import annotations

import json

import pytest

from lineclear.merge.handlers import locks
from lineclear.merge.handlers.lock_checks import doubt_of
from lineclear.merge.handlers.lock_makers import MAKERS, maker_of
from lineclear.merge.handlers.locks import COMMANDS
from lineclear.merge.registry import handlers_for
from tests.lock_files import lock, manifest

# -- the table ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
def test_every_row_is_the_manager_whose_command_a_conflict_names(name: str) -> None:
    assert COMMANDS[name].split()[0] == MAKERS[name].name == MAKERS[name].words[0]
    assert locks in handlers_for(name)


@pytest.mark.parametrize("name", MAKERS)
def test_a_lock_file_is_none_of_its_own_manifests(name: str) -> None:
    maker = MAKERS[name]
    for path in (name, f"web/{name}"):
        assert not maker.needs(path)
        assert not any(kind.fullmatch(path) for kind in (maker.settings, maker.sources, maker.hooks))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("package-lock.json", {"--package-lock-only", "--ignore-scripts"}),
        ("pnpm-lock.yaml", {"--lockfile-only", "--ignore-scripts", "--ignore-pnpmfile"}),
        ("yarn.lock", {"--mode=update-lockfile"}),
        ("Cargo.lock", {"--workspace"}),
        ("uv.lock", {"--no-build"}),
        ("poetry.lock", {"--no-plugins"}),
        ("composer.lock", {"--no-install", "--no-scripts", "--no-plugins", "--minimal-changes"}),
    ],
)
def test_nothing_is_installed_and_no_script_is_run(name: str, words: set[str]) -> None:
    assert words <= set(MAKERS[name].words)


@pytest.mark.parametrize("path", ["go.sum", "mix.lock", "gradle.lockfile", "package.json", "Cargo.lock/x"])
def test_what_has_no_such_command_is_not_in_the_table(path: str) -> None:
    assert maker_of(path) is None


def test_manifests_count_wherever_they_are_and_settings_are_not_among_them() -> None:
    npm = MAKERS["package-lock.json"]
    assert npm.needs("package.json")
    assert npm.needs("libs/crane/package.json")
    assert npm.settings.fullmatch("web/.npmrc")
    assert not npm.needs(".npmrc")
    assert not npm.needs("src/package.json.py")
    cargo = MAKERS["Cargo.lock"]
    assert cargo.sources.fullmatch("libs/crane/src/lib.rs")
    assert cargo.settings.fullmatch(".cargo/config.toml")


# -- the look -------------------------------------------------------------------------------------

CARGO = """version = 4

[[package]]
name = "app"
version = "0.1.0"
dependencies = [
 "anchor",
]

[[package]]
name = "anchor"
version = "0.1.0"
"""
UV = """version = 1

[[package]]
name = "app"
version = "0.1.0"
source = { virtual = "." }
dependencies = [
    { name = "anchor-chain" },
]

[[package]]
name = "anchor-chain"
version = "1.0"
source = { registry = "https://example.invalid/simple" }
"""
POETRY = '[[package]]\nname = "anchor-chain"\nversion = "1.0"\n\n[metadata]\nlock-version = "2.1"\n'
PNPM = """lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      '@port/anchor':
        specifier: ^1.0.0
        version: 1.0.0
      crane:
        specifier: ^2.0.0
        version: 2.0.0
"""
YARN = """__metadata:
  version: 8

"@port/anchor@npm:^1.0.0, @port/anchor@npm:^1.1.0":
  version: 1.1.0

"crane@npm:^2.0.0":
  version: 2.0.0
"""
GEMS = (
    "GEM\n  specs:\n    anchor (1.0)\n\nDEPENDENCIES\n  anchor (~> 1.0)\n  crane!\n\nBUNDLED WITH\n   2.5\n"
)
SCOPED = {"@port/anchor": "^1.0.0", "crane": "^2.0.0"}


def project_of(needs: dict[str, str]) -> str:
    return json.dumps({"name": "port", "dependencies": needs})


def python_project(*needs: str) -> str:
    return f'[project]\nname = "app"\nversion = "0.1.0"\ndependencies = {json.dumps(needs)}\n'


def cargo_project(*lines: str) -> str:
    return "\n".join(['[package]\nname = "app"\nversion = "0.1.0"\n[dependencies]', *lines])


def composer_lock(*names: str) -> str:
    return json.dumps({"packages": [{"name": name} for name in names], "packages-dev": []})


FITS = [
    ("package-lock.json", lock("anchor", "crane"), {"package.json": manifest("anchor", "crane")}),
    ("pnpm-lock.yaml", PNPM, {"package.json": project_of(SCOPED)}),
    ("yarn.lock", YARN, {"package.json": project_of(SCOPED)}),
    ("Cargo.lock", CARGO, {"Cargo.toml": cargo_project('anchor = { path = "libs/anchor" }')}),
    ("Cargo.lock", CARGO, {"Cargo.toml": cargo_project('hook = { package = "anchor", version = "1" }')}),
    ("uv.lock", UV, {"pyproject.toml": python_project("Anchor_Chain>=1", "anchor.chain[steel]")}),
    ("poetry.lock", POETRY, {"pyproject.toml": python_project("anchor-chain (>=1,<2)")}),
    (
        "poetry.lock",
        POETRY,
        {"pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.11"\nanchor_chain = "^1"\n'},
    ),
    (
        "composer.lock",
        composer_lock("port/anchor"),
        {"composer.json": json.dumps({"require": {"php": ">=8", "ext-json": "*", "Port/Anchor": "^1"}})},
    ),
    ("Gemfile.lock", GEMS, {"Gemfile": 'source "x"\ngem "anchor", "~> 1.0"\n  gem(\'crane\', path: "c")\n'}),
]
SHORT = [
    ("package-lock.json", lock("crane"), {"package.json": manifest("anchor", "crane")}, "anchor"),
    ("pnpm-lock.yaml", PNPM, {"package.json": project_of({**SCOPED, "dock": "1"})}, "dock"),
    ("yarn.lock", YARN, {"package.json": project_of({**SCOPED, "anchor": "1"})}, "anchor"),
    ("Cargo.lock", CARGO, {"Cargo.toml": cargo_project('anchor = "1"', 'crane = "1"')}, "crane"),
    (
        "Cargo.lock",
        CARGO,
        {"Cargo.toml": "[workspace]\nmembers = ['app']\n", "app/Cargo.toml": cargo_project('crane = "1"')},
        "crane",
    ),
    ("uv.lock", UV, {"pyproject.toml": python_project("anchor-chain", "crane")}, "crane"),
    ("poetry.lock", POETRY, {"pyproject.toml": python_project("crane")}, "crane"),
    (
        "composer.lock",
        composer_lock("port/anchor"),
        {"composer.json": json.dumps({"require-dev": {"port/crane": "^1"}})},
        "port/crane",
    ),
    ("Gemfile.lock", GEMS, {"Gemfile": 'gem "dock"\n'}, "dock"),
]


@pytest.mark.parametrize(("name", "text", "manifests"), FITS)
def test_a_lock_file_with_all_that_is_needed_raises_no_doubt(
    name: str, text: str, manifests: dict[str, str]
) -> None:
    assert doubt_of(name, text, manifests) == ""


@pytest.mark.parametrize(("name", "text", "manifests", "missing"), SHORT)
def test_a_dependency_that_is_not_in_it_is_named(
    name: str, text: str, manifests: dict[str, str], missing: str
) -> None:
    assert doubt_of(name, text, manifests) == f"{name} does not contain {missing}"


@pytest.mark.parametrize(("name", "text", "manifests"), FITS)
def test_nothing_empty_cut_off_or_with_markers_is_believed(
    name: str, text: str, manifests: dict[str, str]
) -> None:
    assert doubt_of(name, " \n", manifests) == f"{name} is empty"
    marked = f"<<<<<<< main\n{text}=======\n>>>>>>> work\n"
    assert doubt_of(name, marked, manifests) == f"{name} contains conflict markers"
    assert doubt_of(name, "]", manifests)
    assert "is not beside" in doubt_of(
        name, text, {f"web/{path}": words for path, words in manifests.items()}
    )


def test_every_row_has_a_look() -> None:
    assert {name for name, _, _ in FITS} | {"npm-shrinkwrap.json"} == set(MAKERS)


def test_a_member_of_the_workspace_is_looked_at_by_its_own_place() -> None:
    data = json.loads(lock("crane"))
    data["packages"]["web"] = {"name": "web", "dependencies": {"crane": "file:../libs/crane"}}
    manifests = {"package.json": manifest("crane"), "other/package.json": manifest("dock")}
    web = project_of({"crane": "file:../libs/crane"})
    assert doubt_of("package-lock.json", json.dumps(data), {**manifests, "web/package.json": web}) == ""
    web = project_of({"dock": "1"})
    doubt = doubt_of("package-lock.json", json.dumps(data), {**manifests, "web/package.json": web})
    assert doubt == "package-lock.json does not contain dock"


def test_another_range_than_the_manifest_states_is_a_doubt() -> None:
    stated = project_of({"crane": "^9.0.0"})
    doubt = doubt_of("package-lock.json", lock("crane"), {"package.json": stated})
    assert doubt == "package-lock.json has another version range for crane than package.json"


def test_a_package_that_does_not_find_what_it_needs_is_a_doubt() -> None:
    broken = CARGO.replace('name = "anchor"', 'name = "chain"')
    assert "whose dependency is missing" in doubt_of("Cargo.lock", broken, {"Cargo.toml": cargo_project()})
