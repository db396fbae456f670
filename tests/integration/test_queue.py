"""The queue on real repositories: main in use by a person, ten branches at once, two processes, a remote."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.app.queue import candidates
from lineclear.core.log.tables import CANDIDATE
from lineclear.wiring.queue import landings_of
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.starting import init_repo
from lineclear.wiring.trust import trust_of
from tests.landings import Team, open_team
from tests.repository import TemporaryRepo
from tests.world import refused

PERSON = Caller("anna", is_person=True)


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Team]:
    with open_team(repo) as team:
        yield team


def configure(team: Team, text: str) -> None:
    """Committed settings, trusted."""
    team.git.commit("Settings", {"lineclear.toml": text})
    team.repo.close()
    team.repo = open_repo(str(team.git.path), team.git.environment)
    trust_of(team.repo).record(PERSON, trust_of(team.repo).judged())


def branch(git: TemporaryRepo, name: str, files: dict[str, str], start: str = "main") -> str:
    git.git("switch", "-q", "-c", name, start)
    git.commit(f"Work on {name}", files)
    git.git("switch", "-q", "main")
    return name


def states(repo: Repo) -> dict[str, str]:
    rows = repo.store.read(lambda view: view.scan(CANDIDATE, "key"))
    return {row.branch: row.state for row in rows}


def commit_tree(git: TemporaryRepo, branch: str, name: str) -> None:
    """Make a branch whose commit adds a tree entry of this name; `git add` would refuse it."""
    content = git.git("hash-object", "-w", "lineclear.toml")
    inner = git.git("mktree", stdin=f"100644 blob {content}\tconfig\n")
    listed = git.git("ls-tree", "main")
    tree = git.git("mktree", stdin=f"{listed}\n040000 tree {inner}\t{name}\n")
    git.git("branch", branch, git.git("commit-tree", "-p", "main", "-m", name, tree))


@pytest.mark.parametrize("is_checked_out", [True, False])
def test_a_tree_that_no_git_can_check_out_goes_back_and_the_others_land(
    team: Team, *, is_checked_out: bool
) -> None:
    team.git.commit("Base", {"lineclear.toml": ""})
    names = {"git": ".git", "up": "..", "upper": ".GIT", "windows": "git~1"}
    for name, entry in names.items():
        commit_tree(team.git, name, entry)
        landings_of(team.repo).submit(PERSON, branch=name)
    landings_of(team.repo).submit(PERSON, branch=branch(team.git, "good", {"good.txt": "1\n"}))
    if not is_checked_out:
        team.git.git("switch", "-q", "-c", "elsewhere")
    landings_of(team.repo).run_once(PERSON)
    assert states(team.repo) == {**dict.fromkeys(names, "sent back"), "good": "landed"}
    row = team.repo.store.read(lambda view: view.scan(CANDIDATE, "key"))[0]
    assert row.reason == "it adds paths that no git can check out: .git/config"
    team.git.git("switch", "-q", "main")
    assert team.git.git("ls-tree", "--name-only", "main").split() == [
        "README.md",
        "good.txt",
        "lineclear.toml",
    ]


# -- a person at work on main ---------------------------------------------------------------------


def test_a_dirty_file_in_the_way_waits_and_one_that_is_not_does_not(team: Team) -> None:
    team.git.commit("Base", {"mine.txt": "1\n", "other.txt": "1\n", "notes.txt": "1\n"})
    for name in ("mine", "other"):
        landings_of(team.repo).submit(PERSON, branch=branch(team.git, name, {f"{name}.txt": "2\n"}))
    team.write("mine.txt", "my own\n")
    team.write("notes.txt", "my notes\n")
    landings_of(team.repo).run_once(PERSON)
    assert states(team.repo) == {"mine": "needs you", "other": "landed"}
    assert team.status() == [" M mine.txt", " M notes.txt"]
    assert (team.file("mine.txt"), team.file("other.txt")) == ("my own\n", "2\n")
    # Their next commit takes nothing back of what landed.
    team.git.git("commit", "-qam", "Mine")
    assert team.git.git("show", "main:other.txt") == "2"
    landings_of(team.repo).run_once(PERSON)
    assert states(team.repo)["mine"] == "sent back"  # now it is committed, and does not fit
    assert team.file("mine.txt") == "my own\n"
    assert team.findings() == []


def test_when_the_file_is_out_of_the_way_the_landing_goes_on(team: Team) -> None:
    team.git.commit("Base", {"mine.txt": "1\n"})
    landings_of(team.repo).submit(PERSON, branch=branch(team.git, "work", {"mine.txt": "2\n"}))
    team.write("mine.txt", "my own\n")
    landings_of(team.repo).run_once(PERSON)
    assert states(team.repo) == {"work": "needs you"}
    team.git.git("checkout", "-q", "mine.txt")
    landings_of(team.repo).run_once(PERSON)
    assert states(team.repo) == {"work": "landed"}
    assert (team.file("mine.txt"), team.status()) == ("2\n", [])


def test_main_moved_by_a_person_meanwhile_is_built_upon(team: Team) -> None:
    configure(team, '[checks]\ngate = "test ! -e bad.txt"\n')
    landings_of(team.repo).submit(PERSON, branch=branch(team.git, "work", {"w.txt": "w\n"}))
    git = team.git

    is_first = [True]

    def is_over() -> bool:
        if is_first and any((git.path / ".git/lineclear/checks").glob("*.log")):
            is_first.clear()
            git.commit("A person's own", {"p.txt": "p\n"})
        return False

    landings_of(team.repo).run_once(PERSON, is_over=is_over)
    assert states(team.repo) == {"work": "landed"}
    assert (team.file("p.txt"), team.file("w.txt"), team.status()) == ("p\n", "w\n", [])
    assert "A person's own" in git.git("log", "--format=%s", "main")


# -- many at once ---------------------------------------------------------------------------------

CHECK = """\
import glob, json, re, sys
numbers = sorted(name[11:15] for name in glob.glob("migrations/*.sql"))
assert numbers == [f"{n:04}" for n in range(1, len(numbers) + 1)], numbers
json.load(open("package.json"))
routes = re.findall(r'"(/[a-z0-9]+)"', open("routes.py").read())
assert len(routes) == len(set(routes)), routes
compile(open("routes.py").read(), "routes.py", "exec")
"""


def test_ten_branches_that_all_add_to_the_same_places_land_in_order(team: Team) -> None:
    git = team.git
    package = {"name": "shop", "dependencies": {"express": "^4.0.0"}}
    git.commit(
        "Base",
        {
            "check.py": CHECK,
            "package.json": json.dumps(package, indent=2) + "\n",
            "routes.py": 'ROUTES = {\n    "/home": "home",\n}\n',
            "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- First things\n",
            "migrations/0001_first.sql": "CREATE TABLE first (id INTEGER);\n",
        },
    )
    configure(team, f'[checks]\ngate = "{sys.executable} check.py"\n')
    names = [f"feature{number}" for number in range(10)]
    for number, name in enumerate(names):
        more = {**package, "dependencies": {**package["dependencies"], f"lib-{name}": "^1.0.0"}}  # type: ignore[dict-item]
        files = {
            "package.json": json.dumps(more, indent=2) + "\n",
            "routes.py": f'ROUTES = {{\n    "/home": "home",\n    "/{name}": "{name}",\n}}\n',
            "CHANGELOG.md": f"# Changelog\n\n## Unreleased\n\n- First things\n- Add {name}\n",
            f"migrations/0002_{name}.sql": f"CREATE TABLE {name} (id INTEGER);\n",
        }
        task = team.task(f"Add {name}", name)
        branch(git, name, files)
        landings_of(team.repo).submit(Caller(name, tree=name), branch=name, task=task, agent=name)
        assert number < 10
    landings_of(team.repo).run_once(PERSON)
    rows = team.repo.store.read(lambda view: view.scan(CANDIDATE, "key"))
    assert {row.branch: (row.state, row.reason) for row in rows} == dict.fromkeys(names, ("landed", ""))
    subjects = git.git("log", "--first-parent", "--reverse", "--format=%s", "main").splitlines()
    assert subjects[-10:] == [f"Land T-{n}: Add {name}" for n, name in enumerate(names, 1)]
    assert len(list((git.path / "migrations").glob("*.sql"))) == 11
    assert set(json.loads(team.file("package.json"))["dependencies"]) == {
        "express", *(f"lib-{name}" for name in names),
    }  # fmt: skip
    assert all(f'"/{name}"' in team.file("routes.py") for name in names)
    assert all(f"- Add {name}\n" in team.file("CHANGELOG.md") for name in names)
    subprocess.run([sys.executable, "check.py"], cwd=git.path, check=True)
    assert team.status() == []
    assert team.findings() == []


def test_two_green_branches_never_make_a_red_main(team: Team) -> None:
    """Each passes alone; together they do not: one renames what the other begins to use."""
    check = "import subprocess, sys\nimport b\n"
    team.git.commit("Base", {"a.py": "def old():\n    return 1\n", "b.py": "", "check.py": check})
    configure(team, f'[checks]\ngate = "{sys.executable} -B check.py"\n')
    branch(team.git, "rename", {"a.py": "def new():\n    return 1\n"})
    branch(team.git, "use", {"b.py": "from a import old\nold()\n"})
    for name in ("rename", "use"):
        landings_of(team.repo).submit(PERSON, branch=name)
    landings_of(team.repo).run_once(PERSON)
    assert states(team.repo) == {"rename": "landed", "use": "sent back"}
    row = team.repo.store.read(lambda view: candidates.known(view, 2))
    assert row.others == "1"
    assert "together with Q-1 (rename)" in row.reason
    output = team.repo.store.read(lambda view: candidates.show(view, 2))["history"][-1]["output"]
    assert "cannot import name 'old'" in output
    subprocess.run([sys.executable, "-B", "check.py"], cwd=team.git.path, check=True)


def test_a_linear_history_has_one_commit_for_each(team: Team) -> None:
    configure(team, '[queue]\nhistory = "linear"\n')
    for name in ("one", "two"):
        task = team.task(f"Do {name}", name)
        branch(team.git, name, {f"{name}.txt": "1\n"})
        team.git.git("switch", "-q", name)
        team.git.commit("More", {f"{name}.txt": "2\n"})
        team.git.git("switch", "-q", "main")
        landings_of(team.repo).submit(Caller(name, tree=name), branch=name, task=task, agent=name)
    landings_of(team.repo).run_once(PERSON)
    assert team.git.git("log", "--format=%s", "-2").splitlines() == ["Land T-2: Do two", "Land T-1: Do one"]
    assert team.git.git("rev-list", "--count", "--merges", "main") == "0"
    assert (team.file("one.txt"), team.file("two.txt"), team.status()) == ("2\n", "2\n", [])
    assert [team.state(number) for number in (1, 2)] == ["merged", "merged"]


def test_a_branch_upon_anothers_branch_waits_for_it(team: Team) -> None:
    branch(team.git, "below", {"a.txt": "1\n"})
    branch(team.git, "upon", {"b.txt": "1\n"}, start="below")
    landings_of(team.repo).submit(PERSON, branch="below")
    found = landings_of(team.repo).submit(PERSON, branch="upon")
    assert found["after"] == ["Q-1"]
    candidates.hold(team.repo.store, PERSON, 1, "not yet")
    landings_of(team.repo).run_once(PERSON)
    assert states(team.repo) == {"below": "held", "upon": "waiting"}
    candidates.retry(team.repo.store, PERSON, 1)
    landings_of(team.repo).run_once(PERSON)
    assert states(team.repo) == {"below": "landed", "upon": "landed"}


def test_the_submitted_commit_lands_not_what_came_after(team: Team) -> None:
    branch(team.git, "work", {"a.txt": "1\n"})
    landings_of(team.repo).submit(PERSON, branch="work")
    team.git.git("switch", "-q", "work")
    team.git.commit("Not yet", {"a.txt": "2\n"})
    team.git.git("switch", "-q", "main")
    landings_of(team.repo).run_once(PERSON)
    assert team.file("a.txt") == "1\n"


def test_a_branch_that_was_deleted_lands_all_the_same(team: Team) -> None:
    branch(team.git, "work", {"a.txt": "1\n"})
    landings_of(team.repo).submit(PERSON, branch="work")
    team.git.git("branch", "-qD", "work")
    team.git.git("reflog", "expire", "--expire=now", "--all")
    team.git.git("gc", "-q", "--prune=now")
    landings_of(team.repo).run_once(PERSON)
    assert team.file("a.txt") == "1\n"


@pytest.mark.parametrize(
    ("name", "code"), [("main", "land.main"), ("none", "branch.unknown"), ("empty", "land.nothing")]
)
def test_what_cannot_land_is_refused_at_once(team: Team, name: str, code: str) -> None:
    team.git.git("branch", "empty")
    with refused(code):
        landings_of(team.repo).submit(PERSON, branch=name)
    assert states(team.repo) == {}


def test_what_is_not_trusted_does_not_run(team: Team) -> None:
    team.git.commit("Settings", {"lineclear.toml": '[checks]\ngate = "touch /tmp/never"\n'})
    branch(team.git, "work", {"a.txt": "1\n"})
    with refused("trust.missing"):
        landings_of(team.repo).land(PERSON, branch="work")
    assert states(team.repo) == {"work": "waiting"}


def test_a_candidate_cannot_change_its_own_check(team: Team) -> None:
    configure(team, '[checks]\ngate = "test ! -e bad.txt"\n')
    branch(team.git, "sly", {"lineclear.toml": '[checks]\ngate = "true"\n', "bad.txt": "b\n"})
    landings_of(team.repo).submit(PERSON, branch="sly")
    landings_of(team.repo).run_once(PERSON)
    assert states(team.repo) == {"sly": "sent back"}


# -- two processes --------------------------------------------------------------------------------

RUN = """\
import os, sys
from lineclear.app.ports import Caller
from lineclear.wiring.queue import landings_of
from lineclear.wiring.repo import open_repo
repo = open_repo(os.getcwd(), os.environ)
for name in sys.argv[1:]:
    found, result = landings_of(repo).land(Caller("anna", is_person=True), branch=name)
    print(name, type(result).__name__, flush=True)
