"""The phase `integrate` on a real repository: what becomes of proposals, and that nothing happens twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.app import proposals
from lineclear.app.ports import Caller
from lineclear.app.tasks import show
from lineclear.core.queue.phases import INTEGRATE, PARALLEL
from lineclear.wiring.commit_gate import commit_gate_of
from lineclear.wiring.queue import landings_of
from lineclear.wiring.repo import open_repo
from tests.lock_files import LOCK, calls_in, lock, manifest, needed, pretend, project
from tests.phasing import LOG, Phased, open_phased
from tests.repository import TemporaryRepo
from tests.world import refused

EMAIL, PHONE = "ALTER TABLE users ADD email text;\n", "ALTER TABLE users ADD phone text;\n"


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Phased]:
    with open_phased(repo) as team:
        yield team


def results(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [one["result"] for one in answer["results"]]


def test_two_migrations_with_one_number_both_land_renumbered_in_their_authors_names(team: Phased) -> None:
    first = team.propose("ada", "migrations/0002_email.sql", EMAIL)
    second = team.propose("ben", "migrations/0002_phone.sql", PHONE)
    assert results(team.begin(INTEGRATE)) == ["queued", "queued"]
    assert team.migrations() == ["0001_users.sql"]
    team.run_queue()
    assert team.migrations() == ["0001_users.sql", "0002_email.sql", "0003_phone.sql"]
    assert team.file("migrations/0003_phone.sql") == PHONE
    assert [team.proposal(number).state for number in (first, second)] == ["accepted", "accepted"]
    log = team.git.git(
        "log", "--no-merges", "--format=%an %(trailers:only,unfold,separator=%x2C)", "-2", "main"
    )
    assert set(log.split("\n")) == {f"ada Agent: ada,Proposal: {first}", f"ben Agent: ben,Proposal: {second}"}
    assert "is on main as" in team.inbox("ben")[0]
    assert team.findings() == []


def test_a_migration_is_numbered_after_one_that_landed_since_it_was_proposed(team: Phased) -> None:
    team.propose("ada", "migrations/0002_email.sql", EMAIL)
    team.git.commit("By hand", {"migrations/0002_hand.sql": PHONE})
    team.begin(INTEGRATE)
    team.run_queue()
    assert team.migrations() == ["0001_users.sql", "0002_hand.sql", "0003_email.sql"]


def test_proposals_of_a_task_come_after_those_of_the_task_it_waits_for(team: Phased) -> None:
    early, late = team.task("Phones"), team.task("Users", after=["T-1"])
    team.propose("ada", "migrations/0002_late.sql", PHONE, task=late)
    team.propose("ben", "migrations/0002_early.sql", EMAIL, task=early)
    team.begin(INTEGRATE)
    team.run_queue()
    assert team.migrations() == ["0001_users.sql", "0002_early.sql", "0003_late.sql"]


def test_two_changelog_lines_are_both_kept(team: Phased) -> None:
    team.propose("ben", "CHANGELOG.md", LOG.replace("- first\n", "- first\n- by ben\n"))
    team.propose("cleo", "CHANGELOG.md", LOG.replace("- first\n", "- first\n- by cleo\n"))
    team.begin(INTEGRATE)
    team.run_queue()
    assert team.file("CHANGELOG.md") == LOG.replace("- first\n", "- first\n- by ben\n- by cleo\n")


def test_a_patch_and_a_removal_are_proposed_like_a_whole_file(team: Phased) -> None:
    patch = "--- a/CHANGELOG.md\n+++ b/CHANGELOG.md\n@@ -5,3 +5,4 @@\n - first\n+- patched\n \n ## 1.0\n"
    team.propose("ben", "CHANGELOG.md", patch=patch)
    team.propose("ben", "migrations/0001_users.sql", None)
    team.begin(INTEGRATE)
    team.run_queue()
    assert "- first\n- patched\n" in team.file("CHANGELOG.md")
    assert not (team.git.path / "migrations").exists()


@pytest.mark.parametrize(
    ("path", "text", "patch", "code"),
    [
        ("migrations/", "x", "", "proposal.not_a_file"),
        ("migrations/0009.sql", None, "", "proposal.nothing"),
        ("CHANGELOG.md", LOG, "", "proposal.nothing"),
        ("CHANGELOG.md", None, "no patch at all\n", "proposal.nothing"),
        ("CHANGELOG.md", None, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "proposal.nothing"),
        (
            "CHANGELOG.md",
            None,
            "--- a/CHANGELOG.md\n+++ b/CHANGELOG.md\n@@ -1 +1 @@\n-a\n+b\n",
            "proposal.nothing",
        ),
        ("CHANGELOG.md", None, "--- /dev/null\n+++ b/../out.txt\n@@ -0,0 +1 @@\n+b\n", "proposal.nothing"),
    ],
)
def test_what_is_no_change_of_one_file_on_main_is_refused(
    team: Phased, path: str, text: str | None, patch: str, code: str
) -> None:
    with refused(code):
        team.propose("ben", path, text, patch=patch)


def test_what_does_not_fit_goes_back_with_the_reason_and_its_task_with_it(team: Phased) -> None:
    task = team.task("Users", "ben")
    number = team.propose("ben", "migrations/0001_users.sql", "CREATE TABLE users (id text);\n", task=task)
    team.work("ben", {"b.txt": "b\n"})
    team.hand_over(task, "ben", "ben")
    team.git.commit("By hand", {"migrations/0001_users.sql": "CREATE TABLE users (id bigint);\n"})
    assert results(team.begin(INTEGRATE)) == ["rejected"]
    assert "it conflicts with the current main: migrations/0001_users.sql" in team.proposal(number).reason
    assert f"integrator has rejected proposal {number}" in team.inbox("ben")[0]
    assert (team.state(task), team.candidates()) == ("open", [])
    shown = team.repo.store.read(lambda view: show(view, task))
    assert f"its proposal {number} for file:migrations/0001_users.sql is rejected" in str(shown["notes"])


def test_what_main_has_already_is_accepted_without_a_candidate(team: Phased) -> None:
    number = team.propose("ben", "migrations/0002_email.sql", EMAIL)
    team.git.commit("By hand", {"migrations/0002_email.sql": EMAIL})
    assert results(team.begin(INTEGRATE)) == ["accepted"]
    assert (team.proposal(number).state, team.candidates()) == ("accepted", [])


def test_a_proposal_whose_check_fails_goes_back_and_the_others_land(repo: TemporaryRepo) -> None:
    with open_phased(repo, '[checks]\ngate = "sh check.sh"\n') as team:
        bad = team.propose("ada", "migrations/0002_bad.sql", "DROP TABLE users;\n")
        good = team.propose("ben", "migrations/0002_phone.sql", PHONE)
        team.begin(INTEGRATE)
        team.run_queue()
        assert team.migrations() == ["0001_users.sql", "0002_phone.sql"]
        assert (team.proposal(bad).state, team.proposal(good).state) == ("rejected", "accepted")
        assert "it fails the check" in team.proposal(bad).reason
        assert results(team.begin(INTEGRATE)) == []


def test_code_with_an_owner_is_left_to_it_in_one_task(team: Phased) -> None:
    first = team.propose("ben", "src/api.py", "def get():\n    return 2\n")
    second = team.propose("cleo", "src/api.py", "def get():\n    return 3\n")
    assert results(team.begin(INTEGRATE)) == ["left to its owner", "left to its owner"]
    assert results(team.begin(INTEGRATE)) == ["left to its owner", "left to its owner"]
    (task,) = team.tasks()
    assert (task.needs, task.labels) == ("ada", f"proposal-{first}\nproposal-{second}")
    assert f"`lineclear proposal show {second}` (by cleo)" in task.body
    proposals.accept(team.repo.store, team.repo.liveness, Caller("ada"), team.repo.settings.rules, first)
    assert results(team.begin(INTEGRATE)) == ["left to its owner"]


def test_a_lock_file_that_no_trusted_command_can_make_is_left_to_its_owner(repo: TemporaryRepo) -> None:
    rule = (
        '[[strategy]]\nmatch = "yarn.lock"\nstrategy = "single-writer"\nowner = "ada"\nphase = "integrate"\n'
    )
    lock = 'a@1:\n  version "1"\n'
    with open_phased(repo, rule, {"yarn.lock": lock}) as team:
        team.propose("ben", "yarn.lock", lock.replace('"1"', '"2"'))
        team.git.commit("By hand", {"yarn.lock": lock.replace('"1"', '"3"')})
        assert results(team.begin(INTEGRATE)) == ["left to its owner"]


def test_a_lock_file_is_made_anew_by_a_command_that_the_person_trusts(repo: TemporaryRepo) -> None:
    """`flake.lock` is remade by `nix flake lock`; here a program of that name does it."""
    rule = '[[strategy]]\nmatch = "flake.lock"\nstrategy = "isolated"\nphase = "integrate"\n'
    setup = '[worktrees]\nsetup = ["nix flake lock"]\n'
    tools = repo.path.parent / "tools"
    tools.mkdir()
    (tools / "nix").write_text("#!/bin/sh\n[ -f flake.lock ] && echo made anew > flake.lock\n")
    (tools / "nix").chmod(0o755)
    repo.environment["PATH"] = f"{tools}:{repo.environment['PATH']}"
    with open_phased(repo, setup + rule, {"flake.lock": "one\n"}) as team:
        team.propose("ben", "flake.lock", "two\n")
        team.git.commit("By hand", {"flake.lock": "three\n"})
        assert results(team.begin(INTEGRATE)) == ["queued"]
        team.run_queue()
        assert team.file("flake.lock") == "made anew\n"


# -- manifests ----------------------------------------------------------------------------------------

MANIFESTS = '[merge]\nregenerate = ["package-lock.json"]\n'
BOUND = '[[strategy]]\nmatch = "**/package.json"\nstrategy = "isolated"\nphase = "integrate"\n'
OWNED = '[[strategy]]\nmatch = "package-lock.json"\nstrategy = "single-writer"\nowner = "ada"\n'


def with_npm(repo: TemporaryRepo, work: str) -> Path:
    programs = repo.path.parent / "programs"
    repo.environment.update(pretend(programs, "npm", work))
    return programs


def writing(*names: str) -> str:
    """A package manager that writes a lock file with these packages."""
    return f"cat > {LOCK} <<'END'\n{lock(*names)}END"


def test_the_lock_file_of_a_proposed_manifest_is_made_anew_with_it(repo: TemporaryRepo) -> None:
    with_npm(repo, writing("anchor", "crane"))
    # The other lock file is no business of this manifest.
    files = project() | {"tools/package.json": "{}\n", f"tools/{LOCK}": "{}\n"}
    with open_phased(repo, MANIFESTS + BOUND, files) as team:
        team.propose("ben", "package.json", manifest("anchor", "crane"))
        (one,) = team.begin(INTEGRATE)["results"]
        assert (one["result"], one["why"]) == ("queued", f"{LOCK} was regenerated by npm 10.8")
        team.run_queue()
        assert needed(team.file(LOCK)) == {"anchor", "crane"}
        assert team.file(f"tools/{LOCK}") == "{}\n"
        told = team.git.git(
            "log", "--no-merges", "-1", "--format=%(trailers:key=Made-anew,valueonly)", "main"
        )
        assert told.strip() == f"{LOCK} by npm 10.8"
        assert team.findings() == []


def test_of_two_manifests_proposed_at_once_the_lock_file_fits_both(repo: TemporaryRepo) -> None:
    listing = 'names=$(sed -n \'s/^ *"\\([a-z]*\\)": "file:.*/\\1/p\' package.json)'
    write = "python3 -c 'import sys; sys.path.insert(0, sys.argv[1])\n"
    write += 'from tests.lock_files import lock; print(lock(*sys.argv[2:]), end="")\' '
    with_npm(repo, f"{listing}\n{write}'{Path(__file__).parents[2]}' $names > {LOCK}")
    with open_phased(repo, MANIFESTS + BOUND, project()) as team:
        team.propose("ada", "package.json", manifest("anchor", "crane"))
        team.propose("ben", "package.json", manifest("buoy", "crane"))
        assert results(team.begin(INTEGRATE)) == ["queued", "queued"]
        team.run_queue()
        assert needed(team.file("package-lock.json")) == {"anchor", "buoy", "crane"}
        assert team.findings() == []


@pytest.mark.parametrize(
    ("settings", "work", "why"),
    [
        (BOUND, writing("anchor", "crane"), ""),
        (MANIFESTS + BOUND, "exit 1", f"{LOCK} was not regenerated: npm failed with exit code 1"),
        (MANIFESTS + BOUND + OWNED, writing("anchor", "crane"), ""),
        (MANIFESTS + BOUND, "true", f"{LOCK} was not regenerated: npm 10.8 ran, but "),
    ],
    ids=["not asked for", "it fails", "the lock file is another's", "it does nothing"],
)
def test_a_manifest_lands_alone_where_its_lock_file_cannot_be_made(
    repo: TemporaryRepo, settings: str, work: str, why: str
) -> None:
    with_npm(repo, work)
    with open_phased(repo, settings, project()) as team:
        team.propose("ben", "package.json", manifest("anchor", "crane"))
        (one,) = team.begin(INTEGRATE)["results"]
        assert one["result"] == "queued"
        assert one["why"].startswith(why)
        assert bool(one["why"]) is bool(why)
        team.run_queue()
        assert team.file("package.json") == manifest("anchor", "crane").rstrip("\n") + "\n"
        assert needed(team.file(LOCK)) == {"crane"}


def test_a_manifest_that_changes_no_package_tells_of_no_lock_file(repo: TemporaryRepo) -> None:
    programs = with_npm(repo, writing("crane"))
    with open_phased(repo, MANIFESTS + BOUND, project()) as team:
        team.propose("ben", "package.json", manifest("crane").replace("1.0.0", "1.0.1"))
        (one,) = team.begin(INTEGRATE)["results"]
        assert (one["result"], one["why"], calls_in(programs)) == ("queued", "", 1)


def test_a_second_call_finds_everything_done(team: Phased) -> None:
    team.propose("ada", "migrations/0002_email.sql", EMAIL)
    team.begin(INTEGRATE)
    tips = [row.tip for row in team.candidates()]
    assert results(team.begin(INTEGRATE)) == ["queued"]
    assert [row.tip for row in team.candidates()] == tips
    team.run_queue()
    assert results(team.begin(INTEGRATE)) == []
    assert team.begin(PARALLEL)["phase"] == PARALLEL


def test_what_was_integrated_lands_also_when_everybody_works_in_parallel_again(team: Phased) -> None:
    team.propose("ada", "migrations/0002_email.sql", EMAIL)
    team.begin(INTEGRATE)
    team.begin(PARALLEL)
    team.run_queue()
    assert team.migrations() == ["0001_users.sql", "0002_email.sql"]


# -- who may write --------------------------------------------------------------------------------


def test_the_commit_gate_and_the_landing_gate_refuse_what_is_bound(team: Phased) -> None:
    place = team.git.add_worktree("ben")
    (place / "migrations/0002_ben.sql").write_text(PHONE)
    team.git.git("add", "-A", at=place)
    repo = open_repo(str(place), team.git.environment)
    try:
        (found,) = commit_gate_of(repo).judge_commit(Caller("ben", tree="ben"))
    finally:
        repo.close()
    assert (found.path, found.kind) == ("migrations/0002_ben.sql", "write.phase")
    assert found.refusal.next == "lineclear propose file:migrations/0002_ben.sql --file PATH"
    assert [one.kind for one in commit_gate_of(team.repo).judge_landing("ben", [found.path])] == [
        "write.phase"
    ]
    assert commit_gate_of(team.repo).judge_landing("integrator", [found.path]) == []
    assert commit_gate_of(team.repo).judge_landing("ben", ["src/other.py"]) == []


def test_an_agents_branch_with_a_migration_on_it_goes_back_and_says_what_to_do(team: Phased) -> None:
    team.work("ben", {"migrations/0002_ben.sql": PHONE})
    landings_of(team.repo).submit(Caller("ben", tree="ben"), branch="ben", agent="ben")
    team.run_queue()
    (row,) = team.candidates()
    assert (row.state, row.kind) == ("sent back", "gate")
    assert team.migrations() == ["0001_users.sql"]


def test_the_owner_lands_in_integrate_what_goes_back_in_parallel(team: Phased) -> None:
    team.work("ada", {"src/api.py": "def get():\n    return 2\n"})
    landings_of(team.repo).submit(Caller("ada", tree="ada"), branch="ada", agent="ada")
    team.run_queue()
    team.begin(INTEGRATE)
    landings_of(team.repo).submit(Caller("ada", tree="ada"), branch="ada", agent="ada")
    team.run_queue()
    assert [row.state for row in team.candidates()] == ["sent back", "landed"]
    assert team.file("src/api.py") == "def get():\n    return 2\n"
