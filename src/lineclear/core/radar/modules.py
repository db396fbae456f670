"""Which file a module's name stands for, in each family of languages."""

from __future__ import annotations

from dataclasses import dataclass
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineclear.core.radar.facts import FileFacts

_FAMILIES = {"tsx": "script", "typescript": "script", "javascript": "script", "kotlin": "jvm", "java": "jvm"}
BY_PACKAGE = ("jvm", "c_sharp", "php")
_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".d.ts")
# Prefixes by which projects name their own source folder.
_OWN_ROOTS = ("@/", "~/", "#/", "src/", "app/")


@dataclass(frozen=True, slots=True)
class Place:
    """A file and its facts."""

    path: str
    facts: FileFacts

    @property
    def family(self) -> str:
        """Languages that can use each other's definitions have one family."""
        return _FAMILIES.get(self.facts.language, self.facts.language)

    @property
    def package(self) -> str:
        return self.facts.package


def is_module_of(module: str, here: Place, there: Place) -> bool:
    """Does a module's name, written in the file `here`, stand for the file `there`?"""
    family = here.family
    if family in BY_PACKAGE:
        separator = "\\" if family == "php" else "."
        own = f"{there.package}{separator}{_stem(there.path).rpartition('/')[2]}"
        return module.strip("\\") in (there.package, own)
    if family == "go":
        folder = dirname(there.path)
        if not folder:
            return module.rpartition("/")[2] == there.package
        return module == folder or module.endswith("/" + folder)
    if family == "rust":
        return _is_rust_module(module, here.path, there.path)
    return there.path in files_of(module, here) or _ends_like(module, here.family, there.path)


def files_of(module: str, here: Place) -> list[str]:
    """The files that a module written in the file `here` may be."""
    folder = dirname(here.path)
    if here.family == "python":
        if module.startswith("."):
            for _ in range(len(module) - len(module.lstrip(".")) - 1):
                folder = dirname(folder)
        else:
            folder = ""
        place = "/".join(part for part in (folder, *module.lstrip(".").split(".")) if part)
        return [f"{root}{place}{end}" for root in ("", "src/") for end in (".py", "/__init__.py", ".pyi")]
    if here.family == "script" and module.startswith("."):
        place = normpath(join(folder, module))
        stem = _stem(place) if place.endswith(_SCRIPTS) else place
        return [place, *(stem + end for end in _SCRIPTS), *(f"{stem}/index{end}" for end in _SCRIPTS)]
    if here.family == "ruby":
        place = normpath(join(folder, module))
        return [place + ".rb", place, module + ".rb"]
    return []


def _ends_like(module: str, family: str, path: str) -> bool:
    """Is an absolute module the end of a file's path?"""
    stem = _stem(path).removesuffix("/__init__").removesuffix("/index")
    if module.startswith("."):
        return False
    if family == "python":
        module = module.replace(".", "/")
    elif family == "script":
        if not module.startswith(_OWN_ROOTS):
            return False
        module = module.removeprefix("@").removeprefix("~").removeprefix("#").lstrip("/")
        module = _stem(module) if module.endswith(_SCRIPTS) else module
    elif family != "ruby":
        return False
    return stem == module or stem.endswith("/" + module)


def _is_rust_module(module: str, path: str, other: str) -> bool:
    """Compare the steps of a module with the steps of a path, from the end."""
    steps = [step for step in module.split("::") if step]
    place = _rust_steps(other)
    if steps and steps[0] in ("self", "super"):
        around = _rust_steps(path)
        while steps and steps[0] in ("self", "super"):
            around = around[:-1] if steps[0] == "super" else around
            steps = steps[1:]
        return [*around, *steps] == place
    if steps and steps[0] == "crate":
        return steps[1:] == place
    # The name of a crate, or of a module that is declared here.
    return bool(steps) and (steps == place[-len(steps) :] or (len(steps) > 1 and steps[1:] == place))


def _rust_steps(path: str) -> list[str]:
    steps = _stem(path).split("/")
    if "src" in steps:
        steps = steps[len(steps) - steps[::-1].index("src") :]
    return steps[:-1] if steps[-1] in ("lib", "main", "mod") else steps


def _stem(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.removesuffix('.d.ts').rpartition('.')[0] or name.removesuffix('.d.ts')}"
