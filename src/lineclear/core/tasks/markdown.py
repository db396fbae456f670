"""The Markdown of tasks, for lists that are imported and exported (lists.py) and for TASKS.md (page.py).

A task is one line: `- [ ] T-3 Title (open; priority: 2; scope: src/a/, "b, c.py"; after: T-1) @name`.
In the parentheses at its end, an entry with a comma, semicolon, parenthesis or quote is put in quotes, and a
quote inside it is doubled. TASKS.md puts the task's state first there; a list has no states and no names.
Any other parentheses belong to the title. Lines indented below a task of a list are its body; a line
of a body that would read as a task starts with a backslash.

Reads and writes only: callers check the entries, for example a priority. Not for the hook's path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lineclear.core.tasks.states import STATES

if TYPE_CHECKING:
    from collections.abc import Iterable

LIST_KEYS = frozenset(("id", "priority", "scope", "produces", "labels", "needs", "after"))
PAGE_KEYS = frozenset(("priority", "scope", "after", "waits for"))

_CHECKBOX = re.compile(r"([-*+]|[0-9]{1,9}[.)])[ \t]+\[([ xX])\](?:[ \t]+(.*))?$")
_ID = re.compile(r"(\[?)(T-[1-9][0-9]{0,14})(\]?):?(?=\s|$)([ \t]*)")
_NAME = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,259}"
_SIGNED = re.compile(rf"(?:^|[ \t])@({_NAME})$")
_BEHIND_GROUP = re.compile(rf"^(.*\))[ \t]+@?({_NAME})$")
_NEEDS_QUOTES = re.compile(r'[,;()"]|^\s|\s$|^$')


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """The parts of a task's line.

    `id` is like T-3. `attributes` are the entries of our parentheses except the state, each as written:
    `scope: src/a/, b.py`. On a page, `state` is "" if the line has no parentheses of ours.
    """

    title: str
    is_done: bool = False
    id: str = ""
    state: str = ""
    attributes: tuple[str, ...] = ()
    agent: str = ""
    indent: str = ""


@dataclass(slots=True, kw_only=True)
class ListedTask:
    """A task in a list. `parts` are the positions of its sub-tasks in the list, from 1."""

    line: TaskLine
    line_no: int
    content: str
    width: int
    body: list[str] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)


# -- one line: reading ----------------------------------------------------------------------------


def read_list_line(content: str, *, is_done: bool = False, indent: str = "") -> TaskLine:
    """The text after a task's checkbox in a list. An id that no title follows is itself the title."""
    title = content
    attributes: tuple[str, ...] = ()
    start, pieces = _read_group(content)
    if start > 0 and all(":" in piece and key_of(piece).lower() in LIST_KEYS for piece in pieces):
        title, attributes = content[:start].rstrip(), tuple(pieces)
    task_id = ""
    found = _ID.match(title)
    if found and not any(key_of(piece).lower() == "id" for piece in attributes):
        rest = title[found.end() :]
        if bool(found[1]) == bool(found[3]) and found[4] and rest and not rest[0].isspace():
            task_id, title = found[2], rest
    return TaskLine(title=title, is_done=is_done, id=task_id, attributes=attributes, indent=indent)


def read_page_line(line: str) -> TaskLine | None:
    """A line of TASKS.md with a bullet and a checkbox, with or without an id; None for any other text.

    People write these by hand: an id may stand alone or have only one bracket, and a name after our
    parentheses may lack its at sign.
    """
    text = line.lstrip(" \t")
    box = _CHECKBOX.match(text)
    if box is None or box[1] not in "-*+" or not box[3] or box[3][0].isspace():
        return None
    title = box[3].strip()
    found = _ID.match(title)
    title, agent = _without_name(title[found.end() :] if found else title)
    start, pieces = _read_page_group(title)
    return TaskLine(
        title=title[:start].rstrip() if pieces else title,
        is_done=box[2] != " ",
        id=found[2] if found else "",
        state=pieces[0] if pieces else "",
        attributes=tuple(pieces[1:]),
        agent=agent,
        indent=line[: len(line) - len(text)],
    )


def _without_name(text: str) -> tuple[str, str]:
    behind = _BEHIND_GROUP.match(text)
    if behind and _read_page_group(behind[1])[1]:
        return behind[1], behind[2]
    return without_signature(text)


def without_signature(text: str) -> tuple[str, str]:
    """(the text without the @name at its end, the name or "")."""
    signed = _SIGNED.search(text)
    return (text[: signed.start()].rstrip(), signed[1]) if signed else (text, "")


def _read_page_group(text: str) -> tuple[int, list[str]]:
    """Like `_read_group`, if the first piece is a state and the others have keys of a page; else (-1, [])."""
    start, pieces = _read_group(text)
    is_ours = pieces and pieces[0] in STATES and all(key_of(piece) in PAGE_KEYS for piece in pieces[1:])
    return (start, pieces) if is_ours else (-1, [])


def _read_group(text: str) -> tuple[int, list[str]]:
    """(where the parentheses at the end of the text open, their pieces); (-1, []) if there are none."""
    start = _group_start(text)
    if start < 0 or (start and not text[start - 1].isspace()):
        return -1, []
    return start, [piece.strip() for piece in _split_outside_quotes(text[start + 1 : -1], ";")]


