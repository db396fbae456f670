"""TASKS.md: the list of tasks as a page that agents edit. Reading it, writing it, and what an edit asks for.

A page is a list of items, one per line: tasks, and text that is none of our business and stays where it is.
A line of a task is `- [ ] T-3 Title (open; priority: 2) @name`; what we have to say about a line stands in
a comment below it. Pure: an edit is found by comparing two texts, and carried out elsewhere.
Not for the hook's path.
"""

from __future__ import annotations

import re

from lineclear.core.tasks.lists import group_start, quoted, split_outside_quotes
from lineclear.core.tasks.states import DEFAULT_PRIORITY, ENDED, FAILED, STATES, show_id
from lineclear.core.words.refusals import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_BYTES, MOST_LINE_CHARS = 2 * 1024 * 1024, 4_000
MOST_OPEN, MOST_ENDED, MOST_SCOPE, MOST_SCOPE_CHARS = 1_000, 40, 8, 80
MOST_NOTES, MOST_NOTE_CHARS = 3, 240

MARK = "<!-- lineclear:tasks"
HEADING = (
    "# Tasks",
    "",
    f"{MARK} page 0. Tick the box of a task when it is done. Write @your-name behind a task to take it. "
    'Write "- [ ] title" on a new line to add a task. Titles and priorities can be changed; '
    "a line that is taken out comes back. -->",
    "",
)

# What an edit asks for, in the order in which edits of one line are carried out.
ADD, RETITLE, REORDER, TAKE, DONE, REOPEN = "add", "retitle", "reorder", "take", "done", "reopen"
# What cannot be carried out, and is only said.
UNKNOWN, TWICE, FIXED = "unknown", "twice", "fixed"

_ITEM = re.compile(r"([ \t]*)[-*+][ \t]+\[([ xX])\][ \t]+(\S.*)$")
_ID = re.compile(r"\[?(T-[1-9][0-9]{0,14})\]?:?(?=\s|$)[ \t]*")
_NAME = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,259}"
_SIGNED = re.compile(rf"(?:^|[ \t])@({_NAME})$")
_BEHIND_GROUP = re.compile(rf"^(.*\))[ \t]+@?({_NAME})$")
_NOTE = re.compile(r"[ \t]*<!-- lineclear says: (.*) -->$")
_MARKED = re.compile(re.escape(MARK) + r" page ([0-9]{1,9})\b")
_TWO_DASHES = re.compile(r"-(?=-)")
_GROUP_KEYS = frozenset(("priority", "scope", "after", "waits for"))


class PageTask:
    """A task as its line shows it."""

    __slots__ = ("after", "agent", "number", "priority", "scope", "state", "title")

    def __init__(
        self,
        number: int,
        title: str,
        state: str,
        *,
        priority: int = DEFAULT_PRIORITY,
        agent: str = "",
        scope: Iterable[str] = (),
        after: Iterable[int] = (),
    ) -> None:
        self.number, self.title, self.state = number, title, state
        self.priority, self.agent = priority, agent
        self.scope, self.after = list(scope), list(after)


class Item:
    """One line. `number` is that of its task, 0 for text; `notes` are our comments below it."""

    __slots__ = ("indent", "notes", "number", "text")

    def __init__(self, text: str, number: int = 0, indent: str = "", notes: Iterable[str] = ()) -> None:
        self.text, self.number, self.indent = text, number, indent
        self.notes = list(notes)

    @property
    def key(self) -> int | str:
        """What makes two items the same: the task, or the text; the page's own number does not count."""
        return self.number or (MARK if self.text.startswith(MARK) else self.text)


class Line:
    """What stands in the line of a task. `priority` is None where the line does not say it.

    `rest` is what else our parentheses say, but for the state; None where there are none.
    """

    __slots__ = ("is_done", "name", "number", "priority", "rest", "title")

    def __init__(
        self, number: int, title: str, *, is_done: bool, name: str, priority: int | None, rest: str | None
    ) -> None:
        self.number, self.title, self.is_done, self.name = number, title, is_done, name
        self.priority, self.rest = priority, rest


