"""Rows of `git status`, replaced path by path."""

from __future__ import annotations

import pytest

from lineclear.git.status_rows import Rows, is_below, outermost

HEAD = b"# branch.oid 1\0# branch.head main\0"
MODIFIED = b"1 .M N... 100644 100644 100644 aa aa src/a b.py\0"
UNMERGED = b"u UU N... 100644 100644 100644 100644 aa bb cc src/c.py\0"
ALL = HEAD + MODIFIED + UNMERGED + b"? lib/x.py\0? z\0"


def test_what_git_said_is_said_again_in_its_order() -> None:
    assert Rows(ALL).output() == ALL
    assert Rows(ALL + b"! out/\0! a.log\0").output() == ALL
    assert Rows(ALL + b"! out/\0! a.log\0").ignored == {b"out"}


def test_a_row_that_nobody_asked_for_is_not_understood() -> None:
    with pytest.raises(ValueError, match="R100"):
        Rows(HEAD + b"2 R. N... 100644 100644 100644 aa aa R100 new\0old\0")


def test_a_place_is_replaced_with_all_that_is_below_it() -> None:
    rows = Rows(ALL)
    rows.replace({b"src", b"new"}, Rows(HEAD + b"? src\0? new/x\0"))
    assert rows.output() == HEAD + b"? lib/x.py\0? new/x\0? src\0? z\0"


def test_another_repository_is_replaced_by_its_name_without_the_slash() -> None:
    rows = Rows(HEAD + b"? inner/\0")
    rows.replace({b"inner"}, Rows(HEAD))
    assert rows.output() == HEAD


def test_what_is_said_of_head_is_the_newest() -> None:
    rows = Rows(ALL)
    rows.replace({b"z"}, Rows(HEAD.replace(b"oid 1", b"oid 2")))
    assert rows.head[0] == b"# branch.oid 2"


def test_below_is_by_whole_names() -> None:
    assert is_below(b"src/a", {b"src"})
    assert is_below(b"src", {b"src"})
    assert not is_below(b"src2/a", {b"src"})
    assert not is_below(b"src", {b"src/a"})
    assert not is_below(b"", {b"src"})


def test_the_outermost_of_some_paths() -> None:
    assert outermost({b"a/b", b"a/b/c", b"ab", b"d"}) == [b"a/b", b"ab", b"d"]
