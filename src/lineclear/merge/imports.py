"""Merges import lines as a set: additions and removals of both sides count.

Works on whole statements, so a hunk is first widened to them. Each side's order is kept; if both sides keep
the group sorted, new imports are sorted in.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from lineclear.merge.diff import Steps
from lineclear.merge.lines import Chunk, three_way

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.code.languages.table import Language
    from lineclear.merge.engine import FileMerge

MAX_WIDTH = 120
MAX_STATEMENT_LINES = 100


class ImportUnit:
    """One statement, or one line between statements (blank, comment)."""

    def __init__(self, key: str, lines: list[str]) -> None:
        self.key = key
        self.lines = lines
        self.head = self.rest = ""
        self.names: list[str] | None = None

    @property
    def text(self) -> str:
        return "".join(self.lines)

    @property
    def is_statement(self) -> bool:
        return self.key.startswith("import ")


def merge_imports(file: FileMerge, chunk: Chunk, steps: Steps) -> tuple[Chunk, str] | None:
    """(the widened hunk, its merged text), or None if it contains anything but imports."""
    language = file.language
    start = language.import_line if language else None
    if language is None or start is None:
        return None
    versions = (file.base, file.left, file.right)
    spans = [
        _spans(language, lines, first, last, _starts_of(file, version, start))
        for version, (lines, (first, last)) in enumerate(zip(versions, chunk.spans(), strict=True))
    ]
    wide = widen(file.chunks, chunk, spans)
    if wide is None:
        return None
    base, left, right = (
        _units(language, lines[first:last], first, span)
        for lines, span, (first, last) in zip(versions, spans, wide.spans(), strict=True)
    )
    if base is None or left is None or right is None:
        return None
    if not any(unit.is_statement for unit in [*left, *right]):
        return None
    around = _sorting(
        _group(language, file.left, wide.l0, wide.l1, spans[1]),
        _group(language, file.right, wide.r0, wide.r1, spans[2]),
    )
    text = _merge_units(base, left, right, _Style(language, file), around, steps)
    return None if text is None else (wide, text)


class _Style:
    """How this file is formatted: its longest line gives the width, its first indented line the indent."""

    def __init__(self, language: Language, file: FileMerge) -> None:
        self.language = language
        lines = [line for line in (*file.left, *file.right) if len(line) <= MAX_WIDTH + 1]
        longest = max((len(line) - 1 for line in lines), default=0)
        self.width = max(language.line_width, longest)
        deeper = (line for line in lines if line[:1] in " \t" and line.strip()[:1] not in ("", "*"))
        first = next(deeper, "    ")
        self.step = first[: len(first) - len(first.lstrip())] or "    "


# -- statements --------------------------------------------------------------------------------


def _starts_of(file: FileMerge, version: int, start: re.Pattern[str]) -> list[int]:
    """The lines that may begin a statement, cached in the file for all its hunks."""
    if version not in file.import_starts:
        words = file.language.import_words if file.language else ()
        stripped = enumerate(map(str.lstrip, (file.base, file.left, file.right)[version]))
        file.import_starts[version] = [
            number for number, text in stripped if text.startswith(words) and start.match(text)
        ]
    return file.import_starts[version]


def _spans(language: Language, lines: list[str], first: int, last: int, starts: list[int]) -> dict[int, int]:
    """First line of every statement around a place -> the line after its last."""
    found: dict[int, int] = {}
    behind = 0
    low = bisect_left(starts, first - MAX_STATEMENT_LINES)
    for number in starts[low : bisect_left(starts, last + MAX_STATEMENT_LINES)]:
        end = _end_of(language, lines, number) if number >= behind else 0
        if end:
            found[number] = behind = end
    return found


def _end_of(language: Language, lines: list[str], start: int) -> int:
    """The line after the statement that starts here; 0 if it does not end like one."""
    depth = 0
    for number in range(start, min(len(lines), start + MAX_STATEMENT_LINES)):
        line = lines[number]
        depth += line.count("(") + line.count("{") - line.count(")") - line.count("}")
        if depth < 0:
            return 0
        if depth == 0 and not line.rstrip().endswith("\\"):
            text = "".join(lines[start : number + 1])
            is_whole = language.import_end is None or language.import_end.match(text)
            return number + 1 if is_whole else 0
    return 0


def widen(chunks: list[Chunk], chunk: Chunk, spans: list[dict[int, int]]) -> Chunk | None:
    """Grow the hunk through equal lines until it cuts no statement of any version."""
    wide = Chunk("conflict", chunk.b0, chunk.b1, chunk.l0, chunk.l1, chunk.r0, chunk.r1)
    inside = [_covered(span) for span in spans]
    index = chunks.index(chunk)
    before = chunks[index - 1] if index and chunks[index - 1].kind == "same" else None
    after = chunks[index + 1] if index + 1 < len(chunks) and chunks[index + 1].kind == "same" else None
    while _cuts(inside, (wide.b0, wide.l0, wide.r0)):
        if before is None or wide.b0 <= before.b0:
            return None
        wide.b0, wide.l0, wide.r0 = wide.b0 - 1, wide.l0 - 1, wide.r0 - 1
    while _cuts(inside, (wide.b1, wide.l1, wide.r1)):
        if after is None or wide.b1 >= after.b1:
            return None
        wide.b1, wide.l1, wide.r1 = wide.b1 + 1, wide.l1 + 1, wide.r1 + 1
    return wide


def _covered(spans: dict[int, int]) -> set[int]:
    """Places between two lines of one statement."""
    return {place for start, end in spans.items() for place in range(start + 1, end)}


def _cuts(inside: list[set[int]], places: tuple[int, int, int]) -> bool:
    return any(place in cut for place, cut in zip(places, inside, strict=True))


def _units(
    language: Language, lines: list[str], offset: int, spans: dict[int, int]
) -> list[ImportUnit] | None:
    """The statements and blank lines among these lines, or None if there is anything else."""
    units: list[ImportUnit] = []
    number = 0
    while number < len(lines):
        end = spans.get(number + offset)
        if end is not None:
            units.append(_statement(language, lines[number : end - offset]))
            number = end - offset
        elif not lines[number].strip():
            units.append(ImportUnit("", [lines[number]]))
            number += 1
        else:
            return None
    return units


def _statement(language: Language, lines: list[str]) -> ImportUnit:
    text = "".join(lines)
    indent = text[: len(text) - len(text.lstrip())]
    unit = ImportUnit("import " + indent + " ".join(text.split()), lines)
    pattern = language.import_names
    found = pattern.match(text.strip()) if pattern else None
    if found and "//" not in text and "#" not in text and "/*" not in text:
        names = _split_names(found["names"])
        if names:
            unit.head, unit.names = found[1], names
            unit.rest = found.groupdict().get("rest") or ""
            unit.key = (
                "import " + indent + " ".join((unit.head + "{}" + unit.rest.rstrip().rstrip(";")).split())
            )
    return unit


def _split_names(text: str) -> list[str]:
    """Parts between commas outside braces."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text + ","):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            part = " ".join(text[start:place].split())
            if part:
                parts.append(part)
            start = place + 1
    return parts


