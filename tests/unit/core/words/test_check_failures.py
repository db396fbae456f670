"""Why a check fails, told to the author: the old and the new form, whose task, and nobody's words as ours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.words.check_failures import since
from tests.finding_rows import finding_row

OUTPUT = "TypeError: parse() missing 1 required positional argument: 'encoding'"


def test_old_and_new_form_and_the_task_are_named() -> None:
    row = finding_row(detail="does not pass `encoding`, which is required")
    assert since([row], 7, OUTPUT) == (
        " since `parse` is now `parse(text, encoding)` (T-7), before `parse(text)`: "
        "does not pass 'encoding', which is required"
    )


def test_without_the_landing_the_findings_own_task_is_named() -> None:
    assert " (T-9)," in since([finding_row(task=9)], 0, OUTPUT)
    assert "T-" not in since([finding_row()], 0, OUTPUT)


def test_what_was_removed_is_gone_and_what_replaced_it_is_named() -> None:
    gone = finding_row(kind="removed", new="")
    assert since([gone], 7, OUTPUT) == " since `parse` is gone (T-7)"
    renamed = finding_row(kind="removed", new="parse_text", detail="renamed to parse_text")
    assert since([renamed], 7, OUTPUT) == " since `parse` is gone (T-7), now `parse_text`"


def test_a_change_inside_the_same_form_is_told_by_its_detail() -> None:
    row = finding_row(old="class Shape", new="class Shape", symbol="Shape", detail="'Box' lacks 'area'")
    assert since([row], 7, "Shape") == " since `Shape` has changed (T-7): 'Box' lacks 'area'"


def test_what_the_output_names_comes_first_and_anything_else_is_a_guess() -> None:
    other = finding_row(symbol="Reader.close", new="close(now)", old="close()")
    told = since([other, finding_row()], 7, OUTPUT)
    assert told.startswith(" since `parse` is now")
    assert "; `Reader.close` is now" in told
    assert since([other], 7, OUTPUT).startswith(" perhaps since `Reader.close` is now")


def test_only_the_first_few_are_told_and_the_rest_counted() -> None:
    told = since([finding_row()] * 5, 7, OUTPUT)
    assert told.count("is now") == 3
    assert told.endswith("; and 2 more")
    assert since([], 7, OUTPUT) == ""


@given(st.text(), st.text(), st.text(), st.text())
def test_hostile_names_stay_on_one_line_and_inside_their_backticks(
    symbol: str, old: str, new: str, detail: str
) -> None:
    told = since([finding_row(symbol=symbol, old=old, new=new, detail=detail)], 7, OUTPUT)
    assert len(told.splitlines()) == 1
    assert told.count("`") in (2, 4, 6)
    assert len(told) < 600
