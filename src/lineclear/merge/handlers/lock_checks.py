"""Does a lock file that a package manager wrote fit these manifests? Any doubt is returned as text.

Does not resolve versions: it checks that the file is complete and readable, and contains every dependency
that a manifest of the project names.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING

from lineclear.merge.handlers.lock_entries import all_found, read_packages
from lineclear.merge.handlers.npm_lock import nearest, packages_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    Manifests = Mapping[str, str]  # path from the lock file's directory -> text

_MARKER = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |$)", re.M)
_NPM_KINDS = ("dependencies", "devDependencies", "optionalDependencies")
_CARGO_KINDS = ("dependencies", "dev-dependencies", "build-dependencies")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_PNPM_KEY = re.compile(r"""^ +['"]?((?:@[^/'":]+/)?[^@'":/ ]+)['"]?:""", re.M)
_YARN_HEAD = re.compile(r"""^"?[^\s#].*:$""", re.M)
_YARN_NAME = re.compile(r"""(?:^"?|, )((?:@[^/@"]+/)?[^@", ]+)@""")
_GEM = re.compile(r"""^\s*gem[ (]\s*["']([^"']+)["']""", re.M)
_GEMS_LOCKED = re.compile(r"^DEPENDENCIES\n((?:  \S.*\n?)*)", re.M)


class Doubt(Exception):
    """Why the lock file cannot be trusted."""


def doubt_of(name: str, text: str, manifests: Manifests) -> str:
    """Why the lock file does not fit, or "". `name` is its file name; paths of manifests are relative to
    it."""
    if not text.strip():
        return f"{name} is empty"
    if _BESIDE[name] not in manifests:
        return f"{_BESIDE[name]} is not beside {name}"
    if _MARKER.search(text):
        return f"{name} contains conflict markers"
    try:
        _CHECKS[name](text, manifests)
    except Doubt as doubt:
        return f"{name} {doubt}"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return f"{name} or its manifest cannot be read"
    return ""


def _all_in(wanted: Iterator[str], locked: set[str]) -> None:
    missing = sorted({name for name in wanted if name not in locked})
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise Doubt(f"does not contain {missing[0]}{more}")


# -- JavaScript -----------------------------------------------------------------------------------


def _npm(text: str, manifests: Manifests) -> None:
    data = json.loads(text)
    packages = packages_of(data)
    if packages is None:
        _all_in(_npm_names(manifests), set(data["dependencies"]))
        return
    for path, manifest in manifests.items():
        place = path.rpartition("/")[0]
        if not path.endswith("package.json") or place not in packages:
            continue
        stated, entry = json.loads(manifest), packages[place]
        for kind in _NPM_KINDS:
            for name, wanted in (stated.get(kind) or {}).items():
                if nearest(packages, place, name) is None:
                    raise Doubt(f"does not contain {name}")
                if wanted not in [(entry.get(other) or {}).get(name) for other in _NPM_KINDS]:
                    raise Doubt(f"has another version range for {name} than {path}")
    if "" not in packages:
        raise Doubt("does not contain the project itself")


def _npm_names(manifests: Manifests) -> Iterator[str]:
    stated = json.loads(manifests["package.json"])
    return (name for kind in _NPM_KINDS for name in stated.get(kind) or {})


def _pnpm(text: str, manifests: Manifests) -> None:
    if not re.search(r"^lockfileVersion:", text, re.M):
        raise Doubt("does not state the version of its format")
    _all_in(_npm_names(manifests), set(_PNPM_KEY.findall(text)))


def _yarn(text: str, manifests: Manifests) -> None:
    if not re.search(r"^__metadata:", text, re.M):
        raise Doubt("was not written by yarn 2 or newer")
    heads = (head[0] for head in _YARN_HEAD.finditer(text))
    _all_in(_npm_names(manifests), {name for head in heads for name in _YARN_NAME.findall(head)})


# -- Rust -----------------------------------------------------------------------------------------


def _cargo(text: str, manifests: Manifests) -> None:
    tables = {path: tomllib.loads(manifest) for path, manifest in manifests.items()}
    shared = tables["Cargo.toml"].get("workspace", {}).get("dependencies", {})
    own, names = _toml_packages(text, is_uv=False)
    for path, table in tables.items():
        if path == "Cargo.toml" or table.get("package", {}).get("name") in own:
            _all_in(_crates(table, shared), names)


def _crates(table: dict[str, Any], shared: dict[str, Any]) -> Iterator[str]:
    """The packages that a manifest needs, by their real names: a manifest may give them others."""
    for part in (table, *table.get("target", {}).values()):
        for kind in _CARGO_KINDS:
            for name, wish in part.get(kind, {}).items():
                is_shared = isinstance(wish, dict) and wish.get("workspace")
                stated = shared.get(name) if is_shared else wish
                yield stated.get("package", name) if isinstance(stated, dict) else name


def _toml_packages(text: str, *, is_uv: bool) -> tuple[set[str], set[str]]:
    """(names of the project's own packages, names of all packages); raises if a dependency is missing."""
    tomllib.loads(text)
    packages = read_packages(text, is_uv)
    if not all_found(packages):
        raise Doubt("has a package whose dependency is missing")
    return {one.name for one in packages if one.is_own}, {one.name for one in packages}


# -- Python ---------------------------------------------------------------------------------------


def _uv(text: str, manifests: Manifests) -> None:
    own, names = _toml_packages(text, is_uv=True)
    for path, manifest in manifests.items():
        table = tomllib.loads(manifest)
        name = table.get("project", {}).get("name", "")
        if path == "pyproject.toml" or _python_name(name) in own:
            _all_in(_requirements(table), names)


def _poetry(text: str, manifests: Manifests) -> None:
    locked = {_python_name(one["name"]) for one in tomllib.loads(text).get("package", [])}
    _all_in(_requirements(tomllib.loads(manifests["pyproject.toml"])), locked)


def _requirements(table: dict[str, Any]) -> Iterator[str]:
    project, tools = table.get("project", {}), table.get("tool", {})
    poetry = tools.get("poetry", {})
    lists = [project.get("dependencies", []), tools.get("uv", {}).get("dev-dependencies", [])]
    lists += [
        *project.get("optional-dependencies", {}).values(),
        *table.get("dependency-groups", {}).values(),
    ]
    for requirement in (one for some in lists for one in some if isinstance(one, str)):
        found = _REQUIREMENT.match(requirement)
        if found:
            yield _python_name(found[1])
    keyed = [poetry.get("dependencies", {}), poetry.get("dev-dependencies", {})]
    keyed += [group.get("dependencies", {}) for group in poetry.get("group", {}).values()]
    yield from (_python_name(name) for some in keyed for name in some if name != "python")


def _python_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# -- PHP, Ruby ------------------------------------------------------------------------------------


def _composer(text: str, manifests: Manifests) -> None:
    lock, stated = json.loads(text), json.loads(manifests["composer.json"])
    locked = {one["name"].lower() for kind in ("packages", "packages-dev") for one in lock[kind]}
    wanted = (name.lower() for kind in ("require", "require-dev") for name in stated.get(kind) or {})
    # Names without a slash are PHP itself and its extensions.
    _all_in((name for name in wanted if "/" in name), locked)


def _bundler(text: str, manifests: Manifests) -> None:
    found = _GEMS_LOCKED.search(text)
    if found is None:
        raise Doubt("lists no dependencies")
    locked = {line.split()[0].rstrip("!") for line in found[1].split("\n") if line.strip()}
    _all_in(iter(_GEM.findall(manifests["Gemfile"])), locked)


# The manifest that must be beside the lock file.
_BESIDE = {
    "package-lock.json": "package.json",
    "npm-shrinkwrap.json": "package.json",
    "pnpm-lock.yaml": "package.json",
    "yarn.lock": "package.json",
    "Cargo.lock": "Cargo.toml",
    "uv.lock": "pyproject.toml",
    "poetry.lock": "pyproject.toml",
    "composer.lock": "composer.json",
    "Gemfile.lock": "Gemfile",
}

_CHECKS: dict[str, Callable[[str, Manifests], None]] = {
    "package-lock.json": _npm,
    "npm-shrinkwrap.json": _npm,
    "pnpm-lock.yaml": _pnpm,
    "yarn.lock": _yarn,
    "Cargo.lock": _cargo,
    "uv.lock": _uv,
    "poetry.lock": _poetry,
    "composer.lock": _composer,
    "Gemfile.lock": _bundler,
}
