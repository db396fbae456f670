"""A proposed file as the payload of a proposal."""

from __future__ import annotations

import pytest

from lineclear.core.json_text import canonical, parse_json
from lineclear.core.values.file_changes import MOST_BYTES, FileChange, check_content, read_change
from tests.world import refused

FILE = "file:a.sql"


@pytest.mark.parametrize("text", ["", "ALTER TABLE\n", 'quotes " and \\ and \u2028', None])
def test_a_change_is_read_back_as_it_was(text: str | None) -> None:
    change = FileChange(text, commit="c" * 40, blob="", task=3)
    found = read_change(parse_json(canonical(change.as_payload())))
    assert found is not None
    assert (found.text, found.commit, found.blob, found.task) == (text, "c" * 40, "", 3)


GOOD = FileChange("x", commit="c", blob="b").as_payload()


@pytest.mark.parametrize(
    "payload",
    [
        None,
        "x",
        [GOOD],
        {},
        {**GOOD, "form": "patch"},
        {**GOOD, "removed": True},
        {name: value for name, value in GOOD.items() if name != "text"},
        {**GOOD, "commit": 1},
        {**GOOD, "task": "T-1"},
        {**GOOD, "task": True},
    ],
    ids=str,
)
def test_a_payload_of_another_form_is_no_change_of_a_file(payload: object) -> None:
    assert read_change(payload) is None


@pytest.mark.parametrize(
    ("text", "before"),
    [("same", "same"), (None, None), ("x" * (MOST_BYTES + 1), None), ("a\0b", None), ("é" * MOST_BYTES, "")],
    ids=["the same", "neither", "too large", "no text", "too large in bytes"],
)
def test_what_is_no_usable_change_is_refused(text: str | None, before: str | None) -> None:
    with refused("proposal.nothing"):
        check_content(FILE, text, before)


@pytest.mark.parametrize(("text", "before"), [("", None), (None, ""), ("x" * MOST_BYTES, "x")])
def test_an_empty_file_a_removal_and_the_largest_file_are_changes(
    text: str | None, before: str | None
) -> None:
    check_content(FILE, text, before)
