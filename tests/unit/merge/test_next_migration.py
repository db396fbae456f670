"""The next migration's name, in the manner of each tool."""

from __future__ import annotations

import pytest

from lineclear.merge.next_migration import next_migration

NOW = "20261116120000"
DJANGO = "from django.db import migrations\nclass Migration(migrations.Migration):\n    dependencies = []\n"


def alembic(own: str, parent: str) -> str:
    written = f'"{parent}"' if parent else "None"
    return f'revision = "{own}"\ndown_revision = {written}\n'


@pytest.mark.parametrize(
    ("names", "start", "end"),
    [
        ([], "0001_", ".sql"),
        (["notes.md"], "0001_", ".sql"),
        (["0001_users.sql", "0002_email.sql"], "0003_", ".sql"),
        (["1_users.sql", "9_email.sql"], "10_", ".sql"),
        (["V1__users.sql", "V2__email.sql"], "V3__", ".sql"),
        (["000001_users.up.sql", "000001_users.down.sql"], "000002_", ".up.sql"),
        (["20250101120000_users.rb"], f"{NOW}_", ".rb"),
        (["20990101120000_users.rb"], "20990101120001_", ".rb"),
        (["20250101120000_init"], f"{NOW}_", ""),
        (["001-users.js", "003-email.js"], "004-", ".js"),
    ],
)
def test_a_name_goes_on_where_the_folder_is(names: list[str], start: str, end: str) -> None:
    found = next_migration(dict.fromkeys(names, ""), NOW)
    assert (found.start, found.end) == (start, end)


def test_django_is_told_what_it_follows() -> None:
    found = next_migration({"0001_initial.py": DJANGO, "0002_email.py": DJANGO}, NOW)
    assert (found.start, found.end, found.parent) == ("0003_", ".py", "0002_email")


def test_alembic_needs_no_number_but_a_parent() -> None:
    chain = {"a.py": alembic("a1", ""), "b.py": alembic("b2", "a1")}
    assert next_migration(chain, NOW).parent == "b2"
    assert next_migration({**chain, "c.py": alembic("c3", "a1")}, NOW).parent == ""


def test_a_number_that_is_held_is_passed_over() -> None:
    assert next_migration({"0001_a.sql": ""}, NOW, least=7).start == "0007_"
    assert next_migration({}, NOW, least=2).start == "0002_"