# -- the set -----------------------------------------------------------------------------------


def _merge_units(
    base: list[ImportUnit],
    left: list[ImportUnit],
    right: list[ImportUnit],
    style: _Style,
    sort_key: Callable[[str], str] | None,
    steps: Steps,
) -> str | None:
    maps = [{unit.key: unit for unit in units if unit.is_statement} for units in (base, left, right)]
    if any(
        len(known) != sum(unit.is_statement for unit in units)
        for known, units in zip(maps, (base, left, right), strict=True)
    ):
        return None
    keys = [[unit.key for unit in units] for units in (base, left, right)]
    order: list[str] = []
    for chunk in three_way(keys[0], keys[1], keys[2], steps):
        ours, theirs = keys[1][chunk.l0 : chunk.l1], keys[2][chunk.r0 : chunk.r1]
        if chunk.kind == "conflict":
            old = keys[0][chunk.b0 : chunk.b1]
            order += _beside(old, ours, theirs) or _unite(ours, theirs, keys, sort_key)
        else:
            order += theirs if chunk.kind == "right" else ours
    seen: set[str] = set()
    out: list[str] = []
    for key in order:
        text = _unit_text(key, maps, style) if key else "\n"
        if text is None or (key and key in seen):
            return None
        seen.add(key)
        out.append(text)
    return "".join(out)


def _beside(old: list[str], ours: list[str], theirs: list[str]) -> list[str] | None:
    """The merged keys, if one side only added before and after what the other side changed."""
    for added, changed in ((theirs, ours), (ours, theirs)):
        for start in range(len(added) - len(old) + 1 if old else 0):
            if added[start : start + len(old)] == old:
                return [*added[:start], *changed, *added[start + len(old) :]]
    return None


def _unite(
    ours: list[str],
    theirs: list[str],
    keys: list[list[str]],
    sort_key: Callable[[str], str] | None,
) -> list[str]:
    """Left's keys without those that right removed, and with those that right added."""
    base, left, right = (set(versions) for versions in keys)
    united = [key for key in ours if not key or key not in base or key in right]
    added = [key for key in theirs if key and key not in base and key not in left]
    if sort_key and all(united) and all(theirs):
        return sorted([*united, *added], key=sort_key)
    return [*united, *added]


def _unit_text(key: str, maps: list[dict[str, ImportUnit]], style: _Style) -> str | None:
    base, left, right = (known.get(key) for known in maps)
    if left is None or right is None:
        only = left or right
        if only is None or (base is not None and base.text != only.text):
            return None
        return only.text
    if right.names == left.names or (base is not None and right.names == base.names):
        return left.text if base is None or left.text != base.text else right.text
    if base is not None and left.names == base.names:
        return right.text
    if left.names is None or right.names is None:
        return None
    return _with_names(base.names or [] if base else [], left, right, style)


