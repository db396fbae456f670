"""TASKS.md, the task list as a page that agents edit: reading it, writing it, finding what an edit asks for.

A page is a list of items, one per line: tasks, and other text, which stays where it is. markdown.py reads and
writes a task's line; our notes on a line are in comments below it. Pure: edits are found by comparing two
texts and carried out elsewhere. Not for the hook's path.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import KW_ONLY, dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from lineclear.core.tasks.markdown import (
    TaskLine,
    attribute_of,
    key_of,
    read_page_line,
    without_signature,
    write_line,
)
from lineclear.core.tasks.states import DEFAULT_PRIORITY, ENDED, FAILED, show_id
from lineclear.core.words.refusals import shorten

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

# Kinds of edits, in the order in which the edits of one line are carried out.
ADD, RETITLE, REORDER, TAKE, DONE, REOPEN = "add", "retitle", "reorder", "take", "done", "reopen"
# Edits that cannot be carried out; a note on the page says so.
UNKNOWN, TWICE, FIXED = "unknown", "twice", "fixed"

_NOTE = re.compile(r"[ \t]*<!-- lineclear says: (.*) -->$")
_MARKED = re.compile(re.escape(MARK) + r" page ([0-9]{1,9})\b")
_TWO_DASHES = re.compile(r"-(?=-)")


class PageTask:
    """A task as its line shows it."""

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
    """One line of the page. `number` is its task's, 0 for other text; `notes` are our comments below it."""

    def __init__(self, text: str, number: int = 0, indent: str = "", notes: Iterable[str] = ()) -> None:
        self.text, self.number, self.indent = text, number, indent
        self.notes = list(notes)

    @property
    def key(self) -> int | str:
        """Equal for two items that are the same line: the task, or the text without the page's number."""
        return self.number or (MARK if self.text.startswith(MARK) else self.text)


@dataclass(frozen=True, slots=True)
class Edit:
    """One thing that an edited line asks for. `place` is its item's index in the edited page.

    `value` is the wanted value, `old` the published one; `name` is the agent named at the end of the line.
    """

    kind: str
    place: int
    number: int = 0
    _: KW_ONLY
    value: str = ""
    old: str = ""
    name: str = ""


# -- reading ----------------------------------------------------------------------------------


def parse_page(text: str) -> list[Item]:
    """The items of any text. Our own comments become the notes of the item above them."""
    items: list[Item] = []
    seen: set[int] = set()
    lines = text.replace("\r\n", "\n").split("\n")
    for line in lines[:-1] if lines[-1] == "" else lines:
        note = _NOTE.match(line)
        if note and items:
            items[-1].notes.append(note[1])
            continue
        number, indent = _number_of(line)
        # A second line for the same task stays as text: nothing that somebody wrote is dropped.
        items.append(Item(line, 0 if number in seen else number, indent))
        seen.add(number)
    return items


def _number_of(line: str) -> tuple[int, str]:
    read = parse_line(line)
    return (_number(read), read.indent) if read is not None and read.id else (0, "")


def parse_line(line: str) -> TaskLine | None:
    """A task's line, with or without an id; None for any other text."""
    return read_page_line(line) if len(line) <= MOST_LINE_CHARS else None


def _number(line: TaskLine) -> int:
    return int(line.id[2:]) if line.id else 0


def _priority(line: TaskLine) -> int | None:
    """The priority of a line; None if the line does not state a valid one."""
    priority: int | None = DEFAULT_PRIORITY if line.state else None
    for given in line.attributes:
        if _is_priority(given):
            digit = given.partition(":")[2].strip()
            priority = int(digit) if len(digit) == 1 and digit in "0123456789" else None
    return priority


def _is_priority(given: str) -> bool:
    return key_of(given) == "priority" and ":" in given


# -- writing ----------------------------------------------------------------------------------


def render_line(task: PageTask, indent: str = "") -> str:
    attributes = [f"priority: {task.priority}"] if task.priority != DEFAULT_PRIORITY else []
    if task.scope:
        shown = [shorten(text.removeprefix("file:"), MOST_SCOPE_CHARS) for text in task.scope[:MOST_SCOPE]]
        more = [f"{len(task.scope) - MOST_SCOPE} more"] if len(task.scope) > MOST_SCOPE else []
        attributes.append(attribute_of("scope", shown + more))
    if task.after:
        attributes.append(attribute_of("after", [show_id(number) for number in task.after[:MOST_SCOPE]]))
    return write_line(
        TaskLine(
            title=task.title,
            is_done=task.state in ENDED and task.state != FAILED,
            id=show_id(task.number),
            state=task.state,
            attributes=tuple(attributes),
            agent=task.agent,
            indent=indent,
        )
    )


def render_page(
    items: list[Item],
    tasks: Mapping[int, PageTask],
    newest: int,
    notes: Mapping[int | str, list[str]] | None = None,
    page: int = 0,
) -> str:
    """The page's text: task lines rewritten, missing tasks added, and the page's number updated.

    `newest` is the highest task number: a task up to it that is not in `tasks` is no longer shown. A comment
    stays as long as its line is unchanged; `notes` are new ones, by the key of their item.
    """
    lines: list[str] = []
    for item in _with_missing(_numbered(_first_lines(items), page), tasks, newest):
        fresh = _fresh(item, tasks, notes or {})
        lines.append(fresh.text)
        lines += [f"{fresh.indent}  <!-- lineclear says: {note} -->" for note in fresh.notes]
    return "".join(line + "\n" for line in lines)


