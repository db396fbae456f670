"""Edits that touch without overlapping, and sides that made the same edit and more."""

from __future__ import annotations

import pytest

from lineclear.merge import merge_texts
from lineclear.merge.adjacent import copies_what_changed, touching
from lineclear.merge.diff import Steps
from lineclear.merge.lines import Chunk, cover

CHANGED = ["both sides changed these lines"]


def merged(path: str, base: str, left: str, right: str) -> str:
    """The one text, whichever side is called left."""
    result = merge_texts(path, base, left, right)
    assert result.is_clean, result.verdict
    assert merge_texts(path, base, right, left).text == result.text
    return result.text


def reasons(path: str, base: str, left: str, right: str) -> list[str]:
    """Why it is a conflict, whichever side is left; empty where it is none."""
    there, back = merge_texts(path, base, left, right), merge_texts(path, base, right, left)
    found = [conflict.doubt for conflict in there.conflicts]
    assert found == [conflict.doubt for conflict in back.conflicts]
    return found


def test_a_line_edited_here_and_a_line_added_below_it_there() -> None:
    base = "a = 1\nlimit_of_rows = 10\nb = 2\n"
    left = "a = 1\nlimit_of_rows = 20\nb = 2\n"
    right = "a = 1\nlimit_of_rows = 10\nlimit_of_pages = 5\nb = 2\n"
    assert merged("a.py", base, left, right) == "a = 1\nlimit_of_rows = 20\nlimit_of_pages = 5\nb = 2\n"


def test_a_block_added_above_a_line_that_the_other_side_edits() -> None:
    base = "start()\nfor row in rows(all):\n    show(row)\n"
    left = "start()\nfor row in rows(visible):\n    show(row)\n"
    right = "start()\nif debug:\n    trace()\nfor row in rows(all):\n    show(row)\n"
    text = merged("a.py", base, left, right)
    assert text == "start()\nif debug:\n    trace()\nfor row in rows(visible):\n    show(row)\n"


def test_a_line_dropped_here_beside_a_line_edited_there() -> None:
    base = "class A {\n  int first;\n  List second;\n}\n"
    left = "class A {\n  List second;\n}\n"
    right = "class A {\n  int first;\n  Set second;\n}\n"
    assert merged("A.java", base, left, right) == "class A {\n  Set second;\n}\n"


def test_a_row_added_to_a_table_that_the_other_side_changed_throughout_stays_open() -> None:
    base = "[\n  ['_a.scss', 'a.css'],\n  ['_b.scss', 'b.css'],\n];\n"
    left = base.replace("'_", "'styles/_")
    right = base.replace("];", "  ['_c.scss', 'c.css'],\n];")
    assert reasons("a.js", "const x = " + base, "const x = " + left, "const x = " + right) == CHANGED
    wider = base.replace("', '", "',  '")
    assert not reasons("a.js", "const x = " + base, "const x = " + wider, "const x = " + right)


def test_lines_added_at_one_place_by_both_are_a_conflict_even_beside_an_edit() -> None:
    base = "a = 1\nb = 2\n"
    assert reasons("a.py", base, "a = 1\nopen_door()\nb = 2\n", "a = 1\nclose_door()\nb = 3\n") == CHANGED


def test_a_line_that_moved_into_a_branch_is_not_an_edit_of_it() -> None:
    base = "seen[x] = value\n"
    left = "if big(x):\n    note(x)\nelse:\n    seen[x] = value\n"
    assert touching(base, left, base + "count(x)\n", Steps(10_000)) is None


def test_two_answers_to_one_question_are_not_two_edits() -> None:
    base = "seen[x] = value\n"
    left = "if x.kind is None:\n    skip(x)\nseen[x] = other\n"
    right = "seen[x] = value\nif x.kind is None:\n    stop()\n"
    assert touching(base, left, right, Steps(10_000)) is None
    assert touching(base, left, "seen[x] = value\n", Steps(10_000)) == left


def test_a_line_added_behind_a_value_that_the_other_side_edits_may_use_it() -> None:
    base, left = "ret = make(a)\n", "ret = make(a, b)\n"
    assert touching(base, left, base + "check(ret)\n", Steps(10_000)) is None
    assert touching(base, left, base + "check(a)\n", Steps(10_000)) == left + "check(a)\n"


def test_lines_added_beside_a_line_that_was_replaced_have_no_place() -> None:
    assert touching("b = 2\n", "note_it()\nb = 2\n", "other(y)\n", Steps(10_000)) is None
    assert touching("b = 2\n", "b = 2\nnote_it()\n", "other(y)\n", Steps(10_000)) is None


