"""Random edits to whole programs, each side in entities of its own: the merge is the composition.

The programs stand in `merge_programs`; their syntax trees say what an entity is and where a number stands.
"""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.merge.judge import judge
from lineclear.code.languages import language_of
from lineclear.code.parse import parse
from lineclear.merge import merge_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node, Tree

PROGRAMS = {
    path.name: path.read_text() for path in sorted((Path(__file__).parent / "merge_programs").iterdir())
}
COMMENT = {"py": "#", "rb": "#", "sh": "#"}
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


class Entity:
    """Rows of the file, the last one excluded, with the blank lines behind it."""

    def __init__(self, first: int, last: int, name: str) -> None:
        self.first = first
        self.last = last
        self.name = name


def parsed(path: str, text: str) -> Tree:
    language = language_of(path)
    assert language is not None
    tree = parse(language, text)
    assert tree is not None
    return tree


def entities_of(path: str) -> list[Entity]:
    tree = parsed(path, PROGRAMS[path])
    lines = PROGRAMS[path].splitlines(True)
    found: list[Entity] = []
    todo = [tree.root_node]
    while todo:
        node = todo.pop()
        for child in node.named_children:
            name = child.child_by_field_name("name") or child.child_by_field_name("declarator")
            if is_function(child) and name is not None and is_plain(child, lines):
                found.append(entity(child, lines, name))
            else:
                todo.append(child)
    return sorted(found, key=lambda item: item.first)


def is_function(node: Node) -> bool:
    has_body = any(child.type.endswith(("body", "block", "statement")) for child in node.named_children)
    return has_body and any(word in node.type for word in ("function", "method"))


def is_plain(node: Node, lines: list[str]) -> bool:
    """Whole rows, and a number in it that can be edited; no decorator or comment above that belongs to it."""
    rows = lines[node.start_point[0] : node.end_point[0] + 1]
    above = lines[node.start_point[0] - 1].strip()
    return bool(NUMBER.search("".join(rows[1:]))) and not above and rows[0].strip() != ""


def entity(node: Node, lines: list[str], name: Node) -> Entity:
    last = node.end_point[0] + 1
    while last < len(lines) and not lines[last].strip():
        last += 1
    word = re.match(r"\w+", (name.text or b"").decode())
    return Entity(node.start_point[0], last, word[0] if word else "")


def changed(path: str, rows: list[str], one: Entity, what: str) -> list[str]:
    if what == "drop":
        return []
    if what == "note":
        indent = rows[0][: len(rows[0]) - len(rows[0].lstrip())]
        return [
            f"{indent}{COMMENT.get(path.rpartition('.')[2], '//')} See {one.name} in the manual.\n",
            *rows,
        ]
    text = "".join(rows)
    if what == "edit":
        head = len(rows[0])
        return [text[:head] + NUMBER.sub("77", text[head:], count=1)]
    copy = re.sub(rf"\b{one.name}\b", f"{one.name}_copy", text)
    blanks = "".join(row for row in rows if not row.strip()) or "\n"
    return [text if text.endswith("\n\n") else text + blanks, copy]


def apply(path: str, plan: dict[int, str], entities: list[Entity]) -> str:
    lines = PROGRAMS[path].splitlines(True)
    for place in sorted(plan, reverse=True):
        one = entities[place]
        lines[one.first : one.last] = changed(path, lines[one.first : one.last], one, plan[place])
    return "".join(lines)


def are_disjoint(plans: dict[str, dict[int, str]]) -> bool:
    """Beside what one side drops or adds, the other side only edits."""
    return not any(
        place + step in plans["right"] and "edit" not in (what, plans["right"][place + step])
        for place, what in plans["left"].items()
        for step in (-1, 1)
    )


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_edits_of_different_entities_are_composed(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(PROGRAMS)))
    entities = entities_of(path)
    plans: dict[str, dict[int, str]] = {"left": {}, "right": {}}
    for place in range(len(entities)):
        who = data.draw(st.sampled_from(["nobody", "left", "right"]))
        if who != "nobody":
            plans[who][place] = data.draw(st.sampled_from(["edit", "edit", "drop", "add", "note"]))
    if not are_disjoint(plans):
        return
    left, right = apply(path, plans["left"], entities), apply(path, plans["right"], entities)
    result = merge_texts(path, PROGRAMS[path], left, right)
    assert result.is_clean, (path, plans, result.verdict)
    assert result.text == apply(path, plans["left"] | plans["right"], entities), (path, plans)


