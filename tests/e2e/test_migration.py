"""`migration next`: two agents never write one number, and nobody waits for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo


def path_for(line: CommandLine, agent: str, *words: str) -> str:
    return str(line.json("migration", "next", *words, "--as", agent)["path"])


def test_two_agents_get_two_numbers_and_a_repeat_gives_the_same(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    repo.commit("First", {"db/migrations/0001_users.sql": "create table users;\n"})
    assert path_for(line, "ada", "--name", "email") == "db/migrations/0002_email.sql"
    assert path_for(line, "ben", "--name", "phone") == "db/migrations/0003_phone.sql"
    assert path_for(line, "ada", "--name", "email") == "db/migrations/0002_email.sql"
    assert line.holders("db/migrations/0002_email.sql") == ["ada"]


def test_what_stands_in_another_worktree_counts_though_it_is_not_committed(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    repo.commit("First", {"migrations/0001_users.sql": "create table users;\n"})
    tree = repo.add_worktree("topic")
    (tree / "migrations" / "0002_email.sql").write_text("alter table users;\n")
    assert path_for(line, "ben", "--name", "phone") == "migrations/0003_phone.sql"


def test_eight_at_once_get_eight_numbers(line: CommandLine, repo: TemporaryRepo) -> None:
    repo.commit("First", {"migrations/0001_users.sql": "create table users;\n"})
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda number: path_for(line, f"agent-{number}"), range(8)))
    assert sorted(paths) == [f"migrations/{number:04d}_change.sql" for number in range(2, 10)]


def test_the_folder_must_be_plain(line: CommandLine, repo: TemporaryRepo) -> None:
    assert line.refused("migration", "next", code=5)["code"] == "migration.folder"
    assert path_for(line, "ada", "db/migrations") == "db/migrations/0001_change.sql"
    repo.commit("Two", {"a/migrations/0001_x.sql": "\n", "b/migrations/0001_y.sql": "\n"})
    error = line.refused("migration", "next", code=5)
    assert error["folders"] == ["a/migrations", "b/migrations"]
    assert line.refused("migration", "next", "../out", code=4)["code"]
    assert line.refused("migration", "next", "a/migrations", "--name", "x/../y", code=2)["code"]


def test_the_kinds_of_tools(line: CommandLine, repo: TemporaryRepo) -> None:
    django = "class Migration(migrations.Migration):\n    dependencies = []\n"
    revision = 'revision = "a1b2"\ndown_revision = None\n'
    repo.commit(
        "All",
        {
            "shop/migrations/0001_initial.py": django,
            "alembic/versions/a1b2_first.py": revision,
            "prisma/migrations/20200101000000_init/migration.sql": "\n",
        },
    )
    found = line.json("migration", "next", "shop/migrations", "--name", "email", "--as", "ada")
    assert (found["path"], found["parent"]) == ("shop/migrations/0002_email.py", "0001_initial")
    assert "alembic revision`, after a1b2" in line.ok("migration", "next", "alembic/versions").out
    found = line.json("migration", "next", "prisma/migrations", "--name", "email", "--as", "ada")
    assert found["how"] == "time"
    assert found["path"].endswith("_email")
