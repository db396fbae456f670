"""Lock files made anew by real package managers: through the queue, by a sync, by merge-tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from pwd import getpwuid

import pytest

from tests.e2e.commandline import CommandLine
from tests.lock_files import LOCK, accepts, adding, needed, project
from tests.repository import TemporaryRepo

ALLOWED = '[merge]\nregenerate = ["package-lock.json", "Cargo.lock"]\n'
NO_NPM, NO_CARGO = shutil.which("npm") is None, shutil.which("cargo") is None


needs_npm = pytest.mark.skipif(NO_NPM, reason="npm is not installed")


def two_branches(line: CommandLine, repo: TemporaryRepo, settings: str = ALLOWED) -> list[CommandLine]:
    """anchor's and buoy's own terminals; each has added the package that it is named after."""
    repo.commit("Base", project() | ({"lineclear.toml": settings} if settings else {}))
    found = []
    for name in ("anchor", "buoy"):
        place = repo.add_worktree(name)
        repo.commit(f"Add {name}", adding(name), at=place)
        found.append(line.at(place))
    return found


@pytest.mark.slow
@needs_npm
def test_two_branches_that_each_add_a_package_both_land(line: CommandLine, repo: TemporaryRepo) -> None:
    anchor, buoy = two_branches(line, repo)
    line.ok("trust")
    anchor.ok("land")
    said = buoy.ok("land").out
    assert "regenerated: package-lock.json by npm " in said
    assert needed((repo.path / LOCK).read_text()) == {"anchor", "buoy", "crane"}
    assert accepts(repo, repo.path) == ["anchor", "buoy", "crane"]
    assert repo.git("log", "-1", "--format=%(trailers:key=Made-anew,valueonly)").startswith(f"{LOCK} by npm ")
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""
    assert not list(repo.path.rglob("ran"))


@pytest.mark.slow
@needs_npm
def test_a_package_is_taken_back_from_under_another(line: CommandLine, repo: TemporaryRepo) -> None:
    anchor, buoy = two_branches(line, repo)
    line.ok("trust")
    anchor.ok("land")
    buoy.ok("land")
    line.ok("undo", "1")
    assert needed((repo.path / LOCK).read_text()) == {"buoy", "crane"}
    assert accepts(repo, repo.path) == ["buoy", "crane"]
    trailers = repo.git("log", "-1", "--format=%(trailers:only,unfold)").splitlines()
    assert [line.partition(":")[0] for line in trailers if line] == ["Reverts", "Made-anew"]
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""


@pytest.mark.slow
@needs_npm
def test_a_stack_of_both_is_made_before_either_lands(line: CommandLine, repo: TemporaryRepo) -> None:
    anchor, buoy = two_branches(line, repo, ALLOWED + '[checks]\ngate = "true"\n')
    line.ok("trust")
    line.ok("queue", "pause")
    for one in (anchor, buoy):
        one.run("land", "--no-wait")
    line.ok("queue", "resume")
    line.ok("queue", "run", "--once")
    assert [row["state"] for row in line.json("queue", "list", "--all")["ended"]] == ["landed", "landed"]
    assert accepts(repo, repo.path) == ["anchor", "buoy", "crane"]


def test_without_the_setting_it_is_the_conflict_that_names_the_command(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    anchor, buoy = two_branches(line, repo, "")
    anchor.ok("land")
    before = repo.git("rev-parse", "main")
    answer = buoy.run("land")
    assert answer.code == 6
    assert f"{LOCK}" in answer.out
    assert "regenerated" not in answer.out
    assert repo.git("rev-parse", "main") == before
    explained = line.run("merge-tree", "main~1", "main", "buoy", "--explain").out
    assert "then run `npm install --package-lock-only`" in explained


def test_what_is_not_trusted_is_not_run_and_the_way_to_trust_is_told(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    anchor, buoy = two_branches(line, repo)
    anchor.ok("land")
    answer = buoy.run("land")
    assert answer.code == 6
    assert "merge.regenerate[0] in lineclear.toml is not trusted; run `lineclear trust`" in answer.out
    assert "npm install --package-lock-only" in answer.out


def test_the_doctor_names_the_patterns_that_allow_nothing(line: CommandLine, repo: TemporaryRepo) -> None:
    repo.commit("Base", {LOCK: "{}\n", "web/page.js": "", "docs/uv.lock": ""})
    patterns = ["package-lock.json", "go.sum", "web/", "*.lock", "docs/*", "./uv.lock"]
    repo.commit("Settings", {"lineclear.toml": f"[merge]\nregenerate = {patterns}\n"})
    (repo.path / "docs" / "nested").mkdir()
    told = [
        found["text"]
        for found in line.at(repo.path / "docs" / "nested").json("doctor")["checks"]
        if found["what"] == "settings" and found["state"] == "note"
    ]
    assert told == [
        'merge.regenerate[1] (lineclear.toml) is "go.sum", and no lock file that can be regenerated matches; '
        "correct or remove it",
        'merge.regenerate[2] (lineclear.toml) is "web/", and git tracks no matching lock file; '
        "correct or remove it",
        'merge.regenerate[5] (lineclear.toml) is "./uv.lock", and git tracks no matching lock file; '
        "correct or remove it",
    ]


def test_a_candidate_cannot_allow_it_for_itself(line: CommandLine, repo: TemporaryRepo) -> None:
    anchor, buoy = two_branches(line, repo, "")
    repo.commit("Allow", {"lineclear.toml": ALLOWED}, at=buoy.place)
    buoy.ok("trust")
    anchor.ok("land")
    answer = buoy.run("land")
    assert answer.code == 6
    assert "regenerated" not in answer.out


@pytest.mark.slow
@needs_npm
def test_what_a_clone_allows_by_itself_needs_no_trust(line: CommandLine, repo: TemporaryRepo) -> None:
    anchor, buoy = two_branches(line, repo, "")
    (repo.path / ".git/lineclear/local.toml").write_text(ALLOWED)
    anchor.ok("land")
    assert "by npm " in buoy.ok("land", "--dry-run").out
    answers = repo.path / ".git/lineclear/locks"
    (kept,) = answers.iterdir()
    asked_at = kept.stat().st_mtime_ns
    assert "by npm " in buoy.ok("land").out
    assert [answer.stat().st_mtime_ns for answer in answers.iterdir()] == [asked_at]


@pytest.mark.slow
@needs_npm
def test_a_sync_makes_it_anew_as_the_landing_will(line: CommandLine, repo: TemporaryRepo) -> None:
    anchor, buoy = two_branches(line, repo)
    line.ok("trust")
    anchor.ok("land")
    assert "package-lock.json was regenerated by npm " in buoy.ok("sync").out
    assert needed((buoy.place / LOCK).read_text()) == {"anchor", "buoy", "crane"}
    assert repo.git("status", "--porcelain", "--untracked-files=all", at=buoy.place) == ""
    synced = repo.git("rev-parse", "buoy^{tree}")
    buoy.ok("land")
    assert repo.git("rev-parse", "main^{tree}") == synced


@pytest.mark.slow
@needs_npm
def test_whoever_asks_merge_tree_for_it_allows_it(line: CommandLine, repo: TemporaryRepo) -> None:
    two_branches(line, repo, "")
    assert line.run("merge-tree", "main", "anchor", "buoy").code == 1
    answer = line.ok("merge-tree", "main", "anchor", "buoy", "--regenerate", "--explain")
    assert "made anew by npm " in answer.out
    assert "then run" not in answer.out
    data = line.json("merge-tree", "main", "anchor", "buoy", "--regenerate")
    assert [row["doubt"] for row in data["locks"]] == [""]
    assert needed(repo.git("show", f"{data['tree']}:{LOCK}")) == {"anchor", "buoy", "crane"}


@pytest.mark.slow
@needs_npm
def test_a_lock_file_in_a_directory_is_made_there(line: CommandLine, repo: TemporaryRepo) -> None:
    def below(files: dict[str, str]) -> dict[str, str]:
        return {f"web/{path}": text for path, text in files.items()}

    repo.commit("Base", below(project()))
    for name in ("anchor", "buoy"):
        repo.commit(f"Add {name}", below(adding(name)), at=repo.add_worktree(name))
    data = line.json("merge-tree", "main", "anchor", "buoy", "--regenerate")
    assert [(row["path"], row["doubt"]) for row in data["locks"]] == [("web/package-lock.json", "")]
    assert needed(repo.git("show", f"{data['tree']}:web/{LOCK}")) == {"anchor", "buoy", "crane"}


@pytest.mark.slow
@needs_npm
def test_what_npm_objects_to_is_a_conflict_with_its_words(line: CommandLine, repo: TemporaryRepo) -> None:
    anchor, buoy = two_branches(line, repo)
    line.ok("trust")
    # As main states it: npm asks nobody outside.
    repo.commit("Stay here", {".npmrc": "offline=true\n"})
    stated = json.loads((buoy.place / "package.json").read_text())
    stated["dependencies"]["lineclear-no-such-package"] = "^1.0.0"
    repo.commit("Need more", {"package.json": json.dumps(stated, indent=2) + "\n"}, at=buoy.place)
    anchor.ok("land")
    answer = buoy.run("land")
    assert answer.code == 6
    assert "not regenerated: npm failed with exit code 1: npm error code ENOTCACHED" in answer.out


# -- cargo ----------------------------------------------------------------------------------------

ROOT = """[workspace]
members = ["app", "libs/*"]
resolver = "2"
"""


def crate(name: str, *needs: str) -> str:
    lines = [f'{need} = {{ path = "../libs/{need}" }}' for need in needs]
    return "\n".join(
        [
            "[package]",
            f'name = "{name}"',
            'version = "0.1.0"',
            'edition = "2021"',
            "",
            "[dependencies]",
            *lines,
            "",
        ]
    )


def cargo_lock(repo: TemporaryRepo, at: Path) -> None:
    subprocess.run(
        ["cargo", "generate-lockfile", "--offline"],
        cwd=at,
        env=repo.environment,
        check=True,
        capture_output=True,
    )


@pytest.mark.slow
@pytest.mark.skipif(NO_CARGO, reason="cargo is not installed")
def test_cargo_makes_its_own(line: CommandLine, repo: TemporaryRepo, cargo: None) -> None:
    files = {"Cargo.toml": ROOT, "app/Cargo.toml": crate("app"), "app/src/main.rs": "fn main() {}\n"}
    for name in ("anchor", "buoy"):
        files |= {f"libs/{name}/Cargo.toml": crate(name), f"libs/{name}/src/lib.rs": "\n"}
    repo.commit("Sources", files)
    cargo_lock(repo, repo.path)
    repo.commit("Base", {"Cargo.lock": (repo.path / "Cargo.lock").read_text(), "lineclear.toml": ALLOWED})
    for name in ("anchor", "buoy"):
        place = repo.add_worktree(name)
        (place / "app/Cargo.toml").write_text(crate("app", name))
        cargo_lock(repo, place)
        texts = {path: (place / path).read_text() for path in ("app/Cargo.toml", "Cargo.lock")}
        repo.commit(f"Need {name}", texts, at=place)
    line.ok("trust")
    line.ok("land", "anchor")
    assert "Cargo.lock by cargo " in line.ok("land", "buoy").out
    checked = subprocess.run(
        ["cargo", "metadata", "--locked", "--offline", "--format-version=1"],
        cwd=repo.path,
        env=repo.environment,
        check=False,
        capture_output=True,
    )
    assert checked.returncode == 0, checked.stderr


@pytest.fixture
def cargo(line: CommandLine, repo: TemporaryRepo) -> None:
    """rustup finds its toolchain by the home directory, which tests do not share."""
    home = os.environ.get("RUSTUP_HOME") or f"{getpwuid(os.getuid()).pw_dir}/.rustup"
    for environment in (repo.environment, line.environment):
        environment["RUSTUP_HOME"] = home