class Edit:
    """One thing that an edited line asks for. `place` is its item's index in the edited page.

    `value` is what is wanted, `old` what the page had said; `name` is who stands behind the line.
    """

    __slots__ = ("kind", "name", "number", "old", "place", "value")

    def __init__(
        self, kind: str, place: int, number: int = 0, *, value: str = "", old: str = "", name: str = ""
    ) -> None:
        self.kind, self.place, self.number = kind, place, number
        self.value, self.old, self.name = value, old, name


# -- reading ----------------------------------------------------------------------------------


def parse_page(text: str) -> list[Item]:
    """Any text is a page. Our own comments are put back to the item they are about."""
    items: list[Item] = []
    seen: set[int] = set()
    lines = text.replace("\r\n", "\n").split("\n")
    for line in lines[:-1] if lines[-1] == "" else lines:
        note = _NOTE.match(line)
        if note and items:
            items[-1].notes.append(note[1])
            continue
        number, indent = _number_of(line)
        # A second line of one task stays as text: nothing that somebody wrote is dropped.
        items.append(Item(line, 0 if number in seen else number, indent))
        seen.add(number)
    return items


def _number_of(line: str) -> tuple[int, str]:
    item = _match(line)
    found = _ID.match(item[3]) if item else None
    return (int(found[1][2:]), item[1]) if item and found else (0, "")


def _match(line: str) -> re.Match[str] | None:
    return _ITEM.match(line) if len(line) <= MOST_LINE_CHARS else None


def parse_line(line: str) -> Line | None:
    """A checkbox of any task, with or without an id; None for all other text."""
    item = _match(line)
    if item is None:
        return None
    content = item[3].strip()
    found = _ID.match(content)
    rest = content[found.end() :] if found else content
    rest, name = _without_name(rest)
    title, priority, group = _without_group(rest)
    if group is None and not name:
        title, name = _without_signature(title)
    return Line(
        int(found[1][2:]) if found else 0,
        title,
        is_done=item[2] != " ",
        name=name,
        priority=priority,
        rest=group,
    )


def _without_name(text: str) -> tuple[str, str]:
    """A name behind our parentheses, with or without the at sign."""
    behind = _BEHIND_GROUP.match(text)
    if behind and _read_group(behind[1]) is not None:
        return behind[1], behind[2]
    return _without_signature(text)


def _without_signature(text: str) -> tuple[str, str]:
    signed = _SIGNED.search(text)
    return (text[: signed.start()].rstrip(), signed[1]) if signed else (text, "")


def _without_group(text: str) -> tuple[str, int | None, str | None]:
    """(title, priority, our other words but for the state); parentheses that are not ours are title."""
    pieces = _read_group(text)
    if pieces is None:
        return text, None, None
    priority: int | None = DEFAULT_PRIORITY
    kept = []
    for piece in pieces[1:]:
        key, colon, value = piece.partition(":")
        if colon and key.strip() == "priority":
            digit = value.strip()
            priority = int(digit) if len(digit) == 1 and digit in "0123456789" else None
        else:
            kept.append(piece)
    return text[: group_start(text)].rstrip(), priority, "; ".join(kept)


def _read_group(text: str) -> list[str] | None:
    """The pieces of our parentheses at the end: a state first, then keys that we know."""
    start = group_start(text)
    if start < 0 or (start and not text[start - 1].isspace()):
        return None
    pieces = [piece.strip() for piece in split_outside_quotes(text[start + 1 : -1], ";")]
    if pieces[0] not in STATES:
        return None
    if any(piece.partition(":")[0].strip() not in _GROUP_KEYS for piece in pieces[1:]):
        return None
    return pieces


# -- writing ----------------------------------------------------------------------------------


def render_line(task: PageTask, indent: str = "") -> str:
    box = "x" if task.state in ENDED and task.state != FAILED else " "
    words = [task.state]
    if task.priority != DEFAULT_PRIORITY:
        words.append(f"priority: {task.priority}")
    if task.scope:
        shown = [
            quoted(shorten(text.removeprefix("file:"), MOST_SCOPE_CHARS)) for text in task.scope[:MOST_SCOPE]
        ]
        more = [f"{len(task.scope) - MOST_SCOPE} more"] if len(task.scope) > MOST_SCOPE else []
        words.append(f"scope: {', '.join(shown + more)}")
    if task.after:
        words.append(f"after: {', '.join(show_id(number) for number in task.after[:MOST_SCOPE])}")
    name = f" @{task.agent}" if task.agent else ""
    return f"{indent}- [{box}] {show_id(task.number)} {task.title} ({'; '.join(words)}){name}"


