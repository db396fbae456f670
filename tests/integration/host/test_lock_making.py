"""What a package manager can do wrong, and when it may run at all. Nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lineclear.app.ports import Caller
from lineclear.git.check_trees import outer_environment
from lineclear.git.merging import GitMerging
from lineclear.host import lock_making
from lineclear.host.lock_making import LockRules, PackageManagers
from lineclear.host.sandbox import why_unavailable
from lineclear.settings.env_tables import secret_values
from lineclear.wiring.lock_making import lock_maker_by_settings
from lineclear.wiring.repo import open_repo
from lineclear.wiring.starting import init_repo
from lineclear.wiring.trust import trust_of
from tests.lock_files import LOCK, adding, calls_in, lock, needed, pretend, project
from tests.repository import TemporaryRepo

if TYPE_CHECKING:
    from lineclear.app.queue.lock_making import LockMaker

SAM = Caller("sam", is_person=True)
BOTH = lock("anchor", "buoy", "crane")
WRITES = f"cat > {LOCK} <<'END'\n{BOTH}END"


class Yard:
    """A repository with two branches that each add a package; `npm` is what a test makes of it."""

    def __init__(self, git: TemporaryRepo, tmp: Path) -> None:
        self.git, self.programs, self.tmp = git, git.path.parent / "programs", tmp
        self.environ = dict(git.environment)
        git.commit("Base", project())
        for name in ("anchor", "buoy"):
            git.commit(f"Add {name}", adding(name), at=git.add_worktree(name))

    def npm(self, work: str, version: str = "10.8.2") -> None:
        self.environ |= pretend(self.programs, "npm", work, version)

    def merge(self, *, right: str = "buoy", **rules: Any) -> dict[str, Any]:
        return self.merge_by(self.maker(**rules), right)

    def maker(self, **rules: Any) -> PackageManagers:
        secrets = secret_values(self.environ.items())
        given = LockRules(environ=outer_environment(self.environ), secrets=secrets, **rules)
        return PackageManagers(lambda: given)

    def merge_by(self, maker: LockMaker, right: str = "buoy", base: str = "main") -> dict[str, Any]:
        return GitMerging(str(self.git.path)).merge_tree(base, "anchor", right, maker)

    def at(self, name: str) -> Path:
        return self.git.path.parent / f"{self.git.path.name}.worktrees" / name

    @property
    def calls(self) -> int:
        return calls_in(self.programs)

    def left_behind(self) -> list[str]:
        return sorted(path.name for path in self.tmp.iterdir())


@pytest.fixture
def yard(repo: TemporaryRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    tmp = tmp_path / "scratch"
    tmp.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp))
    found = Yard(repo, tmp)
    yield found
    assert found.left_behind() == []
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""


def only(report: dict[str, Any]) -> str:
    """The doubt about the one lock file; then it is as clean, or not, as without a package manager."""
    (row,) = report["locks"]
    doubt: str = row["doubt"]
    assert report["clean"] is (not doubt)
    return doubt


def test_what_it_writes_is_taken_and_told(yard: Yard) -> None:
    yard.npm(WRITES)
    report = yard.merge()
    assert only(report) == ""
    assert yard.git.git("show", f"{report['tree']}:{LOCK}") + "\n" == BOTH
    (told,) = [file for file in report["files"] if file["path"] == LOCK]
    assert told["rules"] == [{"where": "file", "rule": "made anew by npm 10.8"}]
    assert report["commands"] == []


FAILURES = [
    ("echo 'npm error code EBROKEN' >&2; exit 3", "npm failed with exit code 3: npm error code EBROKEN"),
    ("kill -9 $$", "npm"),
    (f"{WRITES}\necho '{{}}' > package.json", "npm 10.8 also changed package.json"),
    (f"{WRITES}\nmkdir node_modules; touch node_modules/x", "npm 10.8 also changed node_modules/x"),
    (f"{WRITES}\nrm libs/dock/package.json", "npm 10.8 also changed libs/dock/package.json"),
    (f"{WRITES}\nln -s / root", "npm 10.8 also changed root"),
    (f"printf '<<<<<<< a\\n' >> {LOCK}", "npm 10.8 ran, but package-lock.json contains conflict markers"),
    (f": > {LOCK}", "npm 10.8 ran, but package-lock.json is empty"),
    (f"echo '[' > {LOCK}", "npm 10.8 ran, but package-lock.json or its manifest cannot be read"),
    ("true", "npm 10.8 ran, but package-lock.json does not contain buoy"),
    (f"printf '\\377' > {LOCK}", "npm 10.8 ran, but package-lock.json is not text"),
    (f"rm {LOCK}", "npm 10.8 left no lock file that can be read"),
    (f"rm {LOCK}; ln -s /etc/hostname {LOCK}", "npm 10.8 left no lock file that can be read"),
    (f"rm {LOCK}; mkfifo {LOCK}", "npm 10.8 left no lock file that can be read"),
]


@pytest.mark.parametrize(("work", "doubt"), FAILURES)
def test_whatever_goes_wrong_is_a_conflict_with_the_doubt_and_the_command(
    yard: Yard, work: str, doubt: str
) -> None:
    yard.npm(work)
    report = yard.merge()
    assert only(report).startswith(doubt)
    assert report["commands"] == ["npm install --package-lock-only"]
    (file,) = [file for file in report["files"] if not file["clean"]]
    assert doubt in file["conflicts"][0]["text"]
    assert "then run `npm install --package-lock-only`" in file["conflicts"][0]["text"]
    plain = GitMerging(str(yard.git.path)).merge_tree("main", "anchor", "buoy")
    assert report["tree"] == plain["tree"]


def test_one_that_hangs_is_ended_with_all_that_it_started(yard: Yard) -> None:
    pids = yard.programs / "pids"
    yard.npm(f"setsid sleep 1000 & echo $! > '{pids}'; sleep 1000 & echo $! >> '{pids}'; wait")
    assert only(yard.merge(within_ms=1_500)).startswith("npm did not finish within")
    for pid in pids.read_text().split():
        assert not is_alive(int(pid))


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_it_says_is_told_without_secrets(yard: Yard) -> None:
    yard.environ["NPM_TOKEN"] = "npm-4711-very-secret"
    yard.npm('echo "npm error no $NPM_TOKEN here"; exit 1')
    doubt = only(yard.merge())
    assert "npm error no" in doubt
    assert "very-secret" not in doubt


def test_what_a_killed_one_of_ours_left_is_cleared_away(yard: Yard) -> None:
    program = f"""
