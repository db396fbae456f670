"""Names as they are typed: which are taken, which are refused, and who is family."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lineclear.core.agents.names import (
    agent_name,
    clone_suffixes,
    is_family,
    label_name,
    operation_id,
    task_id,
    topic_name,
)
from lineclear.core.words.refusals import Refusal


@pytest.mark.parametrize("text", ["a", "codex-2", "Claude.3_x", "7", "a" * 64, "a/b", "a/b/c/d", "a/all"])
def test_a_plain_name_or_a_chain_of_them_is_an_agent(text: str) -> None:
    assert agent_name(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "-x", ".x", "_x", ".", "..", "a b", "a\n", "a\0", "ä", "١", "a" * 65),
        *("/", "a/", "/a", "a//b", "a/../b", "a/.", "a/b/c/d/e", "a:b", "a\\b", "\ud800"),
    ],
)
def test_anything_else_is_not_an_agent(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        agent_name(text)
    assert caught.value.code == "input.bad"


@pytest.mark.parametrize("text", ["all", "me", "nobody", "All", "ME", "all/x"])
def test_a_reserved_word_is_nobodys_name(text: str) -> None:
    with pytest.raises(Refusal, match="reserved"):
        agent_name(text)


def test_a_topic_is_written_like_an_agent() -> None:
    assert topic_name("auth/login") == "auth/login"
    with pytest.raises(Refusal, match=r'^topic "a b" is not valid: '):
        topic_name("a b")


def test_the_refusal_of_a_name_says_what_and_why_within_its_bounds() -> None:
    with pytest.raises(Refusal) as caught:
        agent_name("é" * 500)
    words = str(caught.value)
    assert words.count("\n") <= 2
    assert len(words) <= 300


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("a", "a", True),
        ("a", "a/b", True),
        ("a/b/c", "a", True),
        ("a/b", "a/c", False),
        ("a/b", "a/b2", False),
        ("a", "ab", False),
        ("a", "b", False),
        ("a/b/c", "a/d", False),
    ],
)
def test_family_is_oneself_and_the_line_above_and_below_but_no_sibling(
    a: str, b: str, expected: bool
) -> None:
    assert is_family(a, b) is expected
    assert is_family(b, a) is expected


@pytest.mark.parametrize("text", ["1", "build 7: retry", "~!", "x" * 200])
def test_printable_ascii_is_an_operation_id(text: str) -> None:
    assert operation_id(text) == text


@pytest.mark.parametrize("text", ["", "a\tb", "a\n", "é", "\x7f", "x" * 201])
def test_other_text_is_no_operation_id(text: str) -> None:
    with pytest.raises(Refusal):
        operation_id(text)


@pytest.mark.parametrize("text", ["ui", "area/auth", "v1.2_x-y", "0", "a" * 40])
def test_small_letters_and_digits_make_a_label(text: str) -> None:
    assert label_name(text) == text


@pytest.mark.parametrize("text", ["", "UI", "-x", "/x", "a b", "a,b", "ß", "a" * 41])
def test_other_text_is_no_label(text: str) -> None:
    with pytest.raises(Refusal):
        label_name(text)


@pytest.mark.parametrize("text", ["T-12", "t-12", "12", "#12"])
def test_a_task_has_one_way_to_be_written(text: str) -> None:
    assert task_id(text) == "T-12"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "T-",
        "#",
        "T12",
        "T-0",
        "0",
        "T-012",
        "-12",
        "#T-12",
        "T-#12",
        " 12",
        "12 ",
        "1.5",
        "١٢",
        "²",
        "9" * 16,
    ],
)
def test_other_text_is_no_task(text: str) -> None:
    with pytest.raises(Refusal):
        task_id(text)


@pytest.mark.parametrize("check", [agent_name, topic_name, operation_id, label_name, task_id])
def test_a_huge_text_is_refused_in_few_words(check: Callable[[str], str]) -> None:
    with pytest.raises(Refusal) as caught:
        check("x/" * 100_000)
    assert len(str(caught.value)) <= 300


def test_a_clone_tries_the_plain_name_then_a_short_then_its_whole_number() -> None:
    assert clone_suffixes("clone-3f2a91bc") == ("", "-3f2a", "-3f2a91bc")
