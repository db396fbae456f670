"""`lineclear phase` as it is typed: agents propose, a person begins, the queue lands, tests send back."""

from __future__ import annotations

import subprocess

import pytest

from tests.e2e.commandline import CommandLine
from tests.e2e.test_hook_verb import edit
from tests.repository import TemporaryRepo

CHECK = "if grep -l DROP migrations/*.sql; then exit 1; fi\n"
TOML = """\
[checks]
full = "sh check.sh"
shards = 2

[[strategy]]
match = "migrations/"
strategy = "isolated"
phase = "integrate"
"""
EMAIL, PHONE = "ALTER TABLE users ADD email text;\n", "ALTER TABLE users ADD phone text;\nDROP TABLE users;\n"


@pytest.fixture
def shop(line: CommandLine, repo: TemporaryRepo) -> CommandLine:
    repo.commit("Shop", {"lineclear.toml": TOML, "check.sh": CHECK, "migrations/0001_users.sql": "CREATE;\n"})
    line.ok("trust")
    return line


def propose(line: CommandLine, agent: str, path: str, text: str) -> int:
    answer = line.run("propose", path, "--file", "-", "--as", agent, "--json", stdin=text)
    assert answer.code == 0, answer
    number: int = answer.data["proposal"]["id"]
    return number


def migrations(repo: TemporaryRepo) -> list[str]:
    return sorted(path.name for path in (repo.path / "migrations").iterdir())


def test_two_migrations_land_renumbered_and_a_red_test_sends_the_right_one_back(
    shop: CommandLine, repo: TemporaryRepo
) -> None:
    first = propose(shop, "ada", "migrations/0002_email.sql", EMAIL)
    second = propose(shop, "ben", "migrations/0002_phone.sql", PHONE)
    begun = shop.ok("phase", "integrate", "--note", "Friday").out
    assert f"proposal {first} for file:migrations/0002_email.sql: is queued as Q-1\n" in begun
    assert begun.endswith("Next: run `lineclear queue run --once`.\n")
    shop.ok("queue", "run", "--once")
    assert migrations(repo) == ["0001_users.sql", "0002_email.sql", "0003_phone.sql"]
    shown = shop.ok("phase").out
    assert "started by" in shown
    assert ": Friday." in shown
    assert "proposals: 2 accepted, 0 rejected, 0 in the queue, 0 undecided\n" in shown
    assert shown.endswith("Next: run `lineclear phase test`.\n")

    red = shop.run("phase", "test")
    assert red.code == 6, red
    assert f"broke it: proposal {second} of ben. T-1 asks for a fixed version.\n" in red.out
    assert "sh check.sh [1/2] failed on" in red.err
    assert "T-1 has the details" in shop.ok("inbox", "--as", "ben").out
    assert "migrations/0003_phone.sql" in shop.ok("task", "show", "T-1").out
    shop.ok("queue", "run", "--once")
    assert migrations(repo) == ["0001_users.sql", "0002_email.sql"]
    assert repo.git("status", "--porcelain") == ""

    green = shop.ok("phase", "test").out
    assert green.endswith("Next: run `lineclear phase parallel`.\n")
    assert "tests: 2 of 2 parts passed" in shop.ok("phase").out
    assert shop.ok("phase", "parallel").out == "The phase is now parallel.\n"
    assert shop.json("audit")["findings"] == []


def test_an_agent_is_refused_by_the_hook_and_by_git_and_told_to_propose(
    shop: CommandLine, repo: TemporaryRepo
) -> None:
    shop.ok("setup", "git")
    file = repo.path / "migrations/0001_users.sql"
    way_out = "lineclear propose file:migrations/0001_users.sql --file PATH"
    assert way_out in edit(shop, file)
    assert edit(shop, repo.path / "check.sh") == ""
    file.write_text("CREATE TABLE;\n")
    assert way_out in commit(shop, {"LINECLEAR_AGENT": "ada"}, code=1)
    shop.ok("phase", "integrate")
    assert "while it is being integrated" in edit(shop, file)
    assert "is being integrated" in commit(shop, {"LINECLEAR_AGENT": "ada"}, code=1)
    commit(shop, {}, code=0)