import os, subprocess, sys
from lineclear.host.scratch_directory import Scratch
from lineclear.host.stray_processes import MARK
room = Scratch({lock_making.PREFIX!r})
env = {{**os.environ, MARK: room.path}}
child = subprocess.Popen(["sleep", "1000"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(child.pid, flush=True)
os._exit(9)
"""
    env = {**yard.environ, "TMPDIR": str(yard.tmp), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=False)
    pid = int(done.stdout)
    assert is_alive(pid)
    assert len(yard.left_behind()) == 1
    yard.npm(WRITES)
    assert only(yard.merge()) == ""
    assert not is_alive(pid)


def test_one_that_is_not_installed_is_not_there(yard: Yard) -> None:
    yard.environ["PATH"] = str(yard.programs)
    assert only(yard.merge()) == "npm is not installed"


def test_one_that_is_too_old_is_not_asked(yard: Yard) -> None:
    for name, text in (("anchor", "# yarn\na: 1\n"), ("buoy", "# yarn\nb: 1\n")):
        yard.git.commit("Yarn", {"yarn.lock": text}, at=yard.at(name))
    yard.environ |= pretend(yard.programs, "yarn", "echo x >> yarn.lock", "1.22.22")
    yard.npm(WRITES)
    report = yard.merge()
    doubts = {row["path"]: row["doubt"] for row in report["locks"]}
    assert doubts["yarn.lock"] == "yarn 1.22 is too old: only 3.0 and later change nothing else"
    assert doubts[LOCK] == ""
    assert report["clean"] is False


def test_it_is_not_asked_while_the_manifest_is_a_conflict(yard: Yard) -> None:
    yard.npm(WRITES)
    for name, other in (("anchor", "buoy"), ("buoy", "dock")):
        text = (yard.at(name) / "package.json").read_text().replace("libs/crane", f"libs/{other}")
        yard.git.commit("Other crane", {"package.json": text}, at=yard.at(name))
    assert only(yard.merge()) == "package.json is not merged yet"
    assert yard.calls == 0


def test_it_sees_the_merged_manifests_the_left_lock_and_the_settings_of_main(yard: Yard) -> None:
    seen = yard.programs / "seen"
    yard.git.commit("Settings", {".npmrc": "main=1\n"})
    yard.git.commit("Evil", {".npmrc": "git=./evil\n", "src/a.js": "x\n"}, at=yard.at("buoy"))
    yard.npm(f"mkdir -p '{seen}'; cp -a . '{seen}'; env > '{seen}/env'; {WRITES}")
    yard.environ |= {"LINECLEAR_AGENT": "ada", "GIT_DIR": "/nowhere", "KEPT": "1"}
    yard.merge_by(yard.maker(main="main"), base="main~1")
    assert needed((seen / LOCK).read_text()) == {"anchor", "crane"}
    assert "buoy" in (seen / "package.json").read_text()
    assert "anchor" in (seen / "package.json").read_text()
    assert (seen / ".npmrc").read_text() == "main=1\n"
    assert not (seen / "src").exists()
    env = dict(line.split("=", 1) for line in (seen / "env").read_text().splitlines() if "=" in line)
    assert env["KEPT"] == "1"
    assert "LINECLEAR_AGENT" not in env
    assert "GIT_DIR" not in env


def test_a_tree_whose_paths_lead_out_is_not_written_out(yard: Yard) -> None:
    yard.npm(WRITES)
    git = yard.git
    blob = git.git("hash-object", "-w", "package.json")
    # As git itself would never make it.
    raw = b"100644 package.json\0" + bytes.fromhex(blob)
    path = yard.programs / "raw"
    path.write_bytes(raw)
    inner = git.git("hash-object", "-w", "-t", "tree", "--literally", str(path))
    entries = [row.split(None, 3) for row in git.git("ls-tree", "buoy").splitlines()]
    parts = [(name, mode, oid) for mode, _, oid, name in entries] + [("..", "40000", inner)]
    parts.sort(key=lambda row: row[0] + ("/" if row[1].lstrip("0") == "40000" else ""))
    data = b"".join(
        f"{mode.lstrip('0')} {name}".encode() + b"\0" + bytes.fromhex(oid) for name, mode, oid in parts
    )
    path.write_bytes(data)
    tree = git.git("hash-object", "-w", "-t", "tree", "--literally", str(path))
    report = yard.merge(right=tree)
    assert only(report) == "its files cannot be written: ../package.json"
    assert yard.calls == 0


# -- answers are kept -----------------------------------------------------------------------------


def test_the_same_question_is_asked_once(yard: Yard, tmp_path: Path) -> None:
    yard.npm(WRITES)
    kept = str(tmp_path / "kept")
    trees = {yard.merge(kept=kept)["tree"] for _ in range(3)}
    assert (len(trees), yard.calls) == (1, 1)
    yard.git.commit("Elsewhere", {"README.md": "x\n"}, at=yard.at("buoy"))
    yard.merge(kept=kept)
    assert yard.calls == 1
    yard.npm(WRITES + "\n# another npm")
    yard.merge(kept=kept)
    assert yard.calls == 2


def test_a_failure_is_believed_for_a_while(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = str(tmp_path / "kept")
    yard.npm("exit 1")
    assert only(yard.merge(kept=kept)) == only(yard.merge(kept=kept)) == "npm failed with exit code 1"
    assert yard.calls == 1
    monkeypatch.setattr(lock_making, "_DOUBT_LASTS_S", 0.0)
    yard.merge(kept=kept)
    assert yard.calls == 2


def test_a_damaged_answer_is_asked_for_again(yard: Yard, tmp_path: Path) -> None:
    yard.npm(WRITES)
    kept = tmp_path / "kept"
    yard.merge(kept=str(kept))
    (answer,) = kept.iterdir()
    for text in (b"", b"[]\n", b'{"by": "npm 1.0"}\n', b"\xff"):
        answer.write_bytes(text)
        assert only(yard.merge(kept=str(kept))) == ""
    assert yard.calls == 5


# -- what the settings allow ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patterns", "is_asked"),
    [
        (["package-lock.json"], True),
        (["*-lock.json"], True),
        (["**/package-lock.json"], True),
        (["web/package-lock.json"], False),
        (["yarn.lock"], False),
        ([], False),
    ],
)
def test_only_lock_files_that_are_named_are_made_anew(
    yard: Yard, patterns: list[str], is_asked: bool
) -> None:
    yard.npm(WRITES)
    report = yard.merge(patterns=patterns)
    assert (bool(report["locks"]), yard.calls) == (is_asked, int(is_asked))


def in_settings(yard: Yard, text: str, work: Callable[[LockMaker], None], *, is_trusted: bool) -> None:
    yard.git.commit("Settings", {"lineclear.toml": text})
    yard.git.git(
        "rebase",
        "--quiet",
        "main",
        "anchor",
        at=yard.at("anchor"),
    )
    init_repo(str(yard.git.path), yard.environ)
    repo = open_repo(str(yard.git.path), yard.environ)
    try:
        if is_trusted:
            trust_of(repo).record(SAM, trust_of(repo).judged())
        main = yard.git.git("rev-parse", "main")
        work(lock_maker_by_settings(repo, lambda: main))
    finally:
        repo.close()


ALLOWED = f'[merge]\nregenerate = ["{LOCK}"]\n'


def test_the_variables_are_those_that_main_states(yard: Yard) -> None:
    yard.npm(f'[ "$REGISTRY" = here ] || exit 7\n{WRITES}')
    text = ALLOWED + '[worktrees.env]\nREGISTRY = "here"\n'

    def work(maker: LockMaker) -> None:
        assert only(yard.merge_by(maker, base="main~1")) == ""

    in_settings(yard, text, work, is_trusted=True)


def test_the_time_is_the_one_that_main_states(yard: Yard) -> None:
    yard.npm("sleep 100")

    def work(maker: LockMaker) -> None:
        assert only(yard.merge_by(maker, base="main~1")) == "npm did not finish within 1 s"

    in_settings(yard, ALLOWED + 'regenerate_within = "1s"\n', work, is_trusted=True)


def test_variables_that_nobody_trusts_keep_it_from_running(yard: Yard) -> None:
    yard.npm(WRITES)

    def work(maker: LockMaker) -> None:
        report = yard.merge_by(maker, base="main~1")
        assert only(report) == "merge.regenerate[0] in lineclear.toml is not trusted; run `lineclear trust`"
        assert yard.calls == 0

    in_settings(yard, ALLOWED + '[worktrees.env]\nA = "1"\n', work, is_trusted=False)


@pytest.mark.skipif(bool(why_unavailable()), reason="no sandbox can be made here")
def test_in_a_sandbox_it_can_write_nowhere_else(yard: Yard) -> None:
    target = yard.git.path.parent / "elsewhere"
    target.mkdir()
    yard.npm(
        f"touch '{target}/x' 2>/dev/null; touch '{os.environ.get('HOME', '/root')}/x' 2>/dev/null\n{WRITES}"
    )
    # Its own counter lies outside, too.
    text = ALLOWED + '[worktrees]\nsandbox = "bwrap"\n'

    def work(maker: LockMaker) -> None:
        assert only(yard.merge_by(maker, base="main~1")) == ""
        assert list(target.iterdir()) == []

    in_settings(yard, text, work, is_trusted=True)
