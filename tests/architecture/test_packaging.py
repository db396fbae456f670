"""What is published beside the package says the same as the package: versions, names, lengths, one skill."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import lineclear
from lineclear.cli.index import INDEX

ROOT = Path(__file__).parents[2]
SKILL = ROOT / "plugin/skills/lineclear/SKILL.md"
# Where each manifest says the version.
VERSIONS: dict[str, list[tuple[str | int, ...]]] = {
    "plugin/.claude-plugin/plugin.json": [("version",)],
    ".claude-plugin/marketplace.json": [("metadata", "version"), ("plugins", 0, "version")],
    "server.json": [("version",), ("packages", 0, "version")],
    "gemini-extension.json": [("version",)],
}


def manifest(name: str) -> Any:
    return json.loads((ROOT / name).read_text())


def test_every_manifest_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert (ROOT / project["tool"]["hatch"]["version"]["path"]) == ROOT / "src/lineclear/__init__.py"
    for name, places in VERSIONS.items():
        for place in places:
            found = manifest(name)
            for key in place:
                found = found[key]
            assert found == lineclear.__version__, (name, place)


def test_every_manifest_has_the_name_and_licence_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    plugin, market = (
        manifest("plugin/.claude-plugin/plugin.json"),
        manifest(".claude-plugin/marketplace.json"),
    )
    assert plugin["license"] == project["license"]
    names = [plugin["name"], market["plugins"][0]["name"], manifest("gemini-extension.json")["name"]]
    assert {*names, manifest("server.json")["packages"][0]["identifier"]} == {project["name"]}
    assert (ROOT / market["plugins"][0]["source"]).resolve() == ROOT / "plugin"


def test_the_entry_of_the_registry_keeps_to_its_schema() -> None:
    """The limits of the schema of 2025-12-11; the registry compares the name with the one in the README."""
    said = manifest("server.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", said["name"])
    assert 3 <= len(said["name"]) <= 200
    assert 1 <= len(said["description"]) <= 100
    assert 1 <= len(said["title"]) <= 100
    (package,) = said["packages"]
    assert package["registryType"] == "pypi"
    assert package["transport"] == {"type": "stdio"}
    assert [word["value"] for word in package["packageArguments"]] == ["mcp"]
    assert f"<!-- mcp-name: {said['name']} -->" in (ROOT / "README.md").read_text()


def test_there_is_one_skill_for_all_clients() -> None:
    assert (ROOT / ".agents/skills/lineclear/SKILL.md").resolve() == SKILL
    assert ROOT / manifest("gemini-extension.json")["contextFileName"] == SKILL


def test_the_skill_can_be_read_and_names_verbs_that_exist() -> None:
    text = SKILL.read_text()
    head, body = text.removeprefix("---\n").split("\n---\n", 1)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == SKILL.parent.name
    assert 1 <= len(fields["description"]) <= 1024
    assert len(body) / 4 <= 5000, "tokens, four bytes each"
    called = re.findall(r"`lineclear ([a-z][a-z -]*[a-z])", " ".join(text.split()))
    assert called
    for words in called:
        assert words in INDEX or words.split()[0] in INDEX, words