def test_the_same_new_lines_on_both_sides_and_one_edit_beside_them() -> None:
    base = 'VERSION = "1.0"\n\nrun()\n'
    left = 'VERSION = "1.0"\nPROTOCOL = "7"\n\nrun()\n'
    right = 'VERSION = "1.1"\nPROTOCOL = "7"\n\nrun()\n'
    assert merged("a.py", base, left, right) == right


def test_the_same_replacement_with_a_comment_on_one_side() -> None:
    base = "jobs:\n  args: --all\n"
    left = "jobs:\n  # see the manual\n  args: --all --deny warnings\n"
    right = "jobs:\n  args: --all --deny warnings\n"
    assert merged("a.sh", base, left, right) == left


def test_the_same_argument_on_both_sides_and_one_more_on_one() -> None:
    base = "make(first, last);\n"
    left = "make(first, middle, last);\n"
    right = "make(first, middle, inner, last);\n"
    assert merged("a.ts", base, left, right) == right


def test_half_a_version_is_not_the_same_edit() -> None:
    assert (
        reasons("a.sh", "get tool 1.2.3 now\n", "get tool 1.3.0 now\n", "get tool 1.3.3 later\n") == CHANGED
    )


def test_a_call_inside_another_call_is_not_the_same_call() -> None:
    base = "a(1);\n"
    assert reasons("a.ts", base, "x.b(a(1));\n", "x.c(); y.b(a(1));\n") == CHANGED


def test_columns_set_anew_here_and_a_line_edited_there() -> None:
    base = "type A struct {\n\tid int\n\tname string\n}\n"
    left = "type A struct {\n\tid         int\n\tname       string\n\tlistenHost string\n}\n"
    right = "type A struct {\n\tkey int\n\tid int\n\tname string\n}\n"
    text = merge_texts("a.go", base, left, right).text
    assert (
        text == "type A struct {\n\tkey int\n\tid         int\n\tname       string\n\tlistenHost string\n}\n"
    )


def test_blanks_inside_a_long_text_are_text() -> None:
    base = 'x = """\none\ntwo\n"""\n'
    left = 'x = """\n  one\n  two\n"""\n'
    right = 'x = """\none\ntwo changed\n"""\n'
    assert reasons("a.py", base, left, right) == CHANGED


def test_names_on_several_lines_are_a_set() -> None:
    base = "//! About.\n\nuse a::{\n    One, Three,\n    Zwei,\n};\n\nfn f() {}\n"
    left = base.replace("Three,", "Three, Two,")
    right = base.replace("    Zwei,\n", "    Zehn, Zwei,\n")
    text = merge_texts("a.rs", base, left, right).text
    assert text.count("About") == text.count("use a::") == 1
    assert all(name in text for name in ("Two", "Zehn", "Zwei"))


@pytest.mark.parametrize("above", [0, 1, 3])
def test_a_wider_place_takes_its_lines_from_the_chunks_around_it(above: int) -> None:
    chunks = [
        Chunk("same", 0, 5, 0, 5, 0, 5),
        Chunk("conflict", 5, 6, 5, 7, 5, 6),
        Chunk("same", 6, 9, 7, 10, 6, 9),
    ]
    wide = Chunk("conflict", 5 - above, 8, 5 - above, 9, 5 - above, 8)
    covered = cover(chunks, wide)
    assert [(c.b0, c.b1) for c in covered] == [(0, 5 - above), (5 - above, 8), (8, 9)]
    assert [(c.l0, c.l1) for c in covered] == [(0, 5 - above), (5 - above, 9), (9, 10)]


def test_an_edit_beside_new_lines_that_begin_like_the_edited_one_has_no_answer() -> None:
    base = "<ul class='side wide'>\n  <li>all reports</li>\n"
    more = "<ul class='side wide'>\n  <li>prices</li>\n</ul>\n" + base
    edited = base.replace("wide", "wide low").replace("all", "all new")
    assert touching(base, more, edited, Steps(100_000)) is None
    assert touching(base, edited, more, Steps(100_000)) is None
    other = more.replace("<ul", "<ol", 1)
    assert touching(base, other, edited, Steps(100_000)) == other[: -len(base)] + edited


def test_a_line_that_one_side_copied_and_the_other_changed() -> None:
    base = "send(first note)\nshut()\n"
    copied, changed = base + base, base.replace("first note", "first note of all")
    assert copies_what_changed(base, copied, changed)
    assert copies_what_changed(base, changed, copied)
    assert not copies_what_changed(base, copied, base + "open()\n")
    assert not copies_what_changed(base, copied, "send(\n  first note\n)\nshut()\n")
