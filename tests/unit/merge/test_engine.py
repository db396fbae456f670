"""The order of rules for one file, and the form of what is left as conflicts."""

from __future__ import annotations

from lineclear.merge import Labels, Settings, merge_texts

BASE = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"
LEFT = BASE.replace("return 1", "return 5")
RIGHT = BASE.replace("return 1", "return 6")


def test_gits_clean_text_is_returned_byte_for_byte() -> None:
    result = merge_texts("a.py", BASE, LEFT, RIGHT, git_text="whatever git says\r\n")
    assert (result.text, result.verdict, result.is_clean) == ("whatever git says\r\n", "git", True)


def test_gits_text_with_markers_of_its_inputs_is_still_gits_answer() -> None:
    marked = "<<<<<<< an example in a manual\n"
    result = merge_texts("a.txt", "x\n", marked + "x\n", "x\ny\n", git_text=marked + "x\ny\n")
    assert result.verdict == "git"


def test_a_conflict_names_the_symbol_beside_both_labels() -> None:
    result = merge_texts("a.py", BASE, LEFT, RIGHT, labels=Labels("mine", "old", "yours"))
    assert (
        "<<<<<<< mine (A.f)\n        return 5\n=======\n        return 6\n>>>>>>> yours (A.f)\n"
        in result.text
    )
    (conflict,) = result.conflicts
    assert (conflict.first_line, conflict.last_line, conflict.symbols) == (3, 7, ["A.f"])


def test_lines_that_both_sides_share_stand_outside_the_markers() -> None:
    left = BASE.replace("return 1", "x = 0\n        return 5")
    right = BASE.replace("return 1", "x = 0\n        return 6")
    result = merge_texts("a.py", BASE, left, right)
    assert "        x = 0\n<<<<<<< ours" in result.text


def test_two_edits_inside_one_expression_are_a_conflict() -> None:
    """Each may be right, and together they may make no sense."""
    base = "total = price(item) + tax(item)\n"
    result = merge_texts("a.py", base, base.replace("price", "net"), base.replace("tax", "vat"))
    assert not result.is_clean


def test_edits_of_two_arguments_are_put_together() -> None:
    base = "send(first, second, third)\n"
    result = merge_texts("a.py", base, base.replace("first", "one"), base.replace("third", "three"))
    assert (result.text, result.is_clean) == ("send(one, second, three)\n", True)


def test_a_settled_hunk_stays_settled_beside_an_open_one() -> None:
    base = "import a\nimport z\n\n\n" + BASE
    left = "import a\nimport b\nimport z\n\n\n" + LEFT
    right = "import a\nimport c\nimport z\n\n\n" + RIGHT
    result = merge_texts("a.py", base, left, right)
    assert result.text.startswith("import a\nimport b\nimport c\nimport z\n")
    assert len(result.conflicts) == 1


def test_a_side_that_already_holds_markers_is_not_touched_by_rules() -> None:
    left = LEFT + "<<<<<<< old\n"
    result = merge_texts("a.py", BASE, left, RIGHT)
    assert not result.is_clean
    assert "already holds conflict markers" in result.verdict


def test_a_file_above_the_limit_is_a_plain_conflict() -> None:
    result = merge_texts("a.py", BASE, LEFT, RIGHT, settings=Settings(max_bytes=10))
    assert not result.is_clean
    assert "larger than the limit" in result.verdict


def test_work_beyond_the_steps_ends_in_a_conflict_not_in_a_guess() -> None:
    base = "".join(f"{n % 3}\n" for n in range(30_000))
    left = "".join(f"{n % 4}\n" for n in range(30_000))
    right = "".join(f"{n % 5}\n" for n in range(30_000))
    assert not merge_texts("a.txt", base, left, right, settings=Settings(steps_per_byte=0)).is_clean


def test_text_that_is_no_unicode_keeps_its_bytes() -> None:
    odd = b"name = '\xff\xfe'\n".decode("utf-8", "surrogateescape")
    base = "import a\nimport z\n" + odd
    left = "import a\nimport b\nimport z\n" + odd
    right = "import a\nimport c\nimport z\n" + odd
    result = merge_texts("a.py", base, left, right)
    assert odd in result.text


def test_a_file_added_by_both_sides_with_one_inside_the_other_is_the_longer_one() -> None:
    assert merge_texts("a.txt", "", "one\n", "one\ntwo\n").text == "one\ntwo\n"


def test_deep_nesting_is_read_without_end_of_stack() -> None:
    deep = "[" * 20_000 + "]" * 20_000
    result = merge_texts("a.js", f"x = {deep}\n", f"x = {deep};\n", f"y = {deep}\n")
    assert result.text
