"""The words of the refusals about migrations, exactly, and how long they may become."""

from __future__ import annotations

from lineclear.core.refusals_migrations import which_folder


def test_no_folder_and_several() -> None:
    assert str(which_folder([])) == (
        "No folder on main has migrations yet.\nName the folder that the next one belongs to.\n"
        "Next: run `lineclear migration next FOLDER`."
    )
    several = which_folder(["a/migrations", "b/migrations"])
    assert (several.code, several.exit_code) == ("migration.folder", 5)
    assert str(several).startswith("Migrations are in a/migrations, b/migrations.\n")


def test_hostile_input_does_not_make_a_long_refusal() -> None:
    text = str(which_folder(["x" * 5_000] * 500))
    assert len(text) <= 300
    assert len(text.splitlines()) <= 3
