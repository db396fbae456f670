"""Beyond a bound no rule is tried; up to it the rules answer as ever."""

from __future__ import annotations

import pytest

from lineclear.code.languages import language_of
from lineclear.code.parse import MAX_ELEMENT_LEVELS, MAX_SIZE, parse
from lineclear.merge import MergeResult, engine, merge_texts
from lineclear.merge.bounds import MAX_PLACES, MAX_PLACES_SIZE
from lineclear.merge.names_added import may_add_names
from lineclear.merge.result import Labels
from lineclear.merge.rule_jobs import MergeJob, NamesJob, RenumberJob


def many_places(count: int) -> MergeResult:
    base, left, right = (
        "".join(f"def f{n}():\n    return {value}\n\n" for n in range(count)) for value in ("1", "22", "333")
    )
    return merge_texts("a.py", base, left, right)


def one_line(size: int) -> MergeResult:
    words = "word " * (size // 5 - 2)
    return merge_texts("a.js", f"{words}one\n", f"{words}two\n", f"{words}six\n")


def test_more_places_than_the_rules_try_stay_conflicts_and_nothing_is_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert many_places(MAX_PLACES).conflicts[-1].symbols, "up to the bound the rules look at the file"
    monkeypatch.setattr(engine, "parse", None)
    result = many_places(MAX_PLACES + 1)
    assert len(result.conflicts) == MAX_PLACES + 1
    assert result.verdict == "both sides changed 501 places; the merge rules try at most 500"


def test_a_long_line_that_both_sides_changed_is_not_compared_by_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert one_line(MAX_PLACES_SIZE).verdict == "both sides changed these lines"
    monkeypatch.setattr(engine, "parse", None)
    result = one_line(MAX_PLACES_SIZE + 50)
    assert result.verdict == "both sides changed more than 200 KB, the limit of the merge rules"


def test_a_long_line_elsewhere_keeps_no_rule_from_its_work() -> None:
    image = f'image = "{"A" * (MAX_PLACES_SIZE + 1)}"\n'
    result = merge_texts("a.txt", "v = 1.0.0\n" + image, "v = 1.0.1\n" + image, "v = 1.0.2\n" + image)
    assert result.is_clean


def test_a_handler_still_merges_what_is_all_on_one_line() -> None:
    keys = ",".join(f'"key{n}":{n}' for n in range(20_000))
    base, left, right = ("{" + keys + f',"a":{a},"z":{z}' + "}\n" for a, z in ((0, 0), (1, 0), (0, 1)))
    assert len(base) > MAX_PLACES_SIZE
    assert merge_texts("a.json", base, left, right).is_clean


def test_a_job_with_a_large_file_is_not_tried() -> None:
    large = "x" * (MAX_SIZE + 1)
    why = "the file is larger than 1.5 MB, the limit of the merge rules"
    assert MergeJob("a.json", "", "1\n", large, Labels()).why_not() == why
    assert MergeJob("a.json", "", "1\n", large[:-1], Labels()).why_not() == ""
    assert RenumberJob({}, {"1.sql": large}, set()).why_not() == why
    assert NamesJob("a.css", "a {}", "").why_not() == ""


def test_a_large_file_is_not_searched_for_names() -> None:
    assert may_add_names("a.css", "a {}" + " " * (MAX_SIZE - 4))
    assert not may_add_names("a.css", "a {}" + " " * MAX_SIZE)


@pytest.mark.parametrize("path", ["a.xml", "a.html"])
def test_elements_that_are_nested_too_deeply_have_no_tree(path: str) -> None:
    language = language_of(path)
    assert language is not None
    deep, deeper = ("<a>" * levels for levels in (MAX_ELEMENT_LEVELS, MAX_ELEMENT_LEVELS + 1))
    assert parse(language, deep) is not None
    assert parse(language, deeper) is None
    flat = "<ul>" + "<li>one<br><b/>two" * 1_000 + "</ul>"
    assert parse(language, "<x>" + flat.replace("<li>", "") + "</x>") is not None, "these do not nest"
    assert parse(language, "<p><i>a</p>\n" * 1_000) is not None, "`</p>` ends the `<i>` too"
