"""Level upon level on real git: what each holds, who it is by, and that nothing moves."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lineclear.app.queue.stacking import Level, Submission, put_on
from lineclear.core.queue.landing_results import LINEAR, MERGE, Landed
from lineclear.git.landing import CloneGit
from lineclear.git.layout import find_layout
from lineclear.host.merge_processes import MERGE_PROCESSES
from tests.landings import land, open_team
from tests.repository import TemporaryRepo
from tests.sampling import some
from tests.world import refused


def footing(path: Path) -> CloneGit:
    return CloneGit(find_layout(str(path), {}), "main")


@pytest.fixture
def ground(repo: TemporaryRepo) -> Iterator[CloneGit]:
    with closing(footing(repo.path)) as ground:
        yield ground


def branch(
    repo: TemporaryRepo, name: str, files: dict[str, str], *, at: str = "main", **more: str
) -> Submission:
    """Work on a branch of its own; the person's tree is back on main after it."""
    repo.git("switch", "-q", "-c", name, at)
    tip = repo.commit(f"Work on {name}", files)
    repo.git("switch", "-q", "main")
    return Submission(name, tip, **more)  # type: ignore[arg-type]


def stack(ground: CloneGit, below: str, submissions: list[Submission], style: str = MERGE) -> list[Level]:
    """Those that fit, one on another."""
    levels = []
    for submission in submissions:
        level = put_on(ground, MERGE_PROCESSES, below, submission, style=style)
        levels.append(level)
        below = level.commit or below
    return levels


def three(repo: TemporaryRepo) -> list[Submission]:
    return [
        branch(repo, name, {f"{name}/f": f"{name}\n"}, task=f"T-{number}", title=name, agent="ada")
        for number, name in enumerate("abc", 1)
    ]


def test_each_level_holds_the_ones_below(repo: TemporaryRepo, ground: CloneGit) -> None:
    submissions, main = three(repo), repo.git("rev-parse", "main")
    refs = repo.git("for-each-ref")
    levels = stack(ground, main, submissions)
    assert [level.files for level in levels] == [["a/f"], ["b/f"], ["c/f"]]
    assert repo.git("ls-tree", "-r", "--name-only", levels[-1].commit).split() == [
        "README.md",
        "a/f",
        "b/f",
        "c/f",
    ]
    belows = [main, *(level.commit for level in levels)]
    for below, level, submission in zip(belows, levels, submissions, strict=False):
        assert repo.git("rev-parse", f"{level.commit}^@").split() == [below, submission.tip]
        assert repo.git("rev-parse", f"{level.commit}^{{tree}}") == level.tree
    assert repo.git("show", "-s", "--format=%B", levels[1].commit).strip() == (
        "Land T-2: b\n\nTask: T-2\nAgent: ada"
    )
    assert repo.git("for-each-ref") == refs
    assert repo.git("status", "--porcelain") == ""
    repo.git("fsck", "--strict", "--no-progress")


def test_a_linear_stack_is_one_line_of_commits_with_the_same_trees(
    repo: TemporaryRepo, ground: CloneGit
) -> None:
    submissions, main = three(repo), repo.git("rev-parse", "main")
    merged, line = (stack(ground, main, submissions, style) for style in (MERGE, LINEAR))
    assert [level.tree for level in line] == [level.tree for level in merged]
    assert [level.how for level in line] == ["linear"] * 3
    assert repo.git("rev-list", "--parents", f"{main}..{line[-1].commit}").count("\n") == 2
    assert repo.git("rev-list", "--merges", "--count", line[-1].commit) == "0"
    again = put_on(ground, MERGE_PROCESSES, line[-1].commit, submissions[0], style=LINEAR)
    assert (again.how, again.commit) == ("nothing", line[-1].commit)