def rows(text: str) -> list[str]:
    """Without blank lines: the last of several entities has none behind it."""
    return [line for line in text.split("\n") if line.strip()]


def siblings(entities: list[Entity]) -> list[tuple[int, int]]:
    """Pairs that follow one another, so that they can change places."""
    return [(n, n + 1) for n in range(len(entities) - 1) if entities[n].last == entities[n + 1].first]


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_an_edit_follows_its_entity_when_the_other_side_moves_it(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([path for path in sorted(PROGRAMS) if siblings(entities_of(path))]))
    entities = entities_of(path)
    first, second = (entities[n] for n in data.draw(st.sampled_from(siblings(entities))))
    lines = PROGRAMS[path].splitlines(True)
    one, two = lines[first.first : first.last], lines[second.first : second.last]
    edited = "".join(changed(path, one, first, "edit")), "".join(changed(path, two, second, "edit"))
    head, tail = "".join(lines[: first.first]), "".join(lines[second.last :])
    mine = data.draw(st.booleans())
    right = head + (edited[0] if mine else "".join(one)) + ("".join(two) if mine else edited[1]) + tail
    left = head + "".join([*two, *one]) + tail
    wanted = head + ("".join(two) if mine else edited[1]) + (edited[0] if mine else "".join(one)) + tail
    for result in (merge_texts(path, PROGRAMS[path], *s) for s in ((left, right), (right, left))):
        assert not result.is_clean or rows(result.text) == rows(wanted) or result.verdict == "git"


@st.composite
def worked_on(draw: st.DrawFn, path: str) -> str:
    """The program after careless work: lines dropped, doubled, moved, words and numbers changed."""
    lines = PROGRAMS[path].splitlines(True)
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(lines) - 1))
        what = draw(st.sampled_from(["drop", "double", "swap", "number", "word", "new"]))
        if what == "drop":
            del lines[place : place + draw(st.integers(1, 4))]
        elif what == "double":
            lines[place:place] = lines[place : place + draw(st.integers(1, 3))]
        elif what == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[place], lines[other] = lines[other], lines[place]
        elif what == "number":
            lines[place] = NUMBER.sub(str(draw(st.integers(50, 60))), lines[place])
        elif what == "word":
            lines[place] = re.sub(
                r"[a-z]{4,}", draw(st.sampled_from(["alpha", "beta"])), lines[place], count=1
            )
        else:
            lines[place:place] = [draw(st.sampled_from(["new_line(1)\n", "    other = 2\n", "}\n", "\n"]))]
        lines = lines or ["\n"]
    return "".join(lines)


def losses(path: str, base: str, left: str, right: str, merged: str) -> list[str]:
    """What the judge finds; in which scope a name stands is not told by a text that does not parse."""
    found = judge(path, base, left, right, merged)
    if not any(parsed(path, text).root_node.has_error for text in (base, left, right)):
        return found
    return [text for text in found if not text.startswith(("twice", "missing", "not removed", "import"))]


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_careless_work_is_never_merged_with_a_loss(data: st.DataObject) -> None:
    """The judge of the benchmark shares nothing with the engine: it must find nothing in a clean result."""
    path = data.draw(st.sampled_from(sorted(PROGRAMS)))
    base = PROGRAMS[path]
    left, right = data.draw(worked_on(path)), data.draw(worked_on(path))
    result = merge_texts(path, base, left, right)
    if result.is_clean and result.verdict == "verified":
        assert losses(path, base, left, right, result.text) == []


@given(st.sampled_from(sorted(PROGRAMS)), st.binary(max_size=200), st.binary(max_size=200), st.data())
@settings(max_examples=200, deadline=None)
def test_random_bytes_and_cut_off_files_end_in_a_text(
    path: str, noise: bytes, other: bytes, data: st.DataObject
) -> None:
    text = PROGRAMS[path]
    cut = data.draw(st.integers(0, len(text)))
    sides = [text[:cut], noise.decode("utf-8", "replace"), text[cut:], other.decode("latin-1") + text]
    base, left, right = (data.draw(st.sampled_from([*sides, text])) for _ in range(3))
    result = merge_texts(path, base, left, right)
    assert result.is_clean or "<<<<<<< " in result.text
    if result.is_clean and result.verdict == "verified":
        assert losses(path, base, left, right, result.text) == []


def test_every_program_has_entities_to_edit() -> None:
    for path in PROGRAMS:
        assert len(entities_of(path)) >= 3, path