def commit(line: CommandLine, env: dict[str, str], code: int) -> str:
    """A commit of what is changed; what git said."""
    done = subprocess.run(
        ["git", "commit", "-qam", "Work"],
        cwd=line.place,
        env={**line.environment, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stderr


def test_only_a_person_begins_a_phase(shop: CommandLine) -> None:
    error = shop.refused("phase", "integrate", "--as", "ada", code=4)
    assert error["code"] == "person.only"
    assert shop.json("phase", "--as", "ada")["phase"] == "parallel"


def test_status_names_the_phase_unless_it_is_parallel(shop: CommandLine) -> None:
    assert "The phase is" not in shop.ok("status").out
    shop.ok("phase", "integrate")
    assert "The phase is integrate, since " in shop.ok("status").out
    assert shop.json("status")["phase"]["phase"] == "integrate"


def test_a_phase_as_data(shop: CommandLine) -> None:
    number = propose(shop, "ada", "migrations/0002_email.sql", EMAIL)
    assert shop.json("phase") == {
        "phase": "parallel",
        "since": "",
        "by": "",
        "note": "",
        "bound": [{"resource": "file:migrations/", "phase": "integrate", "owner": "", "proposals": [number]}],
        "progress": {},
    }
    answer = shop.json("phase", "integrate")
    assert [(one["proposal"], one["result"], one["candidate"]) for one in answer["results"]] == [
        (number, "queued", "Q-1")
    ]
    assert shop.refused("phase", "test", code=3)["next"] == "lineclear queue run --once"


def test_a_file_is_proposed_whole_as_a_patch_or_away(shop: CommandLine, repo: TemporaryRepo) -> None:
    shop.ok("task", "add", "Emails")
    shop.ok("task", "next", "--as", "ada")
    new = repo.path.parent / "new.sql"
    new.write_text(EMAIL)
    words = shop.ok("propose", "migrations/0002_email.sql", "--file", str(new), "--as", "ada").out
    assert words.endswith("It will be integrated when a person starts the integrate phase.\n")
    patch = (
        "--- a/migrations/0001_users.sql\n+++ b/migrations/0001_users.sql\n@@ -1 +1 @@\n-CREATE;\n+CREATED;\n"
    )
    shop.ok("propose", "migrations/0001_users.sql", "--patch", "-", "--as", "ben", stdin=patch)
    shop.ok("propose", "migrations/0001_users.sql", "--remove", "--as", "cleo")
    shop.ok("propose", "migrations/0001_users.sql", "--text", "", "--as", "dora")
    numbers = [found["id"] for found in shop.json("proposal", "list")["proposals"]]
    told = [shop.ok("proposal", "show", str(number)).out for number in numbers]
    assert "new file (made from main at" in told[0]
    assert ", for T-1):\n> ALTER TABLE users ADD email text;\n" in told[0]
    assert "new content (made from main at" in told[1]
    assert "> CREATED;\n" in told[1]
    assert "the file is removed (made from main at" in told[2]
    assert "new content (made from main at" in told[3]
    rows = shop.ok("proposal", "list").out.splitlines()[1:]
    whats = ["new file", "new content", "the file is removed", "new content"]
    assert [what in row for row, what in zip(rows, whats, strict=True)] == [True] * 4


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 2),
        (["1", "--remove"], 2),
        (["--file", "a", "--patch", "b"], 2),
        (["--file", "nowhere.sql"], 5),
    ],
)
def test_one_way_to_propose_at_a_time(shop: CommandLine, words: list[str], code: int) -> None:
    error = shop.refused("propose", "migrations/0002.sql", *words, code=code)
    assert error["next"] == "lineclear propose --help"


def test_what_is_proposed_during_integration_waits_for_the_next_time(shop: CommandLine) -> None:
    shop.ok("phase", "integrate")
    answer = shop.run("propose", "migrations/0002_email.sql", "--file", "-", "--as", "ada", stdin=EMAIL)
    assert answer.out.endswith("It will be integrated the next time a person starts the integrate phase.\n")
    assert shop.json("phase", "integrate")["results"] == []


def test_who_and_the_conventions_tell_of_it(shop: CommandLine, repo: TemporaryRepo) -> None:
    assert "isolated, only in the integrate phase" in shop.ok("who", "migrations/0002.sql").out
    shop.ok("setup", "conventions")
    text = (repo.path / "AGENTS.md").read_text()
    assert "- Written only in the integrate phase" in text
    assert "`lineclear propose PATH --file NEWFILE`: `migrations/`." in text
    assert "isolated, phase integrate" in shop.ok("config", "show").out


def test_everything_is_told_on_one_line_of_json(shop: CommandLine) -> None:
    propose(shop, "ada", "migrations/0002_email.sql", EMAIL)
    shop.ok("phase", "integrate")
    shop.ok("queue", "run", "--once")
    answer = shop.run("phase", "test", "--json")
    assert (answer.code, answer.out.count("\n")) == (0, 1)
    assert answer.data["test"]["result"] == "green"
