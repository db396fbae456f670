"""Commit objects as they are found: also old ones, and those of programs that are not git."""

from __future__ import annotations

import pytest

from lineclear.git.commits import parse_head
from lineclear.git.objects import format_commit

TREE, ONE, TWO = "a" * 40, "b" * 40, "c" * 40


def head(author: bytes, more: bytes = b"", committer: bytes = b"X <x@x> 7 +0200") -> bytes:
    return b"tree %s\nauthor %s\ncommitter %s\n%s\nparent words" % (TREE.encode(), author, committer, more)


def test_a_commit_is_read_as_it_was_written() -> None:
    data = format_commit(
        TREE,
        [ONE, TWO],
        "tree of life\n\nparent x\n",
        author="A B <a@x> 5 +0100",
        committer="C <c@x> 6 +0000",
    )
    found = parse_head(data)
    assert (found.tree, found.parents, found.at_s) == (TREE, [ONE, TWO], 6)
    assert (found.author.name, found.author.email, found.author.date) == ("A B", "a@x", "5 +0100")


@pytest.mark.parametrize(
    ("line", "who"),
    [
        (b"A <a@x> 5 +0000", ("A", "a@x", "5 +0000")),
        (b"<a@x> 5 +0000", ("", "a@x", "5 +0000")),
        (b"A <> 5 +0000", ("A", "", "5 +0000")),
        (b"A <a@x>", ("A", "a@x", "")),
        (b"A <a@x> soon", ("A", "a@x", "")),
        (b"A <a@x> -5 +0000", ("A", "a@x", "")),
        (b"J\xc3\xb6rg <j@x> 5 +0000", ("J\xf6rg", "j@x", "5 +0000")),
        (b"J\xf6rg <j@x> 5 +0000", ("J\udcf6rg", "j@x", "5 +0000")),
        (b"nobody at all", ("", "", "")),
    ],
)
def test_authors_are_read_as_far_as_they_can_be(line: bytes, who: tuple[str, str, str]) -> None:
    author = parse_head(head(line)).author
    assert (author.name, author.email, author.date) == who


def test_an_author_in_another_encoding_is_read_in_it() -> None:
    assert parse_head(head(b"J\xf6rg <j@x> 5 +0000", b"encoding ISO-8859-1\n")).author.name == "J\xf6rg"
    assert parse_head(head(b"J\xf6rg <j@x> 5 +0000", b"encoding none-such\n")).author.name == "J\udcf6rg"


def test_a_signature_is_no_header() -> None:
    signed = head(b"A <a@x> 5 +0000", b"gpgsig -----BEGIN\n tree x\n author y\n parent z\n -----END\n")
    found = parse_head(signed)
    assert (found.tree, found.parents, found.author.name) == (TREE, [], "A")


def test_a_date_that_is_none_is_the_beginning_of_time() -> None:
    assert parse_head(head(b"A <a@x> 5 +0000", committer=b"X <x@x>")).at_s == 0