def render_page(
    items: list[Item],
    tasks: Mapping[int, PageTask],
    newest: int,
    notes: Mapping[int | str, list[str]] | None = None,
    page: int = 0,
) -> str:
    """The page's text: lines of tasks written anew, tasks that it lacks added, and its number.

    `newest` is the highest number of any task: one up to there that is not in `tasks` is not shown any
    more. A comment stays as long as its line does; `notes` are new ones, by the key of their item.
    """
    lines: list[str] = []
    for item in _with_missing(_numbered(_first_lines(items), page), tasks, newest):
        fresh = _fresh(item, tasks, notes or {})
        lines.append(fresh.text)
        lines += [f"{fresh.indent}  <!-- lineclear says: {note} -->" for note in fresh.notes]
    return "".join(line + "\n" for line in lines)


def _first_lines(items: list[Item]) -> list[Item]:
    """As the page will be read again: the first line of a task is its line, further ones are text."""
    seen: set[int] = set()
    found = []
    for item in items:
        number, indent = (item.number, item.indent) if item.number else _number_of(item.text)
        found.append(Item(item.text, 0 if number in seen else number, indent, item.notes))
        seen.add(number)
    return found


def page_number(text: str) -> int:
    """Which page somebody had before them; 0 when it does not say."""
    marked = _MARKED.search(text)
    return int(marked[1]) if marked else 0


def _numbered(items: list[Item], page: int) -> list[Item]:
    """With the line that says how the page is used, and which one it is."""
    line = _MARKED.sub(f"{MARK} page {page}", HEADING[2])
    found = [Item(line) if item.key == MARK else item for item in items]
    return found if any(item.key == MARK for item in items) else [*found, Item(line)]


def _with_missing(items: list[Item], tasks: Mapping[int, PageTask], newest: int) -> list[Item]:
    """Without tasks that are not shown any more; with those that are new, behind the last one."""
    kept = [item for item in items if item.number in tasks or not _is_past(item, tasks, newest)]
    known = {item.number for item in kept}
    missing = [Item("", task.number) for task in tasks.values() if task.number not in known]
    last = max((place for place, item in enumerate(kept) if item.number), default=len(kept) - 1)
    return [*kept[: last + 1], *missing, *kept[last + 1 :]]


def _is_past(item: Item, tasks: Mapping[int, PageTask], newest: int) -> bool:
    """A line as we write it, of a task that is not shown any more. What somebody else wrote stays."""
    line = parse_line(item.text)
    return (
        line is not None and 0 < line.number <= newest and line.number not in tasks and line.rest is not None
    )


def _fresh(item: Item, tasks: Mapping[int, PageTask], notes: Mapping[int | str, list[str]]) -> Item:
    text = render_line(tasks[item.number], item.indent) if item.number in tasks else item.text
    kept = item.notes if text == item.text else []
    new = [write_note(note) for note in notes.get(item.key, ())]
    return Item(text, item.number, item.indent, list(dict.fromkeys(new + kept))[:MOST_NOTES])


def write_note(text: str) -> str:
    """Words that are safe inside a comment, on one line."""
    return shorten(_TWO_DASHES.sub("- ", text), MOST_NOTE_CHARS)


def first_page() -> list[Item]:
    return [Item(line) for line in HEADING]


# -- what an edit asks for --------------------------------------------------------------------


def find_edits(base: list[Item], current: list[Item], tasks: Mapping[int, PageTask]) -> list[Edit]:
    """What the difference between the published page and the edited one asks for, top to bottom."""
    published = {item.number: item.text for item in base if item.number}
    known = _Counted(item.text for item in base if not item.number)
    edits: list[Edit] = []
    for place, item in enumerate(current):
        if item.number:
            edits += _edits_of_task(place, item, published.get(item.number, ""), tasks)
        elif not known.take(item.text):
            edits += _edits_of_text(place, item)
    return edits