def _group_start(text: str) -> int:
    """Where the parenthesis opens that closes at the very end, or -1. Quoted parentheses do not count."""
    depth, is_quoted = 0, False
    if text.endswith(")"):
        for at in range(len(text) - 1, -1, -1):
            if text[at] == '"':
                is_quoted = not is_quoted
            elif not is_quoted and text[at] in "()":
                depth += 1 if text[at] == ")" else -1
                if depth == 0:
                    return at
    return -1


def _split_outside_quotes(text: str, mark: str) -> list[str]:
    pieces, start, is_quoted = [], 0, False
    for at, ch in enumerate(text):
        if ch == '"':
            is_quoted = not is_quoted
        elif ch == mark and not is_quoted:
            pieces.append(text[start:at])
            start = at + 1
    return [*pieces, text[start:]]


def key_of(attribute: str) -> str:
    return attribute.partition(":")[0].strip()


def entries_of(attribute: str) -> list[str]:
    entries = [piece.strip() for piece in _split_outside_quotes(attribute.partition(":")[2], ",")]
    return [_unquoted(entry) for entry in entries if entry]


def _unquoted(entry: str) -> str:
    is_quoted = len(entry) >= 2 and entry[0] == entry[-1] == '"'
    return entry[1:-1].replace('""', '"') if is_quoted else entry


# -- one line: writing ----------------------------------------------------------------------------


def write_line(line: TaskLine) -> str:
    return f"{line.indent}- [{'x' if line.is_done else ' '}] {write_content(line)}"


def write_content(line: TaskLine) -> str:
    """The text after the checkbox."""
    lead = f"{line.id} " if line.id else ""
    pieces = [line.state, *line.attributes] if line.state else line.attributes
    group = f" ({'; '.join(pieces)})" if pieces else ""
    name = f" @{line.agent}" if line.agent else ""
    return f"{lead}{line.title}{group}{name}"


def attribute_of(key: str, entries: Iterable[str]) -> str:
    return f"{key}: {', '.join(map(_quoted, entries))}"


def _quoted(entry: str) -> str:
    if not _NEEDS_QUOTES.search(entry):
        return entry
    doubled = entry.replace('"', '""')
    return f'"{doubled}"'


# -- lists: which lines are tasks, and which belong to them ---------------------------------------


def read_list(lines: Iterable[str], *, most: int) -> list[ListedTask]:
    """The tasks of a list, at most `most` of them."""
    reading = _ListReading()
    for line_no, line in enumerate(lines, 1):
        reading.read(line_no, line)
        if len(reading.tasks) >= most:
            break
    return reading.tasks


class _ListReading:
    """All tasks so far, and the open ones, outermost first: the next indented line can belong to these.

    An open code block (`fence` holds the marks that opened it) belongs to the innermost open task, or to
    the text between tasks if none is open.
    """

    def __init__(self) -> None:
        self.tasks: list[ListedTask] = []
        self.open: list[ListedTask] = []
        self.fence = ""

    def read(self, line_no: int, line: str) -> None:
        text = line.lstrip(" \t")
        indent = line[: len(line) - len(text)]
        width = len(indent.expandtabs(4))
        if text:
            self._close_down_to(width)
        box = None if self.fence else _CHECKBOX.match(text)
        if box:
            content = (box[3] or "").strip()
            read = read_list_line(content, is_done=box[2] != " ", indent=indent)
            self._add(ListedTask(line=read, line_no=line_no, content=content, width=width))
            return
        if self.open:
            self.open[-1].body.append(line if self.fence else _unescaped(line))
        self.fence = _fence_after(self.fence, text)

    def _close_down_to(self, width: int) -> None:
        # An unclosed code block ends with its task: it must not hide the tasks below it.
        while self.open and self.open[-1].width >= width:
            self.open.pop()
            self.fence = ""

    def _add(self, task: ListedTask) -> None:
        self.tasks.append(task)
        if self.open:
            self.open[-1].parts.append(len(self.tasks))
        self.open.append(task)


def write_body(body: str) -> list[str]:
    """The lines of a body below its task."""
    lines, fence = [], ""
    for line in body.split("\n") if body else []:
        written = line if fence else _escaped(line)
        lines.append(f"  {written}" if line else "")
        fence = _fence_after(fence, line.lstrip(" \t"))
    return lines


def _fence_after(fence: str, text: str) -> str:
    """The marks that opened the code block which is open after this line; "" if none is."""
    text = text.rstrip(" \t")
    if fence:
        is_end = text.startswith(fence) and not text.strip(fence[0])
        return "" if is_end else fence
    marks = text[: len(text) - len(text.lstrip(text[:1]))] if text[:1] in ("`", "~") else ""
    is_inline = marks[:1] == "`" and "`" in text[len(marks) :]
    return marks if len(marks) >= 3 and not is_inline else ""


def _unescaped(line: str) -> str:
    at = len(line) - len(line.lstrip(" \t"))
    is_escaped = line[at : at + 1] == "\\" and _CHECKBOX.match(line[at:].lstrip("\\"))
    return line[:at] + line[at + 1 :] if is_escaped else line


def _escaped(line: str) -> str:
    at = len(line) - len(line.lstrip(" \t"))
    return line[:at] + "\\" + line[at:] if _CHECKBOX.match(line[at:].lstrip("\\")) else line
