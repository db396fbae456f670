"""Lists of tasks as people keep them, Markdown checklists or JSON, read into drafts and written back.

Whether a scope, a requirement or a chain of dependencies makes sense is for the rules of tasks to say.
What looks like a task is read or refused with its place, never dropped. Not for the hook's path.

In a Markdown task, `(priority: 2; scope: src/a/, "b, c.py"; after: 1)` at the end of the line gives its
attributes; an entry with a comma, semicolon, parenthesis or quote stands in quotes, a quote in it is doubled.
A line of a body that would read as a task starts with a backslash.
"""

from __future__ import annotations

import re

from lineclear.core.agents import names
from lineclear.core.json_text import canonical, parse_json
from lineclear.core.words.refusals import Refusal, refuse, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_TASKS, MAX_TITLE_CHARS, MAX_BODY_CHARS = 2_000, 200, 20_000
MAX_ENTRIES, MAX_ENTRY_CHARS = 100, 1_000
LIMIT_BYTES = 16_777_216
DEFAULT_PRIORITY, LAST_PRIORITY = 5, 9

_LISTS = ("scope", "produces", "labels", "needs", "after")
_ATTRIBUTES = ("id", "priority", *_LISTS)
_FIELDS = ("title", "body", "done", *_ATTRIBUTES)
_PRIORITIES = frozenset("0123456789")
_TOO_MANY = f"it has more than {MAX_TASKS} tasks"

_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[([ xX])\](?:[ \t]+(.*))?$")
_LEADING_REF = re.compile(r"(?:\[(T-[1-9][0-9]{0,14})\]|(T-[1-9][0-9]{0,14})):?[ \t]+(?=\S)")
# Control characters, line separators and halves of surrogate pairs: not every engine and terminal
# keeps them, and lists of names are stored joined by line feeds.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_CONTROL_IN_BODY = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NEEDS_QUOTES = re.compile(r'[,;()"]|^\s|\s$|^$')


class TaskDraft:
    """A task to be added. `ref` names it inside its list; `after` holds refs of the list, or T-ids.

    `produces` holds the paths of what must be there in the end.
    """

    __slots__ = ("ref", "title", "body", "priority", "scope", "produces", "labels", "needs", "after", "done")

    def __init__(
        self,
        ref: str,
        title: str,
        *,
        body: str = "",
        priority: int = DEFAULT_PRIORITY,
        scope: Iterable[str] = (),
        produces: Iterable[str] = (),
        labels: Iterable[str] = (),
        needs: Iterable[str] = (),
        after: Iterable[str] = (),
        done: bool = False,
    ) -> None:
        self.ref = ref
        self.title = title
        self.body = body
        self.priority = priority
        self.scope = list(scope)
        self.produces = list(produces)
        self.labels = list(labels)
        self.needs = list(needs)
        self.after = list(after)
        self.done = done

    def as_data(self) -> dict[str, object]:
        """As `read_json` takes it."""
        fields: dict[str, object] = {name: getattr(self, name) for name in self.__slots__ if name != "ref"}
        return {"id": self.ref, **fields}

    def __repr__(self) -> str:
        return f"TaskDraft({self.as_data()!r})"


class _Found:
    """A task as it stands in its source: where, and the fields as written, not yet checked."""

    __slots__ = ("where", "shown", "fields", "parts")

    def __init__(self, where: str, shown: str, fields: dict[str, object]) -> None:
        self.where = where
        self.shown = shown
        self.fields = fields
        # Positions of its sub-tasks in the list, from 1.
        self.parts: list[int] = []

    def refusal(self, why: str) -> Refusal:
        return refuse("input.bad", name=self.where, given=self.shown, why=why)


# -- from fields to drafts: the same for every source -------------------------------------------


def read_fields(fields: dict[str, object]) -> TaskDraft:
    """One task given field by field, as `read_json` takes them; `after` holds T-ids."""
    return _drafts([_Found("task", str(fields.get("title", ""))[:201], fields)])[0]


