"""The line merge and its markers."""

from __future__ import annotations

from lineclear.merge import Labels
from lineclear.merge.lines import name_markers


def test_gits_markers_get_the_names_of_the_sides_and_nothing_else_changes() -> None:
    one, other = "a" * 40, "b" * 40
    known = f"<<<<<<< {one} of a text about markers\n"
    text = f"{known}<<<<<<< {one}:old.py\r\nx\r\n||||||| {other}\n=======\ny\n>>>>>>> {other}\n>>>>>>> me\n"
    wanted = f"{known}<<<<<<< main\r\nx\r\n||||||| base\n=======\ny\n>>>>>>> work\n>>>>>>> me\n"
    assert name_markers(text, known + "x", "y", Labels("main", "base", "work")) == wanted