def test_authors_are_kept_in_both_styles(repo: TemporaryRepo, ground: CloneGit) -> None:
    repo.git("switch", "-q", "-c", "side")
    for number, who in enumerate(
        ("J\xf6rg \xdf <j@x.invalid>", "Ben <ben@x.invalid>", "Last One <last@x.invalid>")
    ):
        date = f"2026-02-0{number + 1}T10:00:00+02:00"
        repo.git("commit", "-q", "--allow-empty", f"--author={who}", f"--date={date}", "-m", "Part")
    tip = repo.commit("Mine", {"a": "1\n"})
    repo.git("commit", "-q", "--amend", "--no-edit", "--author=Last One <last@x.invalid>")
    tip = repo.git("rev-parse", "HEAD")
    repo.git("switch", "-q", "main")
    for style in (MERGE, LINEAR):
        level = put_on(
            ground,
            MERGE_PROCESSES,
            repo.git("rev-parse", "main"),
            Submission("side", tip, task="T-1"),
            style=style,
        )
        shown = repo.git(
            "show", "-s", "--format=%an <%ae> %ad|%cn|%(trailers:key=Co-authored-by,valueonly)", level.commit
        )
        author, committer, *others = shown.replace("|", "\n").strip().split("\n")
        assert author == "Last One <last@x.invalid> " + repo.git("show", "-s", "--format=%ad", tip)
        assert committer == "Test Author"
        assert others == ["Ben <ben@x.invalid>", "J\xf6rg \xdf <j@x.invalid>"]


def test_a_level_is_what_git_would_commit_itself(repo: TemporaryRepo, ground: CloneGit) -> None:
    submission, main = three(repo)[0], repo.git("rev-parse", "main")
    level = put_on(ground, MERGE_PROCESSES, main, submission, style=MERGE)
    words = ["-m", "Land T-1: a", "-m", "Task: T-1\nAgent: ada"]
    assert repo.git("commit-tree", level.tree, "-p", main, "-p", submission.tip, *words) == level.commit


def test_what_does_not_fit_leaves_the_level_below_as_it_was(repo: TemporaryRepo, ground: CloneGit) -> None:
    repo.commit("Base", {"a.txt": "one\ntwo\nthree\n"})
    texts = {"x": "one\nX\nthree\n", "y": "one\nY\nthree\n"}
    submissions = [branch(repo, name, {"a.txt": text}) for name, text in texts.items()]
    submissions.append(branch(repo, "z", {"b.txt": "z\n"}))
    repo.commit("Main goes on", {"c.txt": "c\n"})
    levels = stack(ground, repo.git("rev-parse", "main"), submissions)
    assert [level.fits for level in levels] == [True, False, True]
    assert (levels[1].commit, levels[1].conflicts[0]["path"]) == ("", "a.txt")
    assert repo.git("rev-parse", f"{levels[2].commit}^1") == levels[0].commit
    assert repo.git("show", f"{levels[2].commit}:a.txt") == "one\nX\nthree"


def test_the_rules_of_the_formats_work_on_every_level(repo: TemporaryRepo, ground: CloneGit) -> None:
    package = '{\n  "name": "x",\n  "dependencies": {\n    "m": "^1.0.0"\n  }\n}\n'
    repo.commit("Base", {"package.json": package, "migrations/0001_begin.sql": "create table a (x int);\n"})
    submissions = [
        branch(
            repo,
            name,
            {
                "package.json": package.replace('    "m"', f'    "{name}": "^2.0.0",\n    "m"'),
                f"migrations/0002_{name}.sql": f"create table {name} (x int);\n",
            },
        )
        for name in ("b", "c", "d")
    ]
    repo.commit("Main goes on", {"other": "x\n"})
    top = stack(ground, repo.git("rev-parse", "main"), submissions)[-1]
    text = repo.git("show", f"{top.commit}:package.json")
    assert [f'"{name}": "^2.0.0"' in text for name in ("b", "c", "d")] == [True] * 3
    migrations = repo.git("ls-tree", "--name-only", top.commit, "migrations/").split()
    assert [name.partition("/")[2] for name in migrations] == [
        "0001_begin.sql", "0002_b.sql", "0003_c.sql", "0004_d.sql"
    ]  # fmt: skip
    repo.git("fsck", "--strict", "--no-progress")