def _drafts(found: list[_Found]) -> list[TaskDraft]:
    drafts = [_draft(task, position) for position, task in enumerate(found, 1)]
    positions = _positions(found, drafts)
    for task, draft in zip(found, drafts, strict=True):
        own = [_resolved(task, ref, positions, drafts) for ref in draft.after]
        parts = [drafts[position - 1].ref for position in task.parts]
        draft.after = list(dict.fromkeys(own + parts))
        if len(draft.after) > MAX_TASKS:
            raise task.refusal(f"it comes after more than {MAX_TASKS} tasks")
    return drafts


def _draft(task: _Found, position: int) -> TaskDraft:
    unknown = [key for key in task.fields if key not in _FIELDS]
    if unknown:
        raise task.refusal(f'it has the unknown key "{shorten(unknown[0], 40)}"')
    return TaskDraft(
        _ref(task, position),
        _title(task),
        body=_body(task),
        priority=_priority(task),
        scope=_entries(task, "scope"),
        produces=_entries(task, "produces"),
        labels=_labels(task, "labels"),
        needs=_labels(task, "needs"),
        after=_after(task),
        done=_done(task),
    )


def _positions(found: list[_Found], drafts: list[TaskDraft]) -> dict[str, int]:
    positions: dict[str, int] = {}
    for position, draft in enumerate(drafts, 1):
        if draft.ref in positions:
            first = found[positions[draft.ref] - 1]
            raise found[position - 1].refusal(f'the id "{draft.ref}" is already that of the {first.where}')
        positions[draft.ref] = position
    return positions


def _resolved(task: _Found, ref: str, positions: dict[str, int], drafts: list[TaskDraft]) -> str:
    """A ref of the list, else a position in it, else a task that exists outside the list."""
    if ref in positions:
        return ref
    if names.is_count(ref) and int(ref) <= len(drafts):
        return drafts[int(ref) - 1].ref
    if not ref.startswith("T-") or not names.is_count(ref[2:]):
        raise task.refusal(f'it comes after "{shorten(ref, 40)}", which is not in this list')
    return ref


def _canonical_ref(text: str) -> str:
    """A T-id in the one way we write it; any other ref as it is."""
    number = text[2:] if text[:2] in ("T-", "t-") else text[1:] if text[:1] == "#" else ""
    return names.task_id(number) if names.is_count(number) else text


def _ref(task: _Found, position: int) -> str:
    given = task.fields.get("id", position)
    ref = _canonical_ref(str(given)) if type(given) in (str, int) else ""
    if not names.is_plain_name(ref):
        raise task.refusal("its id must be like T-12, or 1 to 64 letters, digits, dots, dashes")
    return ref


def _text(task: _Found, key: str) -> str:
    given = task.fields.get(key, "")
    if type(given) is not str:
        raise task.refusal(f"its {key} must be a string")
    return given


def _title(task: _Found) -> str:
    title = _text(task, "title").replace("\t", " ").strip()
    if not 0 < len(title) <= MAX_TITLE_CHARS:
        raise task.refusal(f"its title must be 1 to {MAX_TITLE_CHARS} characters")
    if _CONTROL.search(title):
        raise task.refusal("its title must be one line without control characters")
    return title


def _body(task: _Found) -> str:
    body = _dedented(_with_line_feeds(_text(task, "body")).split("\n"))
    if len(body) > MAX_BODY_CHARS:
        raise task.refusal(f"its body must be at most {MAX_BODY_CHARS} characters")
    if _CONTROL_IN_BODY.search(body):
        raise task.refusal("its body must not hold control characters")
    return body


def _priority(task: _Found) -> int:
    given = task.fields.get("priority", DEFAULT_PRIORITY)
    if type(given) is not int or not 0 <= given <= LAST_PRIORITY:
        raise task.refusal(f"its priority must be a whole number from 0 to {LAST_PRIORITY}")
    return given


