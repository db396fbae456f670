"""Where histories parted and who wrote what, as git tells it: on random histories, and on odd commits."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing

import pytest

from lineclear.core.queue.landing_results import Author
from lineclear.git.commits import Commits
from lineclear.git.landing import CloneGit
from lineclear.git.layout import find_layout
from lineclear.git.object_store import ObjectStore
from lineclear.git.objects import COMMIT
from lineclear.git.run import GitFailed
from tests.repository import TemporaryRepo

History = dict[str, list[str]]  # commit -> parents


@pytest.fixture
def store(repo: TemporaryRepo) -> Iterator[ObjectStore]:
    with ObjectStore(str(repo.path)) as store:
        yield store


def ancestors(history: History, commit: str) -> set[str]:
    """With the commit itself."""
    found, waiting = {commit}, [commit]
    while waiting:
        fresh = [parent for parent in history[waiting.pop()] if parent not in found]
        found.update(fresh)
        waiting += fresh
    return found


def parted(history: History, left: str, right: str) -> tuple[set[str], set[str]]:
    ours, theirs = ancestors(history, left), ancestors(history, right)
    common = ours & theirs
    lower = {below for commit in common for below in ancestors(history, commit) - {commit}}
    return common - lower, theirs - ours


def random_history(dice: random.Random, store: ObjectStore, tree: str, clock: str) -> History:
    history: History = {}
    for number in range(dice.randint(4, 24)):
        known = list(history)[-6:]
        parents = dice.sample(known, min(len(known), dice.choice([0, 1, 1, 2, 2, 2, 2, 3])))
        at_s = 1_000_000_000 + {"true": number, "still": 0, "wrong": dice.randint(0, 30)}[clock]
        who = f"A <a@x> {at_s} +0000"
        words = f"{number} {dice.random()}"
        history[Commits(store).write(tree, parents, words, author=who, committer=who)] = parents
    return history


@pytest.mark.parametrize("clock", ["true", "still", "wrong"])
def test_histories_part_where_the_definition_says(
    repo: TemporaryRepo, store: ObjectStore, clock: str
) -> None:
    dice, tree, commits = random.Random(clock), repo.git("rev-parse", "main^{tree}"), Commits(store)
    crossed = unrelated = 0
    for _ in range(80):
        history = random_history(dice, store, tree, clock)
        left, right = dice.sample(list(history)[-5:], k=2)
        bases, own = parted(history, left, right)
        found = commits.bases(left, right)
        assert (len(found), set(found)) == (len(bases), bases)
        if clock != "wrong":
            assert set(commits.own(left, right)) == own
        crossed += len(bases) > 1
        unrelated += not bases
    assert crossed > 2
    assert unrelated > 2


def test_an_unknown_commit_parted_from_nothing(repo: TemporaryRepo, store: ObjectStore) -> None:
    main, unknown = repo.git("rev-parse", "main"), "0" * 39 + "1"
    assert Commits(store).bases(main, unknown) == []
    with pytest.raises(GitFailed):
        Commits(store).bases(unknown, main)


def test_a_shallow_clone_ends_where_it_ends(repo: TemporaryRepo) -> None:
    for number in range(3):
        repo.commit(f"Commit {number}", {"a": f"{number}\n"})
    place = repo.path.parent / "shallow"
    repo.git("clone", "-q", "--depth=2", repo.path.as_uri(), str(place))
    clone = TemporaryRepo(place, repo.environment)
    ends = clone.git("rev-parse", "HEAD"), clone.git("rev-parse", "HEAD^")
    with ObjectStore(str(place)) as store:
        assert Commits(store).bases(ends[1], ends[0]) == [ends[1]]
        assert Commits(store).bases(ends[0], ends[1]) == [ends[1]]


@pytest.mark.parametrize(
    ("line", "more", "who"),
    [
        (b"A B <a@x> 1500000000 +0100", b"", ("A B", "a@x", "1500000000 +0100")),
        (b"<a@x> 1500000000 +0000", b"", ("", "a@x", "1500000000 +0000")),
        (b"A <> 1500000000 +0000", b"", ("A", "", "1500000000 +0000")),
        (b"A <a@x>", b"", ("A", "a@x", "")),
        (b"A <a@x> soon", b"", ("A", "a@x", "")),
        (b"J\xc3\xb6rg <j@x> 1500000000 +0000", b"", ("J\xf6rg", "j@x", "1500000000 +0000")),
        (b"J\xf6rg <j@x> 1500000000 +0000", b"", ("J\udcf6rg", "j@x", "1500000000 +0000")),
        (b"J\xf6rg <j@x> 1500000000 +0000", b"encoding ISO-8859-1\n", ("J\xf6rg", "j@x", "1500000000 +0000")),
        (b"J\xf6rg <j@x> 1500000000 +0000", b"encoding none\n", ("J\udcf6rg", "j@x", "1500000000 +0000")),
        (b"nobody at all", b"", ("", "", "")),
        (
            b"A <a@x> 1500000000 +0000",
            b"gpgsig -----BEGIN\n author y\n -----END\n",
            ("A", "a@x", "1500000000 +0000"),
        ),
    ],
)
def test_authors_are_read_as_far_as_they_can_be(
    repo: TemporaryRepo, store: ObjectStore, line: bytes, more: bytes, who: tuple[str, str, str]
) -> None:
    main, tree = repo.git("rev-parse", "main"), repo.git("rev-parse", "main^{tree}")
    data = b"tree %s\nparent %s\nauthor %s\ncommitter X <x@x> 1500000000 +0200\n%s\nauthor z\n" % (
        tree.encode(), main.encode(), line, more,
    )  # fmt: skip
    tip = store.write_one(COMMIT, data, like=tree)
    (author,) = Commits(store).own(main, tip).values()
    assert author is not None
    assert (author.name, author.email, author.date) == who
    assert Commits(store).tree_of(tip) == tree


def test_a_commit_is_read_as_it_was_written(repo: TemporaryRepo) -> None:
    base = repo.commit("Base", {"a": "1\n"})
    tree = repo.git("rev-parse", "main^{tree}")
    with closing(CloneGit(find_layout(str(repo.path), {}), "main")) as git:
        made = git.commit(tree, [base], "Words\n", Author("J\xf6rg", "j@x", "1500000000 +0100"))
        assert git.history.tree_of(made) == tree
        (author,) = git.history.authors(base, made)
    assert (author.name, author.email, author.date) == ("J\xf6rg", "j@x", "1500000000 +0100")
    assert repo.git("log", "-1", "--format=%an %ae %ad", "--date=raw", made) == "J\xf6rg j@x 1500000000 +0100"