"""


def start(git: TemporaryRepo, names: list[str]) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", RUN, *names]
    return subprocess.Popen(words, cwd=git.path, env=git.environment, stdout=subprocess.PIPE, text=True)


def test_of_processes_that_land_at_once_one_runs_the_queue_and_the_others_wait(team: Team) -> None:
    configure(team, '[checks]\ngate = "test ! -e bad.txt"\n')
    names = [f"work{number}" for number in range(12)]
    for name in names:
        branch(team.git, name, {f"{name}.txt": "1\n"})
    started = [start(team.git, names[place::4]) for place in range(4)]
    told = [process.communicate(timeout=100)[0] for process in started]
    assert sorted("".join(told).splitlines()) == sorted(f"{name} Landed" for name in names)
    assert states(team.repo) == dict.fromkeys(names, "landed")
    assert all(team.file(f"{name}.txt") == "1\n" for name in names)
    assert team.status() == []
    assert team.findings() == []


@pytest.fixture
def clones(repo: TemporaryRepo, tmp_path: Path, fresh_postgres: Callable[[], str]) -> list[TemporaryRepo]:
    """Two machines: two clones of one remote, one store."""
    url = fresh_postgres()
    text = '[repo]\nid = "shop"\n\n[queue]\nremote = "origin"\n\n[checks]\ngate = "test ! -e bad.txt"\n'
    repo.commit("Base", {"lineclear.toml": text, "a.txt": "1\n"})
    remote = tmp_path / "remote.git"
    repo.git("clone", "-q", "--bare", str(repo.path), str(remote))
    found = []
    for name in ("left", "right"):
        repo.git("clone", "-q", str(remote), str(tmp_path / name))
        clone = TemporaryRepo(tmp_path / name, {**repo.environment, "LINECLEAR_STORE_URL": url})
        init_repo(str(clone.path), clone.environment, url)
        opened = open_repo(str(clone.path), clone.environment)
        trust_of(opened).record(PERSON, trust_of(opened).judged())
        opened.close()
        found.append(clone)
    return found


def test_two_machines_with_one_store_never_fork_main(clones: list[TemporaryRepo]) -> None:
    left, right = clones
    names = {clone.path.name: [f"{clone.path.name}{number}" for number in range(4)] for clone in clones}
    for clone in clones:
        for name in names[clone.path.name]:
            branch(clone, name, {f"{name}.txt": "1\n"})
    started = [start(clone, names[clone.path.name]) for clone in clones]
    told = [process.communicate(timeout=100)[0] for process in started]
    every = [name for found in names.values() for name in found]
    assert sorted("".join(told).splitlines()) == sorted(f"{name} Landed" for name in every)
    for clone in clones:
        clone.git("fetch", "-q", "origin")
    main = left.git("rev-parse", "origin/main")
    assert right.git("rev-parse", "origin/main") == main
    files = left.git("ls-tree", "--name-only", "-r", main).split()
    assert set(files) == {"README.md", "lineclear.toml", "a.txt", *(f"{name}.txt" for name in every)}
    repo = open_repo(str(left.path), left.environment)
    assert audit(repo.store)["findings"] == []
    repo.close()
    for clone in clones:
        assert clone.git("status", "--porcelain") == ""
        assert clone.git("merge-base", "--is-ancestor", "main", "origin/main") == ""
