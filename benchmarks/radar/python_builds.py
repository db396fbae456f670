"""Does a Python tree hold together? A small resolver, made without the radar's own reading of code.

It knows: files that do not compile, names that nobody binds, names imported from a module of the repository
that has no such name, attributes of such a module, and calls of its plain functions with too few or too many
arguments. Where a module may hide names (`import *`, `__getattr__`) it says nothing.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from benchmarks.radar.repositories import Repository

_KNOWN = frozenset(dir(builtins)) | {"__file__", "__path__", "__name__", "__class__", "__doc__"}


@dataclass(slots=True)
class Shape:
    """How many arguments a function takes by place, which names it knows, and which it needs."""

    places: int
    names: frozenset[str]
    needed: tuple[str, ...]
    keywords: frozenset[str]
    takes_any: bool
    any_name: bool


@dataclass(slots=True)
class Module:
    is_broken: bool = False
    is_open: bool = False
    bound: set[str] = field(default_factory=set)
    bound_anywhere: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    functions: dict[str, Shape] = field(default_factory=dict)
    imports: list[tuple[int, str, str, str]] = field(default_factory=list)  # level, module, name, alias
    attributes: set[tuple[str, str]] = field(default_factory=set)
    calls: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)


class PythonBuild:
    """Remembers every blob that it has read: two trees of one history share most of them."""

    def __init__(self) -> None:
        self._modules: dict[str, Module] = {}

    def faults(self, repository: Repository, tree: str) -> set[str]:
        files = {path: blob for path, blob in repository.files(tree).items() if path.endswith(".py")}
        modules = {path: self._module(repository, blob) for path, blob in files.items()}
        return set(_link(modules))

    def _module(self, repository: Repository, blob: str) -> Module:
        if blob not in self._modules:
            self._modules[blob] = read_module(repository.blob(blob))
        return self._modules[blob]


def read_module(source: bytes) -> Module:
    module = Module()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            compile(tree, "file", "exec")
    except (SyntaxError, ValueError, RecursionError):
        module.is_broken = True
        return module
    for node in ast.walk(tree):
        _read_node(module, node)
    bindings = Counter(name for statement in tree.body for name in _bound_by(statement))
    module.bound = set(bindings)
    module.functions = {
        node.name: _shape(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.decorator_list
        and bindings[node.name] == 1
    }
    module.is_open = (
        "*" in module.bound_anywhere or "__getattr__" in module.bound or "globals" in module.loaded
    )
    return module


def _read_node(module: Module, node: ast.AST) -> None:
    if isinstance(node, ast.Name):
        (module.loaded if isinstance(node.ctx, ast.Load) else module.bound_anywhere).add(node.id)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            module.imports.append((node.level, node.module or "", alias.name, alias.asname or alias.name))
            module.bound_anywhere.add(alias.asname or alias.name)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module.attributes.add((node.value.id, node.attr))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        _read_call(module, node.func.id, node)
    module.bound_anywhere.update(_named_by(node))


def _read_call(module: Module, name: str, node: ast.Call) -> None:
    names = tuple(keyword.arg for keyword in node.keywords if keyword.arg is not None)
    if len(names) == len(node.keywords) and not any(isinstance(each, ast.Starred) for each in node.args):
        module.calls.append((name, len(node.args), names))


def _named_by(node: ast.AST) -> Iterator[str]:
    """Names that a node binds other than by a plain assignment."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name.split(".")[0]
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _bound_by(statement: ast.AST) -> Iterator[str]:
    """Names that a statement at the top of a module binds, also inside `if`, `try`, `with` and loops."""
    yield from _named_by(statement)
    if isinstance(statement, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)
    elif isinstance(statement, ast.Name) and not isinstance(statement.ctx, ast.Load):
        yield statement.id
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        for child in ast.iter_child_nodes(statement):
            yield from _bound_by(child)


def _shape(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Shape:
    arguments = node.args
    plain = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    needed = plain[: len(plain) - len(arguments.defaults)]
    defaults = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    keywords = frozenset(each.arg for each, default in defaults if default is None)
    names = frozenset(each.arg for each in (*arguments.args, *arguments.kwonlyargs))
    return Shape(
        len(plain), names, tuple(needed), keywords, arguments.vararg is not None, arguments.kwarg is not None
    )


def _link(modules: dict[str, Module]) -> Iterator[str]:
    names = {path: _dotted(path, modules) for path in modules}
    paths = {dotted: path for path, dotted in names.items()}
    for path, module in modules.items():
        if module.is_broken:
            yield f"{path}: does not compile"
            continue
        if not module.is_open:
            for name in module.loaded - module.bound_anywhere - _KNOWN:
                yield f"{path}: nobody binds {name}"
        functions = dict(module.functions)
        for level, target, name, alias in module.imports:
            source = _resolve(path, names[path], level, target)
            other = modules.get(paths.get(source, ""))
            if other is None or other.is_broken:
                continue
            submodule = paths.get(f"{source}.{name}")
            if name not in other.bound and not other.is_open and submodule is None and name != "*":
                yield f"{path}: no {name} in {source}"
            if submodule is not None and name not in other.bound:
                known = modules[submodule].bound | _below(f"{source}.{name}", paths)
                yield from _missing_attributes(path, module, alias, modules[submodule], known)
            elif name in other.functions:
                functions.setdefault(alias, other.functions[name])
        for name, places, given in module.calls:
            if name in functions and not _accepts(functions[name], places, given):
                yield f"{path}: {name} called with {places} arguments and {given}"


def _missing_attributes(
    path: str, module: Module, alias: str, other: Module, known: set[str]
) -> Iterator[str]:
    if other.is_broken or other.is_open:
        return
    for owner, attribute in module.attributes:
        if owner == alias and attribute not in known and not attribute.startswith("__"):
            yield f"{path}: no {attribute} in {alias}"


def _below(dotted: str, paths: dict[str, str]) -> set[str]:
    """The modules in a package."""
    return {name.rpartition(".")[2] for name in paths if name.rpartition(".")[0] == dotted}


def _accepts(shape: Shape, places: int, names: tuple[str, ...]) -> bool:
    if places > shape.places and not shape.takes_any:
        return False
    if not shape.any_name and any(name not in shape.names for name in names):
        return False
    missing = set(shape.needed[places:]) | shape.keywords
    return missing <= set(names)


def _dotted(path: str, modules: dict[str, Module]) -> str:
    """The name under which a file is imported: its path from the first folder that is no package."""
    file = PurePosixPath(path)
    parts = [] if file.name == "__init__.py" else [file.stem]
    folder = file.parent
    while str(folder) != "." and str(folder / "__init__.py") in modules:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _resolve(path: str, dotted: str, level: int, target: str) -> str:
    """The module that an import means."""
    if level == 0:
        return target
    parts = dotted.split(".")
    if PurePosixPath(path).name != "__init__.py":
        parts = parts[:-1]
    kept = parts[: len(parts) - (level - 1)]
    return ".".join([*kept, target] if target else kept)
