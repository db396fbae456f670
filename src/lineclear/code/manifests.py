"""The packages that a manifest asks for, with the versions that it allows."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lineclear.code.source_text import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_PACKAGES = 5_000
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(\[[^\[\]]*\])?\s*([^;#]*)(;[^#]*)?")
_OPTION = ("-", ".", "/", "git+", "http")
_NPM_PARTS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_CARGO_PARTS = ("dependencies", "dev-dependencies", "build-dependencies")
_XML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_GO = re.compile(r"^(?:require)?[ \t]+([\w.~-]+(?:/[\w.~-]+)*)[ \t]+(v\d[\w.+-]*)", re.M)
_GRADLE = re.compile(r"""^[ \t]*\w+[ \t(]+(?:platform\()?["']([\w.-]+:[\w.-]+):([^"'@:\s]+)""", re.M)
_GRADLE_NAMED = re.compile(
    r"""\bgroup\s*[:=]\s*["']([\w.-]+)["']\s*,\s*name\s*[:=]\s*["']([\w.-]+)["']\s*,\s*version\s*[:=]\s*["']([^"'\s]+)"""
)
_GEM = re.compile(
    r"""^[ \t]*(?:gem|\w+\.add(?:_\w+)?_dependency)[ \t(]+["']([\w.-]+)["']"""
    r"""((?:[ \t]*,[ \t]*["'][^"'\n]*["'])*)""",
    re.M,
)
_NUGET = re.compile(r"""<Package(?:Reference|Version)\s([^<>]*)>(?:\s*<Version>([^<>]*)</Version>)?""")
_MAVEN = re.compile(r"<dependency>((?:(?!</?dependency>).)*)</dependency>", re.S)


@dataclass(frozen=True, slots=True)
class Package:
    ecosystem: str
    name: str
    versions: str
    row: int = 0


def packages_of(path: str, text: str) -> list[Package]:
    """Empty for a file that is no manifest, or that is being typed."""
    name = path.rpartition("/")[2]
    for pattern, ecosystem, read in _READERS:
        if not pattern.fullmatch(name if pattern is not _REQUIREMENTS else path):
            continue
        try:
            pairs = list(read(text))[:MAX_PACKAGES]
        except (ValueError, RecursionError):
            return []
        rows = _rows(text) if pairs else {}
        return [
            Package(ecosystem, package, flat(versions), rows.get(package.rpartition(":")[2], 0))
            for package, versions in pairs
        ]
    return []


def _rows(text: str) -> dict[str, int]:
    """Word -> the first row that has it."""
    found: dict[str, int] = {}
    for row, line in enumerate(text.split("\n")):
        for word in re.findall(r"[@\w][\w./-]*", line):
            found.setdefault(word, row)
            found.setdefault(_python_name(word), row)
    return found


# -- JSON ------------------------------------------------------------------------------------------


def _npm(text: str) -> Iterator[tuple[str, str]]:
    data = json.loads(text)
    for part in _NPM_PARTS:
        yield from _texts(_table(data, part))


def _composer(text: str) -> Iterator[tuple[str, str]]:
    data = json.loads(text)
    for part in ("require", "require-dev"):
        yield from ((name, wanted) for name, wanted in _texts(_table(data, part)) if "/" in name)


def _table(data: object, *keys: str) -> dict[str, Any]:
    """The table below the keys; empty if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _texts(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from ((name, value) for name, value in table.items() if isinstance(value, str))


# -- Python ----------------------------------------------------------------------------------------


def _pyproject(text: str) -> Iterator[tuple[str, str]]:
    data = tomllib.loads(text)
    project, tool = _table(data, "project"), _table(data, "tool")
    lists = [project.get("dependencies"), _table(tool, "uv").get("dev-dependencies")]
    lists += [*_table(project, "optional-dependencies").values(), *_table(data, "dependency-groups").values()]
    for one in lists:
        for line in one if isinstance(one, list) else []:
            if isinstance(line, str):
                yield from _requirement(line)
    groups = [_table(group) for group in _table(tool, "poetry", "group").values()]
    poetry = [_table(tool, "poetry", "dependencies"), _table(tool, "poetry", "dev-dependencies")]
    for table in [*poetry, *(_table(group, "dependencies") for group in groups)]:
        for name, value in table.items():
            for one in value if isinstance(value, list) else [value]:
                wanted = _version_in(one)
                if wanted and name != "python":
                    yield _python_name(name), wanted


def _requirements(text: str) -> Iterator[tuple[str, str]]:
    for line in text.replace("\\\n", " ").split("\n"):
        if not line.lstrip().startswith((*_OPTION, "#")):
            yield from _requirement(line.partition(" --")[0])


def _requirement(text: str) -> Iterator[tuple[str, str]]:
    found = _REQUIREMENT.match(text)
    if found:
        yield _python_name(found[1]), f"{found[3].strip()}{found[4] or ''}".strip()


def _python_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _version_in(value: object) -> str:
    """The versions in a value of Poetry or Cargo, with Poetry's marker; "" for a path or a repository."""
    if isinstance(value, str):
        return value
    table = _table(value)
    version, marker = table.get("version"), table.get("markers") or table.get("python")
    if not isinstance(version, str):
        return ""
    return f"{version}; {marker}" if isinstance(marker, str) else version


# -- others ----------------------------------------------------------------------------------------


def _cargo(text: str) -> Iterator[tuple[str, str]]:
    data = tomllib.loads(text)
    places = [data, _table(data, "workspace"), *map(_table, _table(data, "target").values())]
    for table in (_table(place, part) for place in places for part in _CARGO_PARTS):
        for name, value in table.items():
            package = _table(value).get("package", name)
            wanted = _version_in(value)
            if wanted and isinstance(package, str):
                yield package, wanted


def _go(text: str) -> Iterator[tuple[str, str]]:
    yield from ((found[1], found[2]) for found in _GO.finditer(text))


def _maven(text: str) -> Iterator[tuple[str, str]]:
    plain = _XML_COMMENT.sub("", text)
    values = dict(re.findall(r"<([\w.-]+)>([^<>\s]+)</\1>", plain))
    for block in _MAVEN.findall(plain):
        own = dict(re.findall(r"<(groupId|artifactId|version)>\s*([^<>\s]+)\s*</\1>", block))
        version = re.sub(
            r"\$\{([\w.-]+)\}", lambda found: values.get(found[1], found[0]), own.get("version", "")
        )
        if version and "groupId" in own and "artifactId" in own:
            yield f"{own['groupId']}:{own['artifactId']}", version


def _gradle(text: str) -> Iterator[tuple[str, str]]:
    yield from ((found[1], found[2]) for found in _GRADLE.finditer(text))
    yield from ((f"{found[1]}:{found[2]}", found[3]) for found in _GRADLE_NAMED.finditer(text))


def _gems(text: str) -> Iterator[tuple[str, str]]:
    for found in _GEM.finditer(text):
        yield found[1], ", ".join(re.findall(r"""["']([^"']*)["']""", found[2]))


def _nuget(text: str) -> Iterator[tuple[str, str]]:
    for found in _NUGET.finditer(_XML_COMMENT.sub("", text)):
        own = dict(re.findall(r"""(\w+)\s*=\s*["']([^"']*)["']""", found[1]))
        version = own.get("Version") or own.get("VersionOverride") or found[2] or ""
        if version and "Include" in own:
            yield own["Include"], version


_REQUIREMENTS = re.compile(r"(?:.*/)?(?:[\w.-]*requirements[\w.-]*|requirements/[\w.-]+)\.(?:txt|in)")
_READERS: tuple[tuple[re.Pattern[str], str, Callable[[str], Iterator[tuple[str, str]]]], ...] = (
    (re.compile(r"package\.json"), "npm", _npm),
    (re.compile(r"pyproject\.toml"), "pypi", _pyproject),
    (_REQUIREMENTS, "pypi", _requirements),
    (re.compile(r"Cargo\.toml"), "cargo", _cargo),
    (re.compile(r"go\.mod"), "go", _go),
    (re.compile(r"pom\.xml"), "maven", _maven),
    (re.compile(r"build\.gradle(?:\.kts)?"), "maven", _gradle),
    (re.compile(r"Gemfile|[\w.-]+\.gemspec"), "gem", _gems),
    (re.compile(r"composer\.json"), "composer", _composer),
    (re.compile(r"[\w.-]+\.(?:cs|fs|vb)proj|Directory\.Packages\.props"), "nuget", _nuget),
)