def _done(task: _Found) -> bool:
    given = task.fields.get("done", False)
    if type(given) is not bool:
        raise task.refusal("done must be true or false")
    return given


def _entries(task: _Found, key: str) -> list[str]:
    given = _listed(task, key)
    if len(given) > MAX_ENTRIES:
        raise task.refusal(f"its {key} must be at most {MAX_ENTRIES} entries")
    return given


def _listed(task: _Found, key: str) -> list[str]:
    given = task.fields.get(key, [])
    if type(given) is not list or any(type(entry) is not str for entry in given):
        raise task.refusal(f"its {key} must be a list of strings")
    if any(not 0 < len(entry) <= MAX_ENTRY_CHARS or _CONTROL.search(entry) for entry in given):
        raise task.refusal(f"each entry of {key} must be 1 to {MAX_ENTRY_CHARS} characters, no control ones")
    return list(dict.fromkeys(given))


def _labels(task: _Found, key: str) -> list[str]:
    labels = _entries(task, key)
    try:
        return [names.label_name(label) for label in labels]
    except Refusal:
        why = f'each of its {key} must be 1 to 40 of a-z 0-9 "." "_" "/" "-", a letter or digit first'
        raise task.refusal(why) from None


def _after(task: _Found) -> list[str]:
    return [_canonical_ref(ref) for ref in _listed(task, "after")]


# -- JSON -----------------------------------------------------------------------------------------


def read_json(text: str) -> list[TaskDraft]:
    """A list of objects, or {"tasks": [...]}, with the fields of a draft; "id" is the ref."""
    value = parse_json(text, limit_bytes=LIMIT_BYTES)
    if isinstance(value, dict):
        if list(value) != ["tasks"]:
            raise _bad_list(text, 'an object around the list has the one key "tasks"')
        value = value["tasks"]
    if not isinstance(value, list):
        raise _bad_list(text, "it must be a list of objects")
    if len(value) > MAX_TASKS:
        raise _bad_list(text, _TOO_MANY)
    return _drafts([_from_json(index, entry) for index, entry in enumerate(value)])


def _from_json(index: int, entry: object) -> _Found:
    where = f"task at index {index}"
    if not isinstance(entry, dict):
        raise refuse("input.bad", name=where, given=canonical(entry)[:201], why="it must be an object")
    fields = dict(entry)
    title = fields.get("title")
    shown = title if isinstance(title, str) and title else canonical(entry)
    after = fields.get("after")
    if isinstance(after, list):
        # Numbers are the natural way to point at positions and at numeric ids.
        fields["after"] = [str(ref) if type(ref) is int else ref for ref in after]
    return _Found(where, shown[:201], fields)


def _bad_list(text: str, why: str) -> Refusal:
    return refuse("input.bad", name="task list", given=text[:201], why=why)


# -- Markdown: which lines are tasks, and which are theirs ---------------------------------------


def read_markdown(text: str) -> list[TaskDraft]:
    """The checkboxes of a text. One indented below another is a part of it, so the other comes after it."""
    if len(text.encode(errors="surrogatepass")) > LIMIT_BYTES:
        raise _bad_list(text, f"it is larger than {LIMIT_BYTES} bytes")
    checklist = _Checklist()
    for line_no, line in enumerate(_with_line_feeds(text.removeprefix("\ufeff")).split("\n"), 1):
        checklist.read(line_no, line)
        if len(checklist.items) > MAX_TASKS:
            raise _bad_list(text, _TOO_MANY)
    return _drafts([_from_item(item) for item in checklist.items])


class _Item:
    """A checkbox and the lines below it that are indented more than it is."""

    __slots__ = ("line_no", "indent", "is_done", "content", "body", "parts")

    def __init__(self, line_no: int, indent: int, is_done: bool, content: str) -> None:
        self.line_no = line_no
        self.indent = indent
        self.is_done = is_done
        self.content = content
        self.body: list[str] = []
        self.parts: list[int] = []