def test_work_that_came_to_hold_other_work_is_merged_against_it(
    repo: TemporaryRepo, ground: CloneGit
) -> None:
    """A branch upon a branch: the upper one alone brings both, and after the lower one only its own."""
    lower = branch(repo, "lower", {"low": "1\n"}, task="T-1")
    upper = branch(repo, "upper", {"up": "1\n"}, at="lower", task="T-2")
    main = repo.git("rev-parse", "main")
    assert [level.files for level in stack(ground, main, [lower, upper])] == [["low"], ["up"]]
    levels = stack(ground, main, [upper, lower])
    assert [(level.how, level.files) for level in levels] == [("merge", ["low", "up"]), ("nothing", [])]


def test_what_is_no_work_of_this_clone_is_refused(repo: TemporaryRepo, ground: CloneGit) -> None:
    main = repo.git("rev-parse", "main")
    blob = repo.git("rev-parse", "main:README.md")
    repo.git("switch", "-q", "--orphan", "stranger")
    stranger = repo.commit("Alone", {"x": "x\n"})
    repo.git("switch", "-q", "main")
    for tip, code in (
        (stranger, "land.unrelated"),
        ("0" * 39 + "1", "branch.unknown"),
        (blob, "branch.unknown"),
    ):
        with refused(code):
            put_on(ground, MERGE_PROCESSES, main, Submission("side", tip), style=MERGE)
    assert put_on(ground, MERGE_PROCESSES, main, three(repo)[0], style=MERGE).fits


# -- repositories of all kinds --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sha256", "worktree", "alternates", "shallow", "replaced", "packed"])
def test_a_stack_is_built_in_every_kind_of_repository(repo: TemporaryRepo, kind: str) -> None:
    place = made_into(repo, kind)
    submissions, main = three(place), place.git("rev-parse", "main")
    if kind == "packed":
        place.git("gc", "-q")
    with closing(footing(place.path)) as ground:
        levels = stack(ground, main, submissions)
    assert [level.how for level in levels] == ["merge"] * 3
    names = place.git("ls-tree", "-r", "--name-only", levels[-1].commit).split()
    assert {"a/f", "b/f", "c/f"} < set(names)
    assert place.git("rev-list", "--first-parent", "--count", f"{main}..{levels[-1].commit}") == "3"
    if kind != "replaced":  # fsck looks through replacements
        place.git("fsck", "--strict", "--no-progress")


def made_into(repo: TemporaryRepo, kind: str) -> TemporaryRepo:
    other = TemporaryRepo(repo.path.parent / kind, repo.environment)
    if kind == "sha256":
        other.path.mkdir()
        other.git("init", "-q", "-b", "main", "--object-format=sha256")
        other.commit("Begin", {"README.md": "x\n"})
    elif kind == "worktree":
        repo.git("switch", "-q", "-c", "elsewhere")
        repo.git("worktree", "add", "-q", str(other.path), "main")
    elif kind == "alternates":
        repo.git("clone", "-q", "--shared", str(repo.path), str(other.path))
    elif kind == "shallow":
        for number in range(3):
            repo.commit("More", {"n": f"{number}\n"})
        repo.git("clone", "-q", "--depth=2", f"file://{repo.path}", str(other.path))
    else:
        if kind == "replaced":
            repo.commit("Base", {"n": "1\n"})
            repo.git("replace", "--graft", "main")
        return repo
    return other


def test_objects_in_a_shared_repository_are_the_groups(repo: TemporaryRepo, ground: CloneGit) -> None:
    objects = repo.path / ".git/objects"
    for place in (objects, *(path for path in objects.iterdir() if path.is_dir())):
        place.chmod(0o2775)
    main, submission = repo.git("rev-parse", "main"), three(repo)[0]
    before = os.umask(0o077)
    try:
        level = put_on(ground, MERGE_PROCESSES, main, submission, style=MERGE)
    finally:
        os.umask(before)
    written = objects / level.commit[:2] / level.commit[2:]
    assert written.stat().st_mode & 0o777 == 0o444


def test_histories_that_part_far_back_are_walked_with_one_more_git(repo: TemporaryRepo) -> None:
    base = repo.git("rev-parse", "main")
    tree, below = repo.git("rev-parse", "main^{tree}"), base
    for number in range(150):
        below = repo.git("commit-tree", tree, "-p", below, "-m", f"{number}")
    submission = branch(repo, "old", {"old": "1\n"})
    with closing(footing(repo.path)) as ground:
        assert ground.history.bases(below, submission.tip) == [base]
        assert put_on(ground, MERGE_PROCESSES, below, submission, style=MERGE).files == ["old"]


