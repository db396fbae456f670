"""Task lists that people keep, Markdown checklists or JSON, read into drafts and written back.

Checks the form only; the rules of tasks decide whether a scope, a skill or a chain of dependencies makes
sense. Anything that looks like a task is read, or refused with its place; nothing is dropped silently.
markdown.py knows how a task is written in Markdown. Not for the hook's path.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.core.agents import names
from lineclear.core.json_text import canonical, parse_json
from lineclear.core.tasks import markdown
from lineclear.core.tasks.markdown import TaskLine
from lineclear.core.tasks.states import DEFAULT_PRIORITY, LEAST_PRIORITY
from lineclear.core.words.refusals import Refusal, refuse, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.core.tasks.markdown import ListedTask

MAX_TASKS, MAX_TITLE_CHARS, MAX_BODY_CHARS = 2_000, 200, 20_000
MAX_ENTRIES, MAX_ENTRY_CHARS = 100, 1_000
LIMIT_BYTES = 16_777_216

_LISTS = ("scope", "produces", "labels", "needs", "after")
_FIELDS = frozenset(("title", "body", "done")) | markdown.LIST_KEYS
_PRIORITIES = frozenset("0123456789")
_TOO_MANY = f"it has more than {MAX_TASKS} tasks"

# Control characters, line separators and halves of surrogate pairs: some engines and terminals do not
# keep them, and lists of names are stored joined by line feeds.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_CONTROL_IN_BODY = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class TaskDraft:
    """A task to be added. `ref` names it inside its list; `after` holds refs of the list, or T-ids.

    `produces` holds the paths of the files that must exist in the end.
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
    """A task as its source has it: where it is, and its fields as written, not checked yet."""

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
    """One task from the fields that `read_json` accepts; `after` holds T-ids."""
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
    """What `ref` refers to: a ref in the list, else a position in the list, else a task outside the list."""
    if ref in positions:
        return ref
    if names.is_count(ref) and int(ref) <= len(drafts):
        return drafts[int(ref) - 1].ref
    if not ref.startswith("T-") or not names.is_count(ref[2:]):
        raise task.refusal(f'it comes after "{shorten(ref, 40)}", which is not in this list')
    return ref


def _canonical_ref(text: str) -> str:
    """A T-id in its canonical form; any other ref unchanged."""
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
        raise task.refusal("its body must not contain control characters")
    return body


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _dedented(lines: list[str]) -> str:
    """The lines without their common indentation and without blank lines at either end."""
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


def _priority(task: _Found) -> int:
    given = task.fields.get("priority", DEFAULT_PRIORITY)
    if type(given) is not int or not 0 <= given <= LEAST_PRIORITY:
        raise task.refusal(f"its priority must be a whole number from 0 to {LEAST_PRIORITY}")
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


# -- Markdown -------------------------------------------------------------------------------------


def read_markdown(text: str) -> list[TaskDraft]:
    """The checkboxes of a text. A checkbox indented below another is a sub-task, and comes before it."""
    if len(text.encode(errors="surrogatepass")) > LIMIT_BYTES:
        raise _bad_list(text, f"it is larger than {LIMIT_BYTES} bytes")
    lines = _with_line_feeds(text.removeprefix("\ufeff")).split("\n")
    listed = markdown.read_list(lines, most=MAX_TASKS + 1)
    if len(listed) > MAX_TASKS:
        raise _bad_list(text, _TOO_MANY)
    return _drafts([_from_markdown(task) for task in listed])


def _from_markdown(task: ListedTask) -> _Found:
    fields = {**_fields_of(task.line), "done": task.line.is_done, "body": "\n".join(task.body)}
    found = _Found(f"task on line {task.line_no}", task.content[:201], fields)
    found.parts = task.parts
    return found


def _fields_of(line: TaskLine) -> dict[str, object]:
    given: dict[str, list[str]] = {}
    for attribute in line.attributes:
        given.setdefault(markdown.key_of(attribute).lower(), []).extend(markdown.entries_of(attribute))
    fields = {key: _attribute(key, entries) for key, entries in given.items()}
    if line.id:
        fields["id"] = line.id
    return {**fields, "title": line.title}


def _attribute(key: str, entries: list[str]) -> object:
    """A list, or a single entry. Several entries where one is allowed are joined, and a check refuses
    them."""
    if key in _LISTS:
        return entries
    entry = ", ".join(entries)
    return int(entry) if key == "priority" and entry in _PRIORITIES else entry


def write_markdown(drafts: list[TaskDraft]) -> str:
    """Drafts as a flat checklist, which reads back as the same drafts."""
    lines: list[str] = []
    for position, draft in enumerate(drafts, 1):
        lines.append(markdown.write_line(_line_of(draft, position)))
        lines.extend(markdown.write_body(draft.body))
    return "".join(line + "\n" for line in lines)


def _line_of(draft: TaskDraft, position: int) -> TaskLine:
    """The shortest line that reads back as the same draft; a title that looks like an id or like attributes
    needs an explicit id."""
    is_counted = draft.ref == str(position)
    is_task = _canonical_ref(draft.ref) == draft.ref and draft.ref.startswith("T-")
    attributes = [f"priority: {draft.priority}"] if draft.priority != DEFAULT_PRIORITY else []
    for key in _LISTS:
        entries: list[str] = getattr(draft, key)
        if entries:
            attributes.append(markdown.attribute_of(key, entries))
    with_id = (f"id: {draft.ref}", *attributes)
    short = TaskLine(
        title=draft.title,
        is_done=draft.done,
        id=draft.ref if is_task else "",
        attributes=tuple(attributes) if is_counted or is_task else with_id,
    )
    read = _fields_of(markdown.read_list_line(markdown.write_content(short)))
    if (read.get("id", str(position)), read["title"]) == (draft.ref, draft.title):
        return short
    return TaskLine(title=draft.title, is_done=draft.done, attributes=with_id)