class _Checklist:
    """All items so far, and the open ones, outermost first: those the next indented line can belong to.

    An open code block (`fence`, the marks that opened it) belongs to the innermost open item, or to
    the text between items when none is open.
    """

    __slots__ = ("items", "open", "fence")

    def __init__(self) -> None:
        self.items: list[_Item] = []
        self.open: list[_Item] = []
        self.fence = ""

    def read(self, line_no: int, line: str) -> None:
        text = line.lstrip(" \t")
        indent = len(line[: len(line) - len(text)].expandtabs(4))
        if text:
            self._close_down_to(indent)
        match = None if self.fence else _ITEM.match(text)
        if match:
            self._add(_Item(line_no, indent, match[1] != " ", (match[2] or "").strip()))
            return
        if self.open:
            self.open[-1].body.append(line if self.fence else _unescaped(line))
        self.fence = _fence_after(self.fence, text)

    def _close_down_to(self, indent: int) -> None:
        # A code block nobody closed ends with its item: it must not hide the tasks below it.
        while self.open and self.open[-1].indent >= indent:
            self.open.pop()
            self.fence = ""

    def _add(self, item: _Item) -> None:
        self.items.append(item)
        if self.open:
            self.open[-1].parts.append(len(self.items))
        self.open.append(item)


def _fence_after(fence: str, text: str) -> str:
    """The code block that is open after this line: none (""), or the marks that opened it."""
    text = text.rstrip(" \t")
    if fence:
        is_end = text.startswith(fence) and not text.strip(fence[0])
        return "" if is_end else fence
    marks = text[: len(text) - len(text.lstrip(text[:1]))] if text[:1] in ("`", "~") else ""
    is_inline = marks[:1] == "`" and "`" in text[len(marks) :]
    return marks if len(marks) >= 3 and not is_inline else ""


def _unescaped(line: str) -> str:
    at = len(line) - len(line.lstrip(" \t"))
    is_escaped = line[at : at + 1] == "\\" and _ITEM.match(line[at:].lstrip("\\"))
    return line[:at] + line[at + 1 :] if is_escaped else line


def _escaped(line: str) -> str:
    at = len(line) - len(line.lstrip(" \t"))
    return line[:at] + "\\" + line[at:] if _ITEM.match(line[at:].lstrip("\\")) else line


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _dedented(lines: list[str]) -> str:
    """Without the indentation all lines share, and without blank lines at either end."""
    kept = [line if line.strip(" \t") else "" for line in lines]
    shared: str | None = None
    for line in filter(None, kept):
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        shared = indent if shared is None else _common_start(shared, indent)
    return "\n".join(line[len(shared or "") :] for line in kept).strip("\n")


def _common_start(a: str, b: str) -> str:
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return a[:length]


# -- Markdown: what stands in the line of a task --------------------------------------------------


def _from_item(item: _Item) -> _Found:
    fields = _read_content(item.content)
    fields["done"] = item.is_done
    fields["body"] = "\n".join(item.body)
    found = _Found(f"task on line {item.line_no}", item.content[:201], fields)
    found.parts = item.parts
    return found


def _read_content(content: str) -> dict[str, object]:
    title, fields = _split_attributes(content)
    match = None if "id" in fields else _LEADING_REF.match(title)
    if match:
        fields["id"] = match[1] or match[2]
        title = title[match.end() :]
    return {**fields, "title": title}


def _split_attributes(content: str) -> tuple[str, dict[str, object]]:
    """The title and the attributes; all is title unless every key in the parentheses is one of ours."""
    start = group_start(content)
    if start < 1 or not content[start - 1].isspace():
        return content, {}
    given: dict[str, list[str]] = {}
    for piece in split_outside_quotes(content[start + 1 : -1], ";"):
        key, colon, entries = piece.partition(":")
        key = key.strip().lower()
        if not colon or key not in _ATTRIBUTES:
            return content, {}
        given.setdefault(key, []).extend(_read_entries(entries))
    return content[:start].rstrip(), {key: _attribute(key, entries) for key, entries in given.items()}