class _Counted:
    """How often a line is there; taking it away counts down."""

    __slots__ = ("_left",)

    def __init__(self, texts: Iterable[str]) -> None:
        self._left: dict[str, int] = {}
        for text in texts:
            self._left[text] = self._left.get(text, 0) + 1

    def take(self, text: str) -> bool:
        left = self._left.get(text, 0)
        self._left[text] = left - 1
        return left > 0


def _edits_of_text(place: int, item: Item) -> list[Edit]:
    line = parse_line(item.text)
    if line is None:
        return []
    if line.number:
        return [Edit(TWICE, place, line.number)]
    is_new = not line.is_done and line.title
    return [Edit(ADD, place, value=item.text.strip(), name=line.name)] if is_new else []


def _edits_of_task(place: int, item: Item, published: str, tasks: Mapping[int, PageTask]) -> list[Edit]:
    if item.text == published:
        return []
    task = tasks.get(item.number)
    if not published:
        if task is None:
            return [Edit(UNKNOWN, place, item.number)]
        published = render_line(task, item.indent)
    new, old = parse_line(item.text), parse_line(published)
    return _differences(place, new, old) if new is not None and old is not None else []


def _differences(place: int, new: Line, old: Line) -> list[Edit]:
    number, title, name = new.number, new.title, new.name
    rest, signed = _without_signature(title)
    if signed and title != old.title and _without_signature(old.title)[1] != signed:
        # A name written right behind the title, before our parentheses.
        title, name = rest, signed
    edits = []
    if title and title != old.title:
        edits.append(Edit(RETITLE, place, number, value=title, old=old.title))
    if new.priority is not None and old.priority is not None and new.priority != old.priority:
        edits.append(Edit(REORDER, place, number, value=str(new.priority), old=str(old.priority)))
    if new.rest is not None and old.rest is not None and new.rest != old.rest:
        edits.append(Edit(FIXED, place, number))
    if name and name != old.name:
        edits.append(Edit(TAKE, place, number, value=name, old=old.name, name=name))
    if new.is_done != old.is_done:
        kind = DONE if new.is_done else REOPEN
        edits.append(Edit(kind, place, number, name=name or old.name))
    return edits


# -- several edited pages ---------------------------------------------------------------------


def merge_items(shared: list[Item], base: list[Item], current: list[Item]) -> list[Item]:
    """The shared page with what was changed from `base` to `current`.

    Lines that were put in come in, text that was taken out goes; a task's line is moved, never lost.
    """
    from difflib import SequenceMatcher

    base_keys, keys = [item.key for item in base], [item.key for item in current]
    places = _places(base_keys, [item.key for item in shared])
    tasks = {item.number for item in current if item.number}
    numbers = {item.number: place for place, item in enumerate(shared) if item.number}
    gone: set[int] = set()
    inserted: dict[int, list[Item]] = {}
    for tag, first, last, start, end in SequenceMatcher(None, base_keys, keys).get_opcodes():
        if tag == "equal":
            continue
        for place in range(first, last):
            if place in places and (not base[place].number or base[place].number in tasks):
                gone.add(places[place])
        inserted.setdefault(_anchor(first, places), []).extend(current[start:end])
        gone |= {numbers[item.number] for item in current[start:end] if item.number in numbers}
    return _woven(shared, gone, inserted)


def _places(base: list[int | str], shared: list[int | str]) -> dict[int, int]:
    """Where in the shared page each line of the base is, if it is still there."""
    from difflib import SequenceMatcher

    places = {}
    for block in SequenceMatcher(None, base, shared).get_matching_blocks():
        places.update({block.a + step: block.b + step for step in range(block.size)})
    return places


def _anchor(first: int, places: dict[int, int]) -> int:
    """Behind which line of the shared page a piece belongs that stood at `first` in the base."""
    while first > 0:
        first -= 1
        if first in places:
            return places[first]
    return -1


def _woven(shared: list[Item], gone: set[int], inserted: Mapping[int, list[Item]]) -> list[Item]:
    woven = list(inserted.get(-1, ()))
    for place, item in enumerate(shared):
        if place not in gone:
            woven.append(item)
        woven += inserted.get(place, ())
    return woven
