"""Refusals about migrations. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import NOT_FOUND, Refusal, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_FACTS = 50


def which_folder(folders: Sequence[str]) -> Refusal:
    """None has migrations, or several have."""
    several = f"Migrations are in {shorten(', '.join(folders), 120)}." if folders else ""
    return Refusal(
        "migration.folder",
        several or "No folder on main has migrations yet.",
        who="Name the folder that the next one belongs to.",
        next_="lineclear migration next FOLDER",
        exit_code=NOT_FOUND,
        folders=[shorten(folder, 200) for folder in folders[:_MOST_FACTS]],
    )