def _first_lines(items: list[Item]) -> list[Item]:
    """The items as they will be read back: only the first line of a task is its line, others are text."""
    seen: set[int] = set()
    found = []
    for item in items:
        number, indent = (item.number, item.indent) if item.number else _number_of(item.text)
        found.append(Item(item.text, 0 if number in seen else number, indent, item.notes))
        seen.add(number)
    return found


def page_number(text: str) -> int:
    """The number of the page that was edited; 0 if the text has none."""
    marked = _MARKED.search(text)
    return int(marked[1]) if marked else 0


def without_our_lines(text: str) -> str:
    """The text without the line that explains the page and without our comments; all else byte for byte."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not (line.startswith(MARK) or _NOTE.match(line.rstrip("\r\n"))))


def _numbered(items: list[Item], page: int) -> list[Item]:
    """The items with the line that explains the page and states its number."""
    line = _MARKED.sub(f"{MARK} page {page}", HEADING[2])
    found = [Item(line) if item.key == MARK else item for item in items]
    return found if any(item.key == MARK for item in items) else [*found, Item(line)]


def _with_missing(items: list[Item], tasks: Mapping[int, PageTask], newest: int) -> list[Item]:
    """The items without tasks that are no longer shown, and with missing ones after the last task."""
    kept = [item for item in items if item.number in tasks or not _is_past(item, tasks, newest)]
    known = {item.number for item in kept}
    missing = [Item("", task.number) for task in tasks.values() if task.number not in known]
    last = max((place for place, item in enumerate(kept) if item.number), default=len(kept) - 1)
    return [*kept[: last + 1], *missing, *kept[last + 1 :]]


def _is_past(item: Item, tasks: Mapping[int, PageTask], newest: int) -> bool:
    """Is this our own line for a task that is no longer shown? Lines that somebody else wrote stay."""
    line = parse_line(item.text)
    if line is None or not line.state:
        return False
    return 0 < _number(line) <= newest and _number(line) not in tasks


def _fresh(item: Item, tasks: Mapping[int, PageTask], notes: Mapping[int | str, list[str]]) -> Item:
    text = render_line(tasks[item.number], item.indent) if item.number in tasks else item.text
    kept = item.notes if text == item.text else []
    new = [write_note(note) for note in notes.get(item.key, ())]
    return Item(text, item.number, item.indent, list(dict.fromkeys(new + kept))[:MOST_NOTES])


def write_note(text: str) -> str:
    """The text on one line, safe inside an HTML comment."""
    return shorten(_TWO_DASHES.sub("- ", text), MOST_NOTE_CHARS)


def first_page() -> list[Item]:
    return [Item(line) for line in HEADING]


# -- what an edit asks for --------------------------------------------------------------------


def find_edits(base: list[Item], current: list[Item], tasks: Mapping[int, PageTask]) -> list[Edit]:
    """The edits that turn the published page `base` into `current`, top to bottom."""
    published = {item.number: item.text for item in base if item.number}
    known = Counter(item.text for item in base if not item.number)
    edits: list[Edit] = []
    for place, item in enumerate(current):
        if item.number:
            edits += _edits_of_task(place, item, published.get(item.number, ""), tasks)
        elif known[item.text] > 0:
            known[item.text] -= 1
        else:
            edits += _edits_of_text(place, item)
    return edits


def _edits_of_text(place: int, item: Item) -> list[Edit]:
    line = parse_line(item.text)
    if line is None:
        return []
    if line.id:
        return [Edit(TWICE, place, _number(line))]
    is_new = not line.is_done and line.title
    return [Edit(ADD, place, value=item.text.strip(), name=line.agent)] if is_new else []


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


def _differences(place: int, new: TaskLine, old: TaskLine) -> list[Edit]:
    number, title, name = _number(new), new.title, new.agent
    rest, signed = without_signature(title)
    if signed and title != old.title and without_signature(old.title)[1] != signed:
        # Somebody wrote a name right after the title, before our parentheses.
        title, name = rest, signed
    edits = []
    if title and title != old.title:
        edits.append(Edit(RETITLE, place, number, value=title, old=old.title))
    priority, old_priority = _priority(new), _priority(old)
    if priority is not None and old_priority is not None and priority != old_priority:
        edits.append(Edit(REORDER, place, number, value=str(priority), old=str(old_priority)))
    if new.state and old.state and _fixed(new) != _fixed(old):
        edits.append(Edit(FIXED, place, number))
    if name and name != old.agent:
        edits.append(Edit(TAKE, place, number, value=name, old=old.agent, name=name))
    if new.is_done != old.is_done:
        kind = DONE if new.is_done else REOPEN
        edits.append(Edit(kind, place, number, name=name or old.agent))
    return edits


def _fixed(line: TaskLine) -> list[str]:
    """The entries of our parentheses that cannot be changed by editing the page."""
    return [given for given in line.attributes if not _is_priority(given)]


# -- several edited pages ---------------------------------------------------------------------


def merge_items(shared: list[Item], base: list[Item], current: list[Item]) -> list[Item]:
    """The shared page with the changes from `base` to `current`.

    Added lines are added and deleted text is deleted; a task's line may move, but is never deleted.
    """
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
    """Index in the base -> index in the shared page, for each line that both have."""
    places = {}
    for block in SequenceMatcher(None, base, shared).get_matching_blocks():
        places.update({block.a + step: block.b + step for step in range(block.size)})
    return places


def _anchor(first: int, places: dict[int, int]) -> int:
    """The line of the shared page after which a piece at `first` in the base belongs; -1: at the top."""
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
