"""Trust as people and agents meet it: shown, recorded, asked for again when a letter changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.core.words.refusals import Refusal
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.trust import trust_of
from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo

SETTINGS = '[worktrees]\nsetup = ["npm ci"]\n[checks]\ngate = "make check"\n'


@pytest.fixture
def opened(repo: TemporaryRepo, line: CommandLine) -> Iterator[Repo]:
    """The repository as a process has it that read the settings before anything changes."""
    state(line, SETTINGS)
    found = open_repo(str(repo.path), repo.environment)
    yield found
    found.close()


def state(line: CommandLine, text: str) -> None:
    (line.place / "lineclear.toml").write_text(text)


def states(line: CommandLine) -> dict[str, str]:
    return {one["where"]: one["state"] for one in line.json("trust", "--show")["stated"]}


def record_of(line: CommandLine) -> Path:
    return line.place / ".git" / "lineclear" / "trusted"


def test_what_is_shown_is_recorded_and_then_known(line: CommandLine) -> None:
    state(line, SETTINGS)
    shown = line.ok("trust").out
    assert "new    worktrees.setup[0]  npm ci" in shown
    assert "All 2 are trusted now, 2 of them for the first time." in shown
    assert states(line) == {"worktrees.setup[0]": "known", "checks.gate": "known"}
    assert record_of(line).stat().st_mode & 0o777 == 0o600


def test_a_look_records_nothing(line: CommandLine) -> None:
    state(line, SETTINGS)
    assert "Nothing was recorded; 2 of 2 are not trusted." in line.ok("trust", "--show").out
    assert not record_of(line).exists()


def test_a_changed_command_is_asked_for_again_and_the_old_one_stays_known(line: CommandLine) -> None:
    state(line, SETTINGS)
    line.ok("trust")
    state(line, SETTINGS.replace("make check", "make  check"))
    assert states(line) == {"worktrees.setup[0]": "known", "checks.gate": "changed"}
    state(line, SETTINGS)
    assert set(states(line).values()) == {"known"}


def test_only_a_person_gives_and_takes_trust(line: CommandLine) -> None:
    state(line, SETTINGS)
    for words in (("trust",), ("trust", "--revoke")):
        assert line.refused(*words, "--as", "codex-1", code=4)["code"] == "person.only"
    assert not record_of(line).exists()
    assert line.json("trust", "--show", "--as", "codex-1")["fresh"] == 2


def test_trust_is_taken_back(line: CommandLine) -> None:
    state(line, SETTINGS)
    line.ok("trust")
    assert [one["where"] for one in line.json("trust", "--list")["trusted"]] == [
        "worktrees.setup[0]",
        "checks.gate",
    ]
    assert "2 records of trust are gone." in line.ok("trust", "--revoke").out
    assert set(states(line).values()) == {"new"}
    assert "Nothing is trusted here yet." in line.ok("trust", "--list").out


def test_what_is_no_longer_stated_is_listed_as_such(line: CommandLine) -> None:
    state(line, SETTINGS)
    line.ok("trust")
    state(line, "")
    assert "(no longer stated)" in line.ok("trust", "--list").out


def test_another_repository_is_named_by_its_path(line: CommandLine, tmp_path: Path) -> None:
    state(line, SETTINGS)
    elsewhere = line.at(tmp_path)
    assert elsewhere.json("trust", os.path.relpath(line.place, tmp_path))["recorded"] is True
    assert set(states(line).values()) == {"known"}
    assert elsewhere.refused("trust", "nowhere", code=5)["code"] == "repo.none"


def test_a_command_cannot_hide_letters_from_who_reads_it(line: CommandLine) -> None:
    state(line, '[checks]\ngate = "make\\u202e check"\n')
    assert line.refused("trust", code=2)["code"] == "settings.value"


def test_the_doctor_names_what_is_not_trusted(line: CommandLine, repo: TemporaryRepo) -> None:
    repo.commit("Settings", {"lineclear.toml": SETTINGS})
    assert "not trusted yet in lineclear.toml: worktrees.setup[0], checks.gate;" in line.ok("doctor").out
    line.ok("trust")
    assert "nothing in lineclear.toml needs trust (2 trusted)" in line.ok("doctor").out


def test_nothing_that_is_not_trusted_may_run(line: CommandLine, opened: Repo) -> None:
    with pytest.raises(Refusal) as caught:
        trust_of(opened).require(["worktrees"])
    assert (caught.value.code, caught.value.exit_code) == ("trust.missing", 4)
    assert caught.value.facts["where"] == ["worktrees.setup[0]"]
    trust_of(opened).require(["workers.codex"])
    line.ok("trust")
    trust_of(opened).require()


def test_what_is_recorded_is_what_was_shown_though_the_file_changed_meanwhile(
    line: CommandLine, opened: Repo
) -> None:
    seen = trust_of(opened).judged()
    state(line, '[checks]\ngate = "rm -rf ."\n')
    trust_of(opened).record(opened.caller(), seen)
    assert trust_of(opened).missing() == []
    assert states(line) == {"checks.gate": "changed"}


def test_a_branch_of_an_agent_does_not_change_what_is_asked_for(
    repo: TemporaryRepo, line: CommandLine
) -> None:
    linked = line.at(repo.add_worktree("feature"))
    state(linked, SETTINGS)
    assert linked.json("trust", "--show")["stated"] == []


def test_a_record_that_others_could_have_written_trusts_nothing(line: CommandLine) -> None:
    state(line, SETTINGS)
    line.ok("trust")
    record_of(line).chmod(0o666)
    assert set(states(line).values()) == {"new"}