def _with_names(base: list[str], left: ImportUnit, right: ImportUnit, style: _Style) -> str | None:
    ours, theirs = left.names or [], right.names or []
    names = _sorted_in(base, ours, theirs, style.language)
    if not names or len(set(names)) != len(names):
        return None
    if names == theirs:
        return right.text
    return left.text if names == ours else _render(left, right, names, style)


def _sorted_in(base: list[str], ours: list[str], theirs: list[str], language: Language) -> list[str]:
    """The names of both sides, sorted if both sides sort them, else each where its side has it."""
    names = [name for name in ours if name not in base or name in theirs]
    added = [name for name in theirs if name not in base and name not in ours]
    cased = _as_rustfmt if language.name == "rust" else _as_isort
    keys = (str, str.lower, cased) if max(len(ours), len(theirs)) > 2 else ()
    orders = [[key for key in keys if side == sorted(side, key=key)] for side in (ours, theirs, base)]
    both = [key for key in orders[0] if key in orders[1]]
    # Or one side sorted them in another order than before.
    resorted = [key for key in (*orders[0], *orders[1]) if orders[0] and orders[1] and key not in orders[2]]
    if both or (resorted and base):
        return sorted([*names, *added], key=(both or resorted)[0])
    for name in added:
        names.insert(_place(names, name, theirs, set(theirs)), name)
    return names


def _place(names: list[str], name: str, theirs: list[str], known: set[str]) -> int:
    """The place after the name that it follows on its side, and after what the other side added there."""
    before = [other for other in theirs[: theirs.index(name)] if other in names]
    place = names.index(before[-1]) + 1 if before else 0
    while before and place < len(names) and names[place] not in known:
        place += 1
    return place


def _as_isort(name: str) -> str:
    """Sort key: constants, then types, then the rest."""
    return ("0" if name.isupper() else "1" if name[:1].isupper() else "2") + name


def _as_rustfmt(name: str) -> str:
    """Sort key: `self`, then modules and functions, then types, then constants."""
    if name == "self":
        return ""
    return ("2" if name.isupper() else "1" if name[:1].isupper() else "0") + name


def _render(left: ImportUnit, right: ImportUnit, names: list[str], style: _Style) -> str:
    indent = left.text[: len(left.text) - len(left.text.lstrip())]
    opening, closing = ("(", ")") if style.language.name == "python" else ("{", "}")
    many = len(left.lines) > 1 and len(right.lines) > 1
    joined = ", ".join(names)
    if style.language.name == "python":
        one = f"{indent}{left.head}{joined}\n"
    elif style.language.name == "rust":
        one = f"{indent}{left.head}{{{joined}}}{left.rest}\n"
    else:
        one = f"{indent}{left.head}{{ {joined} }}{left.rest}\n"
    if not many and len(one) - 1 <= style.width:
        return one
    body = _body(left, right, names, indent, style.step)
    return f"{indent}{left.head}{opening}\n{body}{indent}{closing}{left.rest}".rstrip() + "\n"


def _body(left: ImportUnit, right: ImportUnit, names: list[str], indent: str, step: str) -> str:
    """One name per line, or filled lines if the longer side fills its lines."""
    longer = left if len(left.lines) >= len(right.lines) else right
    inner = longer.lines[1] if len(longer.lines) > 2 else indent + step
    step = inner[: len(inner) - len(inner.lstrip())] or indent + step
    is_filled = any(len(_split_names(line.strip())) > 1 for line in longer.lines[1:-1])
    ends = "," if len(longer.lines) < 3 or longer.lines[-2].rstrip().endswith(",") else ""
    if not is_filled:
        return ",\n".join(step + name for name in names) + ends + "\n"
    has_nested = any("{" in name for name in names)
    rows: list[str] = []
    is_open = False
    for name in names:
        is_alone = has_nested and "::" in name
        if is_open and not is_alone and len(rows[-1]) + len(name) + 3 <= 100:
            rows[-1] += f", {name}"
        else:
            rows.append(step + name)
        is_open = not is_alone
    return ",\n".join(rows) + ends + "\n"


# -- order -------------------------------------------------------------------------------------


def _group(language: Language, lines: list[str], start: int, end: int, spans: dict[int, int]) -> list[str]:
    """The keys of the consecutive statements around a place."""
    ends = {stop: first for first, stop in spans.items()}
    while start in ends:
        start = ends[start]
    while end in spans:
        end = spans[end]
    units = _units(language, lines[start:end], start, spans)
    return [unit.key for unit in units or [] if unit.is_statement]


def _sorting(left: list[str], right: list[str]) -> Callable[[str], str] | None:
    """The sort key by which both sides' groups are sorted; None if they are not."""
    if len(left) < 2 or len(right) < 2:
        return None
    for key in (str, str.lower, _source):
        if left == sorted(left, key=key) and right == sorted(right, key=key):
            return key
    return None


def _source(key: str) -> str:
    """Sort key: the module that is imported from, as the quoted text or the first dotted name."""
    quoted = re.search(r"[\"']([^\"']+)[\"']", key)
    if quoted:
        return quoted[1].lower()
    named = re.search(r"(?:from|import|use)\s+(?!from\b|import\b|use\b)([\w.:]+)", key)
    return named[1].lower() if named else key.lower()
