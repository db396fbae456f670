"""The environment variables that a program reads, and their defaults; the lines of `.env` files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.source_text import SourceText, flat, string_in

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAMS = re.compile(r".*\.(?:pyi?|[mc]?[jt]s|[jt]sx|go|rs|java|kts?|cs|php|rb|rake)")
ENV_FILES = re.compile(r"(?:.*/)?(?:\.env(?:\.[\w.-]+)?|[\w-]+\.env)")
_HINT = re.compile(r"(?i)env")
_NAME = r"[A-Z][A-Z0-9_]*"
# A call with the name, and maybe the default behind it.
_CALL = re.compile(
    r"(?<![\w.])(?:os\.(?:environ\.(?:get|setdefault)|getenv|Getenv|LookupEnv)|(?:std::)?env::var(?:_os)?|ENV\.fetch"
    r"|System\.getenv\(\)\.getOrDefault|System\.getenv|Environment\.GetEnvironmentVariable|Deno\.env\.get"
    r"|env(?:\.\w+)?|[gG]et_?[eE]nv\w*|env_?[oO]r\w*|getEnv\w*|lookup_?[eE]nv\w*)"
    rf"\(\s*[\"'](?={_NAME}[\"'])"
)
_INDEXED = re.compile(
    rf"(?:\bos\.environ|\bprocess\.env|\bENV|\$_(?:ENV|SERVER))\[\s*[\"']({_NAME})[\"']\s*\]"
)
_MEMBER = re.compile(rf"\b(?:process\.env|import\.meta\.env|Bun\.env)\.({_NAME})\b")
_TAKEN_APART = re.compile(r"\{([^{}]{0,2000})\}\s*=\s*process\.env\b")
_PART = re.compile(rf"\s*({_NAME})(?:\s*:\s*\w+)?(?:\s*=\s*(.+?))?\s*")
_FALLBACK = re.compile(r"\s*+\)*+(?:\??\.\w{1,40}\(\)){0,3}\s*+(?:\?\?|\|\||\?:|\bor\b)\s*")
_CHAINED = re.compile(
    r"\s*+\)*+\s*+\.(?:unwrap_or(?:_else)?|orElse(?:Get)?)\(\s*(?:\|_?\w*\|\s*|\(\)\s*->\s*)?"
)
_BLOCK = re.compile(r"\s*+\{\s*+([^{}\n|]{1,200}?)\s*\}")
_LINE = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*([^\n]*)$", re.M)
_VALUE_END = re.compile(r"""[,;\n)\]}]|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[(\[{]""")
_NOTHING = ("null", "none", "nil", "undefined")
MAX_VALUE = 200  # characters


def variables_of(path: str, text: str) -> list[tuple[str, str, int]]:
    """(name, default or value, row); the default is "" where the program has none."""
    if ENV_FILES.fullmatch(path):
        return _lines(text)
    if not PROGRAMS.fullmatch(path) or not _HINT.search(text):
        return []
    source = SourceText(path, text)
    return [(name, _plain(default), source.row(place)) for name, default, place in _reads(source)]


def _lines(text: str) -> list[tuple[str, str, int]]:
    found, row, counted = [], 0, 0
    for line in _LINE.finditer(text):
        row, counted = row + text.count("\n", counted, line.start()), line.start()
        value = line[2].strip()
        if not value.startswith(('"', "'")):
            value = re.split(r"\s#", value, maxsplit=1)[0]
        found.append((line[1], _plain(value), row))
    return found


def _reads(source: SourceText) -> Iterator[tuple[str, str, int]]:
    for found in source.find(_CALL):
        start = found.end() - 1
        arguments = source.arguments(start)
        if not arguments:
            continue
        name, default = string_in(arguments[0]) or "", ""
        if len(arguments) > 1:
            default = re.sub(r"^default\s*=\s*", "", arguments[1])
        else:
            default = _behind(source, source.end_of_call(start), "fetch" in found[0])
        yield name, default, found.start()
    for pattern in (_INDEXED, _MEMBER):
        for found in source.find(pattern):
            yield found[1], _behind(source, found.end(), is_fetched=False), found.start()
    for found in source.find(_TAKEN_APART):
        for part in map(_PART.fullmatch, found[1].split(",")):
            if part:
                yield part[1], part[2] or "", found.start()


def _behind(source: SourceText, place: int, is_fetched: bool) -> str:
    """The default that stands behind a read: `?? 30`, `.unwrap_or("30")`, `{ 30 }`."""
    block = _BLOCK.match(source.text, place) if is_fetched else None
    if block:
        return block[1]
    found = _FALLBACK.match(source.text, place) or _CHAINED.match(source.text, place)
    return _value(source.text, found.end()) if found else ""


def _value(text: str, place: int) -> str:
    """The expression from a place to the end of its line, argument or bracket."""
    depth = 0
    for sign in _VALUE_END.finditer(text, place, place + MAX_VALUE):
        letter = sign[0]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        if depth < 0 or (not depth and letter in ",;\n"):
            return text[place : sign.start()]
    return text[place : place + MAX_VALUE]


def _plain(value: str) -> str:
    """The value without quotes, so that "30" and 30 are equal."""
    value = flat(value)
    quoted = string_in(value) if "String" not in value else None
    wrapped = re.fullmatch(r"String::from\(\s*\"([^\"]*)\"\s*\)", value)
    value = wrapped[1] if wrapped else quoted if quoted is not None else value
    lowered = value.lower()
    return "" if lowered in _NOTHING else lowered if lowered in ("true", "false") else value
