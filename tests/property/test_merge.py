"""What must hold of every merge: no exception, no invented or doubled work, no side preferred."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.merge import merge_texts
from lineclear.merge.diff import Steps, edits
from lineclear.merge.lines import three_way

PATHS = [
    "a.py",
    "a.ts",
    "a.go",
    "a.rs",
    "a.java",
    "a.css",
    "a.rb",
    "a.txt",
    "a.yaml",
    "package.json",
    "CHANGELOG.md",
]
WORDS = [
    "x = 1",
    "import a",
    "import b",
    "from m import p, q",
    "def f():",
    "    return x",
    "}",
    "{",
    "",
    '"k": 2,',
    "# c",
]

lines = st.lists(st.sampled_from(WORDS), max_size=12).map(
    lambda items: "".join(item + "\n" for item in items)
)
wild = st.text(st.characters(codec="utf-8"), max_size=60) | lines
items = st.lists(st.sampled_from("abcdefg"), max_size=30)


def words(text: str) -> list[str]:
    return sorted(re.findall(r"\w+|[^\w\s]", text))


@given(items, items)
def test_edits_turn_the_first_sequence_into_the_second(a: list[str], b: list[str]) -> None:
    built, at = [], 0
    for a0, a1, b0, b1 in edits(a, b, Steps(100_000)):
        built += a[at:a0] + b[b0:b1]
        at = a1
    assert built + a[at:] == b


@given(items, items)
def test_edits_without_budget_are_coarse_but_right(a: list[str], b: list[str]) -> None:
    built, at = [], 0
    for a0, a1, b0, b1 in edits(a, b, Steps(0)):
        built += a[at:a0] + b[b0:b1]
        at = a1
    assert built + a[at:] == b


@given(items, items, items)
def test_chunks_cover_all_three_sequences_in_order(b: list[str], lt: list[str], r: list[str]) -> None:
    chunks = three_way(b, lt, r, Steps(100_000))
    assert [x for c in chunks for x in b[c.b0 : c.b1]] == b
    assert [x for c in chunks for x in lt[c.l0 : c.l1]] == lt
    assert [x for c in chunks for x in r[c.r0 : c.r1]] == r
    assert all(b[c.b0 : c.b1] == r[c.r0 : c.r1] for c in chunks if c.kind in ("same", "left"))


@given(st.sampled_from(PATHS), wild, wild)
def test_a_side_that_changed_nothing_gives_way(path: str, base: str, changed: str) -> None:
    assert merge_texts(path, base, changed, base).text == changed
    assert merge_texts(path, base, base, changed).text == changed
    assert merge_texts(path, base, changed, changed).text == changed


@given(st.sampled_from(PATHS), wild, wild, wild)
@settings(max_examples=300, deadline=None)
def test_any_three_texts_give_one_text_and_say_where_it_is_open(
    path: str, base: str, left: str, right: str
) -> None:
    result = merge_texts(path, base, left, right)
    rows = result.text.split("\n")
    for conflict in result.conflicts:
        assert rows[conflict.first_line - 1].startswith("<<<<<<< ")
        assert rows[conflict.last_line - 1].startswith(">>>>>>> ")
        assert conflict.doubt
    assert result.verdict


@given(st.sampled_from(PATHS), lines, lines, lines)
@settings(max_examples=300, deadline=None)
def test_swapping_the_sides_changes_at_most_the_order(path: str, base: str, left: str, right: str) -> None:
    one = merge_texts(path, base, left, right)
    other = merge_texts(path, base, right, left)
    assert one.is_clean == other.is_clean
    if one.is_clean:
        assert words(one.text) == words(other.text)


@given(st.sampled_from(PATHS), lines, lines, lines, st.text(max_size=20))
def test_gits_own_clean_text_is_returned_unchanged(path: str, b: str, lt: str, r: str, git_text: str) -> None:
    if len({b, lt, r}) == 3 and "<<<<<<<" not in git_text and ">>>>>>>" not in git_text:
        assert merge_texts(path, b, lt, r, git_text=git_text).text == git_text


@given(st.sampled_from(PATHS), lines, lines, lines)
@settings(max_examples=200, deadline=None)
def test_a_clean_result_holds_only_lines_and_words_of_its_sources(path: str, b: str, lt: str, r: str) -> None:
    result = merge_texts(path, b, lt, r)
    if result.is_clean:
        assert set(words(result.text)) <= set(words(lt)) | set(words(r))


# -- edits in disjoint places ------------------------------------------------------------------

BODY = {
    "a.py": "def f{n}(a):\n    x = a + {v}\n    return x\n\n\n",
    "a.ts": "export function f{n}(a: number) {{\n  const x = a + {v};\n  return x;\n}}\n\n",
    "a.go": "func f{n}(a int) int {{\n\tx := a + {v}\n\treturn x\n}}\n\n",
    "a.rs": "fn f{n}(a: i32) -> i32 {{\n    let x = a + {v};\n    x\n}}\n\n",
    "a.java": "class C{n} {{\n    int f(int a) {{\n        return a + {v};\n    }}\n}}\n\n",
}


def program(path: str, values: dict[int, int]) -> str:
    return "".join(BODY[path].format(n=n, v=v) for n, v in sorted(values.items()))


@given(
    st.sampled_from(sorted(BODY)),
    st.lists(
        st.tuples(st.sampled_from(["keep", "left", "right"]), st.sampled_from(["edit", "drop", "add"])),
        max_size=9,
    ),
)
@settings(deadline=None)
def test_edits_in_disjoint_functions_are_composed(path: str, plan: list[tuple[str, str]]) -> None:
    base = dict.fromkeys(range(0, 40, 2), 1)
    left, right, wanted = dict(base), dict(base), dict(base)
    for place, (who, what) in enumerate(plan):
        n = place * 4  # an untouched function lies between any two edits
        for texts in [] if who == "keep" else [left if who == "left" else right, wanted]:
            if what == "edit":
                texts[n] = 7 + n
            elif what == "drop":
                del texts[n]
            else:
                texts[n + 1] = 3
    result = merge_texts(path, program(path, base), program(path, left), program(path, right))
    assert result.is_clean
    assert result.text == program(path, wanted)


@given(st.sampled_from(sorted(BODY)), st.integers(1, 4), st.integers(1, 4))
@settings(deadline=None)
def test_functions_added_at_one_place_are_all_there_once(path: str, ours: int, theirs: int) -> None:
    base = {0: 1, 90: 1}
    left = base | {10 + n: 2 for n in range(ours)}
    right = base | {50 + n: 3 for n in range(theirs)}
    result = merge_texts(path, program(path, base), program(path, left), program(path, right))
    assert result.is_clean
    assert result.text == program(path, left | right)
    assert result.verdict == "verified"


@given(st.sampled_from(sorted(BODY)), st.integers(0, 19), st.booleans())
@settings(deadline=None)
def test_a_function_dropped_here_and_edited_there_is_a_conflict(path: str, place: int, swap: bool) -> None:
    base = dict.fromkeys(range(20), 1)
    dropped = {n: 1 for n in range(20) if n != place}
    edited = base | {place: 77}
    left, right = (edited, dropped) if swap else (dropped, edited)
    result = merge_texts(path, program(path, base), program(path, left), program(path, right))
    assert [conflict.doubt for conflict in result.conflicts] == ["one side removed what the other edited"]