# -- whatever the history ---------------------------------------------------------------------------

NAMES = ["a.txt", "b.txt", "d/c.txt", "d/e/f.txt"]


def random_work(repo: TemporaryRepo, dice: random.Random, name: str, at: str) -> Submission:
    """A branch off some commit, with a few commits, perhaps with another branch merged into it."""
    repo.git("switch", "-q", "-c", name, at)
    for step in range(dice.randint(1, 2)):
        path = dice.choice([*NAMES, f"new/{name}{step}.txt"])
        file = repo.path / path
        lines = file.read_text().split("\n")[:-1] if file.exists() else []
        if lines and dice.random() < 0.1:
            repo.git("rm", "-q", path)
            repo.git("commit", "-qm", "Remove")
            continue
        where = dice.randrange(len(lines) + 1)
        lines[where : where + dice.randint(0, 1)] = [f"{name} {step}"]
        repo.commit("Work", {path: "\n".join(lines) + "\n"})
    tip = repo.git("rev-parse", "HEAD")
    repo.git("switch", "-q", "main")
    return Submission(name, tip)


def random_history(repo: TemporaryRepo, dice: random.Random) -> list[Submission]:
    text = "".join(f"line {number}\n" for number in range(30))
    repo.commit("Base", dict.fromkeys(NAMES, text))
    places, found = ["main"], []
    for number in range(5):
        found.append(random_work(repo, dice, f"w{number}", dice.choice(places)))
        places += [f"w{number}"] if dice.random() < 0.4 else []
        if dice.random() < 0.4:
            repo.commit("Main goes on", {dice.choice(NAMES): text + f"main {number}\n"})
    return found


def by_git(repo: TemporaryRepo, below: str, tip: str) -> str:
    """The tree of git's own merge in a work tree; "" where it does not merge cleanly."""
    place = repo.path.parent / f"{repo.path.name}-by-git"
    repo.git("worktree", "add", "-q", "--detach", str(place), below)
    try:
        repo.git("merge", "-q", "--no-edit", tip, at=place)
        return repo.git("rev-parse", "HEAD^{tree}", at=place)
    except AssertionError:
        return ""
    finally:
        repo.git("worktree", "remove", "--force", str(place))


def compare(repo: TemporaryRepo, dice: random.Random) -> Counter[str]:
    came_to: Counter[str] = Counter()
    submissions = random_history(repo, dice)
    below = repo.git("rev-parse", "main")
    with closing(footing(repo.path)) as ground:
        levels = stack(ground, below, submissions)
    for level, submission in zip(levels, submissions, strict=True):
        gits = by_git(repo, below, submission.tip)
        if gits:
            assert level.tree == gits, submission.branch
        came_to[f"{level.how if level.fits else 'conflict'}{', git too' if gits else ''}"] += 1
        below = level.commit or below
    with open_team(repo) as team:
        for level, submission in zip(levels, submissions, strict=True):
            result = land(team.repo, team.person, branch=submission.branch)
            assert isinstance(result, Landed) == level.fits
            if isinstance(result, Landed):
                assert (result.tree, result.how, result.files) == (level.tree, level.how, level.files)
        top = next((level.tree for level in reversed(levels) if level.fits), "")
        assert not top or repo.git("rev-parse", "main^{tree}") == top
    return came_to


@pytest.mark.slow
def test_a_stack_is_what_landing_one_after_another_gives_and_what_git_merges(
    repo: TemporaryRepo, record_property: Callable[[str, object], None]
) -> None:
    came_to: Counter[str] = Counter()
    for seed in range(some(15)):
        own = TemporaryRepo.create(repo.path.parent / f"seed-{seed}" / "repo", repo.environment)
        came_to += compare(own, random.Random(seed))
        shutil.rmtree(own.path.parent)
    assert came_to["merge, git too"] >= 5
    assert came_to["conflict"]
    record_property("told", f"levels compared: {dict(came_to)}")
