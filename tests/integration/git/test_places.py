"""The identity of a path: however it is typed, one file has one place in the repository."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from lineclear.core.words.refusals import Refusal
from lineclear.git.layout import find_layout
from lineclear.git.typed_paths import WorktreePaths
from tests.repository import TemporaryRepo, clean_environment


class Ground:
    """One repository with every kind of way to its files, made once: nothing here is changed."""

    def __init__(self, root: Path) -> None:
        (root / "home").mkdir()
        self.root = root
        self.repo = TemporaryRepo.create(root / "repo", clean_environment(root / "home"))
        self.main = self.repo.path
        self.repo.commit("Files", {"src/auth/login.py": "", "app/[id]/page.tsx": "", "with space/a b.py": ""})
        self.repo.commit("More", {"x*y/z?.txt": "", "naïve/é.py": "", "other/deep/a.py": ""})
        self.linked = self.repo.add_worktree("codex-1")
        self.inner = self.main / "trees" / "inner"
        self.repo.git("worktree", "add", "--quiet", "-b", "inner", str(self.inner))
        self.foreign = TemporaryRepo.create(self.main / "vendor" / "foreign", self.repo.environment)
        self._make_links()

    def _make_links(self) -> None:
        (self.root / "outside").mkdir()
        (self.root / "outside" / "file.txt").touch()
        (self.root / "way").symlink_to(self.main)
        links = {
            "link.py": "src/auth/login.py",
            "absolute.py": str(self.main / "src/auth/login.py"),
            "auth": "src/auth",
            "chain": "auth",
            "to-linked": str(self.linked / "src"),
            "dangling": "src/new.py",
            "out": "../outside",
            "out.txt": "../outside/file.txt",
            "out-new.txt": "../outside/none.txt",
            "deep": "other/deep",
            "up": "..",
            "loop": "loop",
            "git": ".git",
        }
        for name, target in links.items():
            (self.main / name).symlink_to(target)

    def places(self, at: Path | None = None) -> WorktreePaths:
        return WorktreePaths(find_layout(str(at or self.main), {}), fold_case=False, nfc=True)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("ground"))


LOGIN = ("src/auth/login.py", False)
AUTH = ("src/auth", True)

# What was typed ({main}, {linked}, {inner}, {root} stand for places), where, and what it means.
ALIASES = [
    ("src/auth/login.py", "{main}", LOGIN),
    ("./src/auth/login.py", "{main}", LOGIN),
    ("src//auth///login.py", "{main}", LOGIN),
    ("src/./auth/login.py", "{main}", LOGIN),
    ("src/../src/auth/login.py", "{main}", LOGIN),
    ("src/auth/../auth/login.py", "{main}", LOGIN),
    ("missing/../src/auth/login.py", "{main}", LOGIN),
    ("login.py", "{main}/src/auth", LOGIN),
    ("../auth/login.py", "{main}/src/auth", LOGIN),
    ("src/auth/login.py/", "{main}", LOGIN),
    ("{main}/src/auth/login.py", "/", LOGIN),
    ("{main}//src/./auth/login.py", "/", LOGIN),
    ("src/auth", "{main}", AUTH),
    ("src/auth/", "{main}", AUTH),
    ("src/auth/.", "{main}", AUTH),
    (".", "{main}/src/auth", AUTH),
    (".", "{main}", ("", True)),
    ("{main}", "/", ("", True)),
    ("{main}/", "/", ("", True)),
    ("..", "{main}/src", ("", True)),
    # not there yet
    ("src/new.py", "{main}", ("src/new.py", False)),
    ("src/new/", "{main}", ("src/new", True)),
    ("new/deep/file.py", "{main}", ("new/deep/file.py", False)),
    ("{main}/new/./deep//file.py", "/", ("new/deep/file.py", False)),
    ("src/auth/login.py/below", "{main}", ("src/auth/login.py/below", False)),
    # linked worktrees, from inside and from outside
    ("{linked}/src/auth/login.py", "{main}", LOGIN),
    ("src/auth/login.py", "{linked}", LOGIN),
    ("{main}/src/auth/login.py", "{linked}", LOGIN),
    ("../repo.worktrees/codex-1/src/auth/login.py", "{main}", LOGIN),
    ("{linked}", "{main}", ("", True)),
    ("{linked}/src/new.py", "{main}", ("src/new.py", False)),
    # a worktree inside another one
    ("{inner}/src/auth/login.py", "{main}", LOGIN),
    ("trees/inner/src/auth/login.py", "{main}", LOGIN),
    ("trees/inner", "{main}", ("", True)),
    ("trees/inner/src/new.py", "{main}", ("src/new.py", False)),
    ("../../src/auth/login.py", "{inner}", LOGIN),
    ("trees/other/src/a.py", "{main}", ("trees/other/src/a.py", False)),
    # a repository that is not ours is only a directory of ours
    ("vendor/foreign/README.md", "{main}", ("vendor/foreign/README.md", False)),
    # symlinks
    ("{root}/way/src/auth/login.py", "/", LOGIN),
    ("src/auth/login.py", "{root}/way", LOGIN),
    ("{root}/way/src/new.py", "/", ("src/new.py", False)),
    ("link.py", "{main}", LOGIN),
    ("absolute.py", "{main}", LOGIN),
    ("auth", "{main}", AUTH),
    ("auth/", "{main}", AUTH),
    ("auth/login.py", "{main}", LOGIN),
    ("chain/login.py", "{main}", LOGIN),
    ("auth/new.py", "{main}", ("src/auth/new.py", False)),
    ("auth/new/file.py", "{main}", ("src/auth/new/file.py", False)),
    ("to-linked/auth/login.py", "{main}", LOGIN),
    ("dangling", "{main}", ("src/new.py", False)),
    ("deep/../a.py", "{main}", ("other/a.py", False)),
    ("deep/../deep/a.py", "{main}", ("other/deep/a.py", False)),
    ("login.py", "{main}/auth", LOGIN),
    ("up/repo/src/auth/login.py", "{main}", LOGIN),
    # names
    ("app/[id]/page.tsx", "{main}", ("app/[id]/page.tsx", False)),
    ("app/[id]/{new}.tsx", "{main}", ("app/[id]/{new}.tsx", False)),
    ("with space/a b.py", "{main}", ("with space/a b.py", False)),
    ("naïve/é.py", "{main}", ("naïve/é.py", False)),
    ("日本/語.py", "{main}", ("日本/語.py", False)),
    ("SRC/Auth.py", "{main}", ("SRC/Auth.py", False)),
    ("back\\slash", "{main}", ("back\\slash", False)),
    (".gitignore", "{main}", (".gitignore", False)),
    (".github/workflows/a.yml", "{main}", (".github/workflows/a.yml", False)),
    # globs: only what stands before them has a place
    ("**/*.sql", "{main}", ("**/*.sql", False)),
    ("*.py", "{main}/src", ("src/*.py", False)),
    ("auth/*.py", "{main}", ("src/auth/*.py", False)),
    ("auth/**/", "{main}", ("src/auth/**", True)),
    ("./src//auth/./*/x", "{main}", ("src/auth/*/x", False)),
    ("../*.py", "{main}/src/auth", ("src/*.py", False)),
    ("{linked}/src/**", "{main}", ("src/**", False)),
    ("new/?.py", "{main}", ("new/?.py", False)),
    ("app/[id]/*.tsx", "{main}", ("app/[id]/*.tsx", False)),
    ("x\\*y/z\\?.txt", "{main}", ("x\\*y/z\\?.txt", False)),
    ("x\\*y", "{main}", ("x\\*y", True)),
    ("x\\*y/*.txt", "{main}", ("x\\*y/*.txt", False)),
]


@pytest.mark.parametrize(("text", "cwd", "place"), ALIASES)
def test_every_way_to_a_file_gives_its_one_place(
    ground: Ground, text: str, cwd: str, place: tuple[str, bool]
) -> None:
    def fill(pattern: str) -> str:
        for name in ("main", "linked", "inner", "root"):
            pattern = pattern.replace(f"{{{name}}}", str(getattr(ground, name)))
        return pattern

    for seen_from in (ground.main, ground.linked, ground.inner):
        assert ground.places(seen_from).locate(fill(text), fill(cwd)) == place


def test_a_literal_name_is_never_a_glob(ground: Ground) -> None:
    locate = ground.places().locate
    main = str(ground.main)
    assert locate("x*y/z?.txt", main, literal=True) == ("x*y/z?.txt", False)
    assert locate("x*y", main, literal=True) == ("x*y", True)
    assert locate("auth/new*.py", main, literal=True) == ("src/auth/new*.py", False)
    assert locate("x\\*y", main, literal=True) == ("x\\*y", False)


@pytest.mark.parametrize(
    "text",
    [
        "out",
        "out/",
        "out/file.txt",
        "out/new.txt",
        "out.txt",
        "out-new.txt",
        "..",
        "../x",
        "up",
        "up/x",
        "/",
        "/etc/passwd",
        "../repo2/a",
        "../repo.worktrees",
        "out/*.txt",
        "../*",
        "/*",
        "up/repo/../outside/a",
    ],
)
def test_what_leaves_the_repository_is_refused(ground: Ground, text: str) -> None:
    with pytest.raises(Refusal) as caught:
        ground.places().locate(text, str(ground.main))
    assert (caught.value.code, caught.value.exit_code) == ("resource.outside", 4)


@pytest.mark.parametrize(
    "text",
    [
        ".git",
        ".git/",
        ".git/config",
        ".git/hooks/new",
        ".GIT/config",
        "git/config",
        "src/../.git/HEAD",
        "src/.git/x",
        ".git/worktrees/codex-1/HEAD",
        "{linked}/.git",
        "{inner}/.git",
        ".git/*",
        "vendor/foreign/.git",
    ],
)
def test_what_belongs_to_git_is_refused(ground: Ground, text: str) -> None:
    name = text.replace("{linked}", str(ground.linked)).replace("{inner}", str(ground.inner))
    with pytest.raises(Refusal) as caught:
        ground.places().locate(name, str(ground.main))
    assert (caught.value.code, caught.value.exit_code) == ("resource.bad", 2)


@pytest.mark.parametrize("text", ["", "a\0b", "a*\0", "src/*/../x", "**/.."])
def test_what_has_no_meaning_is_refused(ground: Ground, text: str) -> None:
    with pytest.raises(Refusal) as caught:
        ground.places().locate(text, str(ground.main))
    assert caught.value.code == "resource.bad"


@pytest.mark.parametrize("text", ["loop", "loop/x", "a/" * 3000, "x" * 300, "\udcff"])
def test_no_path_makes_it_stumble(ground: Ground, text: str) -> None:
    assert ground.places().locate(text, str(ground.main))[0] == text.rstrip("/")


def test_a_worktree_added_later_is_known_at_once(repo: TemporaryRepo) -> None:
    places = WorktreePaths(find_layout(str(repo.path), {}), fold_case=False, nfc=True)
    assert places.locate("trees/late/README.md", str(repo.path)) == ("trees/late/README.md", False)
    repo.git("worktree", "add", "--quiet", "-b", "late", "trees/late")
    assert places.locate("trees/late/README.md", str(repo.path)) == ("README.md", False)
    repo.git("worktree", "remove", "trees/late")
    assert places.locate("trees/late/README.md", str(repo.path)) == ("trees/late/README.md", False)


def test_a_worktree_that_was_moved_by_hand_is_known(repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("codex-1")
    tree.rename(repo.path.parent / "moved")
    places = WorktreePaths(find_layout(str(repo.path), {}), fold_case=False, nfc=True)
    assert places.locate("../moved/README.md", str(repo.path)) == ("README.md", False)


def test_a_worktree_replaced_by_a_foreign_repository_is_foreign(repo: TemporaryRepo) -> None:
    places = WorktreePaths(find_layout(str(repo.path), {}), fold_case=False, nfc=True)
    repo.git("worktree", "add", "--quiet", "-b", "late", "trees/late")
    assert places.locate("trees/late/README.md", str(repo.path))[0] == "README.md"
    repo.git("worktree", "remove", "trees/late")
    TemporaryRepo.create(repo.path / "trees" / "late", repo.environment)
    assert places.locate("trees/late/README.md", str(repo.path))[0] == "trees/late/README.md"


def test_a_submodules_files_belong_to_the_tree_they_are_asked_from(repo: TemporaryRepo) -> None:
    other = TemporaryRepo.create(repo.path.parent / "other", repo.environment)
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.path), "sub")
    sub = repo.path / "sub"
    outer = WorktreePaths(find_layout(str(repo.path), {}), fold_case=False, nfc=True)
    inner = WorktreePaths(find_layout(str(sub), {}), fold_case=False, nfc=True)
    assert outer.locate("sub/README.md", str(repo.path)) == ("sub/README.md", False)
    assert inner.locate("README.md", str(sub)) == ("README.md", False)
    with pytest.raises(Refusal) as caught:
        inner.locate("../README.md", str(sub))
    assert caught.value.code == "resource.outside"


def test_a_worktree_named_by_the_environment_needs_no_git_file(repo: TemporaryRepo, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    environment = {"GIT_DIR": str(repo.path / ".git"), "GIT_WORK_TREE": str(tmp_path / "tree")}
    places = WorktreePaths(find_layout(str(tmp_path), environment), fold_case=False, nfc=True)
    assert places.locate("a/b.py", str(tmp_path / "tree")) == ("a/b.py", False)


def test_a_worktree_of_a_bare_repository(repo: TemporaryRepo) -> None:
    bare, tree = repo.path.parent / "bare.git", repo.path.parent / "tree"
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(bare))
    repo.git("worktree", "add", "--quiet", "-b", "work", str(tree), at=bare)
    places = WorktreePaths(find_layout(str(tree), {}), fold_case=False, nfc=True)
    assert places.locate("README.md", str(tree)) == ("README.md", False)
    with pytest.raises(Refusal) as caught:
        places.locate(str(bare / "config"), "/")
    assert caught.value.code == "resource.bad"


def test_where_two_spellings_are_one_the_way_to_the_worktree_may_be_spelt_otherwise(
    repo: TemporaryRepo, tmp_path: Path
) -> None:
    tree = tmp_path / "Trée"
    tree.mkdir()
    environment = {"GIT_DIR": str(repo.path / ".git"), "GIT_WORK_TREE": str(tree)}
    layout = find_layout(str(tree), environment)
    typed = unicodedata.normalize("NFD", str(tmp_path / "TRÉE")) + "/A.py"
    assert WorktreePaths(layout, fold_case=True, nfc=True).locate(typed, "/") == ("A.py", False)
    for fold_case, nfc in ((False, True), (True, False), (False, False)):
        with pytest.raises(Refusal):
            WorktreePaths(layout, fold_case=fold_case, nfc=nfc).locate(typed, "/")
