"""A backup that is put back: nothing of it is lost, and no fence is given out a second time."""

from __future__ import annotations

import os
import shutil

from lineclear.app.claims import ask
from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.words.refusals import Refusal
from lineclear.wiring.copies import backup, copy_store
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.starting import init_repo
from tests.repository import TemporaryRepo


def opened(repo: TemporaryRepo) -> Repo:
    return open_repo(str(repo.path), os.environ)


def claim(repo: Repo, agent: str, path: str) -> int:
    request = Request(agent, "main", EXCLUSIVE, [repo.resource(path, repo.layout.worktree)], ttl_ms=60_000)
    fence: int = ask(repo.store, repo.liveness, Caller(agent), request)["fence"]
    return fence


def test_after_a_backup_is_put_back_fences_go_on_above_all_that_were_given(repo: TemporaryRepo) -> None:
    init_repo(str(repo.path), os.environ)
    first = opened(repo)
    claim(first, "ann", "a.py")
    file = repo.path.parent / "backup.db"
    backup(first, str(file))
    newest = max(claim(first, "ann", f"{number}.py") for number in range(50))
    first.close()
    state = repo.path / ".git" / "lineclear"
    for name in ("state.db", "state.db-wal", "state.db-shm"):
        (state / name).unlink()
    shutil.copy(file, state / "state.db")

    second = opened(repo)
    assert claim(second, "bob", "a.py") > newest + 100_000  # ann's lease of before is over, too
    assert audit(second.store)["findings"] == []
    assert second.store.check() == []
    second.close()
    third = opened(repo)
    assert claim(third, "bob", "b.py") < newest + 2_000_000  # only once: the next opening is an ordinary one
    third.close()


def test_a_copy_by_replay_says_the_same(repo: TemporaryRepo) -> None:
    init_repo(str(repo.path), os.environ)
    first = opened(repo)
    for number in range(10):
        claim(first, "ann", f"{number}.py")
    made = copy_store(first, str(repo.path.parent / "replica"))
    assert made == {"events": audit(first.store)["events"], "engine": "sqlite"}
    try:
        copy_store(first, str(repo.path.parent / "replica"))
    except Refusal as refusal:
        assert refusal.code == "store.not_empty"
    else:
        raise AssertionError("a store that is not empty was written over")
    first.close()