def group_start(content: str) -> int:
    """Where the parenthesis opens that closes at the very end, or -1. Quotes hide what is in them."""
    depth, is_quoted = 0, False
    if content.endswith(")"):
        for at in range(len(content) - 1, -1, -1):
            if content[at] == '"':
                is_quoted = not is_quoted
            elif not is_quoted and content[at] in "()":
                depth += 1 if content[at] == ")" else -1
                if depth == 0:
                    return at
    return -1


def split_outside_quotes(text: str, mark: str) -> list[str]:
    """Split at a mark outside quotes."""
    pieces, start, is_quoted = [], 0, False
    for at, ch in enumerate(text):
        if ch == '"':
            is_quoted = not is_quoted
        elif ch == mark and not is_quoted:
            pieces.append(text[start:at])
            start = at + 1
    return [*pieces, text[start:]]


def _read_entries(text: str) -> list[str]:
    entries = [piece.strip() for piece in split_outside_quotes(text, ",")]
    return [_unquoted(entry) for entry in entries if entry]


def _unquoted(entry: str) -> str:
    is_quoted = len(entry) >= 2 and entry[0] == entry[-1] == '"'
    return entry[1:-1].replace('""', '"') if is_quoted else entry


def _attribute(key: str, entries: list[str]) -> object:
    """A list, or the one entry. Two where one belongs make a text that no check lets through."""
    if key in _LISTS:
        return entries
    entry = ", ".join(entries)
    return int(entry) if key == "priority" and entry in _PRIORITIES else entry


# -- Markdown: writing ----------------------------------------------------------------------------


def write_markdown(drafts: list[TaskDraft]) -> str:
    """Drafts as the readers give them, as a flat checklist that reads back as the same drafts."""
    lines: list[str] = []
    for position, draft in enumerate(drafts, 1):
        lines.append(f"- [{'x' if draft.done else ' '}] {_content(draft, position)}")
        lines.extend(_body_lines(draft.body))
    return "".join(line + "\n" for line in lines)


def _content(draft: TaskDraft, position: int) -> str:
    """Short where that reads back right; a title that looks like more than a title needs everything said."""
    is_counted = draft.ref == str(position)
    is_task = _canonical_ref(draft.ref) == draft.ref and draft.ref.startswith("T-")
    lead = f"{draft.ref} " if is_task else ""
    short = f"{lead}{draft.title}{_group(draft, with_id=not (is_counted or is_task))}"
    read = _read_content(short)
    if (read.get("id", str(position)), read["title"]) == (draft.ref, draft.title):
        return short
    return f"{draft.title}{_group(draft, with_id=True)}"


def _group(draft: TaskDraft, *, with_id: bool) -> str:
    given = [f"id: {draft.ref}"] if with_id else []
    if draft.priority != DEFAULT_PRIORITY:
        given.append(f"priority: {draft.priority}")
    for key in _LISTS:
        entries: list[str] = getattr(draft, key)
        if entries:
            given.append(f"{key}: {', '.join(map(quoted, entries))}")
    return f" ({'; '.join(given)})" if given else ""


def quoted(entry: str) -> str:
    if not _NEEDS_QUOTES.search(entry):
        return entry
    doubled = entry.replace('"', '""')
    return f'"{doubled}"'


def _body_lines(body: str) -> list[str]:
    lines, fence = [], ""
    for line in body.split("\n") if body else []:
        written = line if fence else _escaped(line)
        lines.append(f"  {written}" if line else "")
        fence = _fence_after(fence, line.lstrip(" \t"))
    return lines
