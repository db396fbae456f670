"""The rules that need no guess: the same edit and more, versions, names in a list of authors."""

from __future__ import annotations

import pytest

from lineclear.merge.diff import Steps
from lineclear.merge.exact import (
    is_renamed_under,
    line_by_line,
    named_by_both,
    one_holds_the_other,
    one_holds_the_others_words,
)


def steps() -> Steps:
    return Steps(100_000)


@pytest.mark.parametrize(
    ("base", "near", "far"),
    [
        ("make(first, last)", "make(first, mid, last)", "make(first, mid, inner, last)"),
        ("if ready && old {", "if ready {", "if (ready || late) {"),
        ("x = f(a)", "x = load(a)", "x = load(trim(a))"),
        ("run()", "deps = New(cloud, log)\nrun(deps)", "deps = New(cloud, log, node)\nrun(deps)"),
        ("sinks = []", 'sinks = ["one"]', 'sinks = ["one", "two"]'),
    ],
)
def test_the_side_that_went_on_is_taken(base: str, near: str, far: str) -> None:
    assert one_holds_the_others_words(base, near, far, steps()) == far
    assert one_holds_the_others_words(base, far, near, steps()) == far


@pytest.mark.parametrize(
    ("base", "left", "right"),
    [
        ("a()", "x.b(); a()", "x.c(); y.b(); a()"),
        ("tool 1.2.3", "tool 1.3.3", "tool 1.3.0 now"),
        ("keep old", "keep", "keep old and old"),
        ("f(a)", "f((a))", "f(((a)))"),
        ("add(ctx.shelf)", "add(ctx, ctx.shelf)", "add(ctx.seller, ctx.shelf)"),
        ('ends = ["ss"] # "scm",', 'ends = ["ss", "scm"]', 'ends = ["ss", "scm"] # "scm",'),
    ],
    ids=[
        "another call",
        "half a version",
        "what one dropped",
        "only signs",
        "arguments that begin alike",
        "a comment",
    ],
)
def test_words_that_only_look_contained_are_not(base: str, left: str, right: str) -> None:
    assert one_holds_the_others_words(base, left, right, steps()) is None
    assert one_holds_the_others_words(base, right, left, steps()) is None


def test_a_replacement_inside_a_longer_replacement_is_the_same_edit() -> None:
    assert (
        one_holds_the_other("old line\n", "new line\n", "# why\nnew line\n", steps()) == "# why\nnew line\n"
    )
    assert one_holds_the_other("old line\n", "}\n", "x {\n}\n", steps()) is None


def test_what_one_side_dropped_is_not_more_on_the_other_however_the_lines_are_wrapped() -> None:
    base, near = "till(rate, log, words)\n", "till(\n  rate,\n  new_log)\n"
    far = "till(\n  rate,\n  words,\n  new_log)\n"
    assert one_holds_the_other(base, near, far, steps()) is None
    new = far.replace("words", "clock")
    assert one_holds_the_other(base, near, new, steps()) == new


def test_of_two_snapshots_the_higher_is_taken_and_a_release_is_not_compared_with_one() -> None:
    base = "<version>3.2.14-SNAPSHOT</version>\n"
    higher, lower = base.replace("3.2.14", "3.3.0-beta.4"), base.replace("3.2.14", "3.2.15")
    assert line_by_line(base, lower, higher) == ("version", higher)
    assert line_by_line(base, lower, "<version>3.3.0</version>\n") is None


def test_two_new_authors_stand_below_each_other() -> None:
    assert named_by_both("", " * @author A B\n", " * @author C D\n") == " * @author A B\n * @author C D\n"
    assert named_by_both("", " * @author A B\n", " * @since 3\n") is None
    assert named_by_both(" * @author X\n", " * @author A\n", " * @author B\n") is None


def test_a_name_changed_throughout_and_used_anew_by_the_other_side() -> None:
    base = "start(package)\nstop(package)\n"
    left = base.replace("package", "tag")
    assert is_renamed_under(base, left, base + "log(package)\n", steps())
    assert not is_renamed_under(base, left, base + "log(other)\n", steps())
    assert not is_renamed_under(base, base.replace("package", "tag", 1), base + "log(package)\n", steps())
