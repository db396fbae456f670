"""Lock files: merged by entry only where the result is one that the package manager could have written."""

from __future__ import annotations

import json

import pytest

from lineclear.merge import merge_texts
from lineclear.merge.handlers.locks import command_for
from lineclear.merge.handlers.npm_ranges import is_within

HEAD = "# generated\nversion = 3\n"


def crate(name: str, version: str, *needs: str, own: bool = False) -> str:
    listed = "dependencies = [\n" + "".join(f' "{need}",\n' for need in needs) + "]\n" if needs else ""
    source = "" if own else 'source = "registry+https://crates.example"\nchecksum = "00"\n'
    return f'\n[[package]]\nname = "{name}"\nversion = "{version}"\n{source}{listed}'


def lock(*crates: str) -> str:
    return HEAD + "".join(crates)


BASE = lock(crate("app", "0.1.0", "log", own=True), crate("log", "0.4.1"))


def outcome(path: str, base: str, left: str, right: str) -> str:
    there, back = merge_texts(path, base, left, right), merge_texts(path, base, right, left)
    assert there.is_clean == back.is_clean
    if there.is_clean:
        assert there.text == back.text
        return there.text
    assert "run `" in there.conflicts[0].doubt
    return ""


def test_two_new_crates_are_both_there_sorted() -> None:
    left = lock(crate("app", "0.1.0", "log", "rand", own=True), crate("log", "0.4.1"), crate("rand", "0.8.0"))
    right = lock(
        crate("app", "0.1.0", "log", "time", own=True), crate("log", "0.4.1"), crate("time", "0.3.0")
    )
    assert outcome("Cargo.lock", BASE, left, right) == lock(
        crate("app", "0.1.0", "log", "rand", "time", own=True),
        crate("log", "0.4.1"),
        crate("rand", "0.8.0"),
        crate("time", "0.3.0"),
    )


def test_one_crate_raised_to_two_versions_is_a_conflict() -> None:
    left, right = (BASE.replace('"0.4.1"', version) for version in ('"0.4.2"', '"0.4.3"'))
    assert outcome("Cargo.lock", BASE, left, right) == ""


def test_a_crate_that_nobody_needs_any_more_is_a_conflict() -> None:
    """One side drops what needed it, the other takes it up for what was dropped."""
    base = lock(crate("app", "0.1.0", "web", own=True), crate("web", "1.0.0"))
    left = lock(crate("app", "0.1.0", "time", own=True), crate("time", "0.3.0"))
    right = lock(crate("app", "0.1.0", "web", own=True), crate("log", "0.4.1"), crate("web", "1.0.0", "log"))
    assert outcome("Cargo.lock", base, left, right) == ""


def test_a_crate_dropped_here_and_needed_there_is_a_conflict() -> None:
    base = lock(crate("app", "0.1.0", "log", own=True), crate("log", "0.4.1"), crate("web", "1.0.0"))
    base = base.replace(' "log",\n', ' "log",\n "web",\n', 1)
    left = lock(crate("app", "0.1.0", "log", own=True), crate("log", "0.4.1"))
    right = base.replace('"web",\n]', '"web",\n]') + crate("zip", "1.0.0", "web")
    right = right.replace(' "web",\n', ' "web",\n "zip",\n', 1)
    assert outcome("Cargo.lock", base, left, right) == ""


def test_uv_packages_by_name() -> None:
    def package(name: str, *needs: str, own: bool = False) -> str:
        source = '{ virtual = "." }' if own else '{ registry = "https://pypi.example/simple" }'
        rows = "".join(f'    {{ name = "{need}" }},\n' for need in needs)
        listed = f"dependencies = [\n{rows}]\n" if needs else ""
        return f'\n[[package]]\nname = "{name}"\nversion = "1.0"\nsource = {source}\n{listed}'

    base = lock(package("attrs"), package("shop", "attrs", own=True))
    left = lock(package("attrs"), package("rich"), package("shop", "attrs", "rich", own=True))
    right = lock(package("attrs"), package("shop", "attrs", "trio", own=True), package("trio"))
    assert outcome("uv.lock", base, left, right) == lock(
        package("attrs"), package("rich"), package("shop", "attrs", "rich", "trio", own=True), package("trio")
    )


def npm(root: dict[str, str], **packages: dict[str, object]) -> str:
    entries: dict[str, object] = {"": {"name": "shop", "dependencies": root}}
    entries |= {f"node_modules/{name}": entry for name, entry in packages.items()}
    return json.dumps({"name": "shop", "lockfileVersion": 3, "packages": entries}, indent=2) + "\n"


def test_two_new_npm_packages_are_both_there() -> None:
    base = npm({"a": "^1.0.0"}, a={"version": "1.0.1"})
    left = npm({"a": "^1.0.0", "b": "^2.0.0"}, a={"version": "1.0.1"}, b={"version": "2.1.0"})
    right = npm({"a": "^1.0.0", "c": "~3.1.0"}, a={"version": "1.0.1"}, c={"version": "3.1.4"})
    result = merge_texts("web/package-lock.json", base, left, right)
    assert result.is_clean, result.verdict
    packages = json.loads(result.text)["packages"]
    assert set(packages) == {"", "node_modules/a", "node_modules/b", "node_modules/c"}
    assert set(packages[""]["dependencies"]) == {"a", "b", "c"}


def test_a_raised_npm_package_that_another_no_longer_accepts_is_a_conflict() -> None:
    base = npm({"a": "*"}, a={"version": "1.0.0"})
    left = npm({"a": "*"}, a={"version": "2.0.0"})
    right = npm(
        {"a": "*", "b": "*"}, a={"version": "1.0.0"}, b={"version": "1.0.0", "dependencies": {"a": "^1.0.0"}}
    )
    assert outcome("package-lock.json", base, left, right) == ""


def test_a_lock_file_bound_to_its_manifest_by_a_hash_is_a_conflict() -> None:
    base = '[metadata]\ncontent-hash = "a"\n'
    assert outcome("poetry.lock", base, base.replace('"a"', '"b"'), base.replace('"a"', '"c"')) == ""


@pytest.mark.parametrize(
    ("version", "wanted", "is_met"),
    [
        ("1.2.3", "^1.0.0", True),
        ("2.0.0", "^1.0.0", False),
        ("0.2.5", "^0.2.1", True),
        ("0.3.0", "^0.2.1", False),
        ("1.2.9", "~1.2.3", True),
        ("1.3.0", "~1.2.3", False),
        ("1.9.0", "1.x", True),
        ("1.2.3", "1.2.3", True),
        ("1.2.4", "1.2.3", False),
        ("3.0.0", "^1.0.0 || ^3.0.0", True),
        ("2.5.0", ">=2.0.0 <3", True),
        ("3.0.0", ">=2.0.0 <3", False),
        ("2.0.0", "1.0.0 - 2.0.0", True),
        ("9.9.9", "*", True),
        ("9.9.9", "", True),
        ("1.0.0-beta.1", "^1.0.0", False),
        ("1.0.0", "npm:other@^1.0.0", False),
        ("1.0.0", "latest", False),
        (None, "^1.0.0", False),
    ],
)
def test_npm_ranges(version: str | None, wanted: str, is_met: bool) -> None:
    assert is_within(version, wanted) is is_met


def test_the_command_is_run_beside_the_lock_file() -> None:
    assert command_for("Cargo.lock") == "cargo update --workspace"
    assert command_for("my web/package-lock.json") == "(cd 'my web' && npm install --package-lock-only)"
    assert command_for("README.md") == ""
