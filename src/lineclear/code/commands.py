"""The commands that a program registers by a name: click, typer, argparse, Django, cobra, commander, yargs,
clap, System.CommandLine, Artisan and Symfony.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.source_text import SourceText, module_of, string_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # name, handler, place
    Commands = Iterator[tuple[str, str, int]]

_HINT = re.compile(r"(?i)command|add_parser|signature|defaultName")
_DJANGO = re.compile(r"(?:.*/)?management/commands/([a-z]\w*)\.py")
MAX_DECORATORS = 1_500  # characters between a decorator and its function
MAX_CHAIN = 20


def commands_of(path: str, text: str) -> list[tuple[str, str, int]]:
    """(name, handler, row). The name says to which parent the command belongs, and the handler where it
    is."""
    django = _DJANGO.fullmatch(path)
    if django:
        return [(f"manage.py {django[1]}", path, 0)]
    read = _READERS.get(path[path.rfind(".") :])
    if read is None or not _HINT.search(text):
        return []
    source = SourceText(path, text)
    return [(name, f"{handler} in {path}", source.row(place)) for name, handler, place in read(source)]


# -- Python ----------------------------------------------------------------------------------------

_DECORATED = re.compile(r"@((?:\w+\.)*\w+)\.(?:command|group)(\(|[ \t]*\n)")
_PARSER = re.compile(r"(?<![\w.])((?:\w+\.)*\w+)\.add_parser\(")
_FUNCTION = re.compile(r"\bdef\s+(\w+)")
_IMPORT = re.compile(r"^from[ \t]+([.\w]+)[ \t]+import[ \t]*(?:\(([^()]*)\)|([^\n]*))", re.M)


def _python(source: SourceText) -> Commands:
    imported = _imported(source)
    for found in source.find(_DECORATED):
        parent = found[1]
        if parent in ("click", "typer", "asyncclick"):
            continue  # a command without a parent
        arguments = source.arguments(found.end()) if found[2] == "(" else []
        function = _FUNCTION.search(source.text, found.end(), found.end() + MAX_DECORATORS)
        name = _given_name(arguments) or (function[1].replace("_", "-") if function else "")
        if name:
            where = imported.get(parent.partition(".")[0], module_of(source.path))
            yield f"{name} of {where}:{parent}", function[1] if function else "", found.start()
    for found in source.find(_PARSER):
        arguments = source.arguments(found.end())
        parser = string_in(arguments[0]) if arguments else None
        if parser:
            is_own = re.search(rf"\b{re.escape(found[1])}\s*=[^\n=]*\.add_subparsers\(", source.text)
            where = f" in {source.path}" if is_own else ""
            yield f"{parser} of {found[1]}{where}", ", ".join(arguments[1:]), found.start()


def _given_name(arguments: list[str]) -> str:
    for argument in arguments[:1] + [one for one in arguments[1:] if one.startswith("name")]:
        given = string_in(re.sub(r"^name\s*=\s*", "", argument))
        if given:
            return given
    return ""


def _imported(source: SourceText) -> dict[str, str]:
    """Name -> the module that it comes from, in the form of `module_of`."""
    found: dict[str, str] = {}
    for line in source.find(_IMPORT):
        module = line[1].lstrip(".")
        dots = len(line[1]) - len(module)
        folder = source.path.split("/")[:-dots] if dots else []
        steps = [*folder, *filter(None, module.split("."))]
        for name in (line[2] or line[3] or "").split(","):
            words = name.split()
            if words:
                found[words[-1]] = ".".join(steps[-2:])
    return found


# -- Go: cobra -------------------------------------------------------------------------------------

_COBRA = re.compile(r"\b(\w+)\s*:?=\s*&?cobra\.Command\s*\{")
_USE = re.compile(r"\bUse:\s*\"([\w:-]+)")
_ADDED = re.compile(r"\b(\w+)\.AddCommand\(([^()]{0,2000})\)")


def _go(source: SourceText) -> Commands:
    parents: dict[str, str] = {}
    for found in source.find(_ADDED):
        for child in re.findall(r"\w+", found[2]):
            parents[child] = found[1]
    folder = source.path.rpartition("/")[0]
    for found in source.find(_COBRA):
        block = source.block_from(found.end() - 1)
        use = _USE.search(source.text, *block) if block else None
        if use and found[1] in parents:
            yield f"{use[1]} of {parents[found[1]]} in {folder}", found[1], found.start()


# -- JavaScript and TypeScript: commander, yargs -----------------------------------------------------

_COMMANDER = re.compile(r"(?<![\w.$])([\w$]+)\s*\.\s*command\(\s*(?=[\"'`])")
_PARENT = re.compile(r"program|cli|yargs|\w*(?:[cC]ommand|[pP]rogram)")
_MADE = re.compile(r"\b(\w+)\s*=\s*(?:new\s+Command\(|[\w$]+\s*\.\s*command\()")
_LINK = re.compile(r"\s*\.\s*(\w+)\(")


def _script(source: SourceText) -> Commands:
    made = {found[1] for found in source.find(_MADE)}
    for found in source.find(_COMMANDER):
        arguments = source.arguments(found.end())
        given = string_in(arguments[0]) if arguments else None
        if not given or not (found[1] in made or _PARENT.fullmatch(found[1])):
            continue
        where = f" in {source.path}" if found[1] in made else ""
        handler = _action(source, found.end()) or ", ".join(arguments[1:])
        yield f"{given.split()[0]} of {found[1]}{where}", handler, found.start()


def _action(source: SourceText, place: int) -> str:
    """What a chain of calls gives to `action`."""
    at = source.end_of_call(place)
    for _ in range(MAX_CHAIN):
        link = _LINK.match(source.text, at)
        if link is None:
            break
        if link[1] == "action":
            return ", ".join(source.arguments(link.end()))
        at = source.end_of_call(link.end())
    return ""


# -- Rust: clap; C#: System.CommandLine --------------------------------------------------------------

_BUILT = re.compile(
    r"\.(?:subcommand|AddCommand|Add)\(\s*(?:new\s+)?(?:\w+::)?(?:Command|SubCommand|App)(?:::(?:new|with_name))?\(\s*\"([\w:-]+)\""
)


def _built(source: SourceText) -> Commands:
    for found in source.find(_BUILT):
        around = ".".join(filter(None, [source.function_at(found.start())]))
        where = f"{around} in {source.path}" if around else source.path
        yield (
            f"{found[1]} of {where}",
            source.text[found.end() : source.end_of_call(found.end())],
            found.start(),
        )


# -- PHP: Artisan, Symfony ---------------------------------------------------------------------------

_PHP = re.compile(
    r"(?:\$signature\s*=\s*|\$defaultName\s*=\s*|#\[AsCommand\(\s*(?:name:\s*)?)[\"']([\w.-]+(?::[\w.-]+)*)"
)
_CLASS = re.compile(r"\bclass\s+(\w+)")


def _php(source: SourceText) -> Commands:
    for found in source.find(_PHP):
        own = _CLASS.search(source.text)
        yield found[1], own[1] if own else "", found.start()


_READERS: dict[str, Callable[[SourceText], Commands]] = {
    ".py": _python,
    ".go": _go,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), _script),
    ".rs": _built,
    ".cs": _built,
    ".php": _php,
}
