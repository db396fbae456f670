"""Replacing a page while somebody writes it: the words of the other writer are taken in, never lost."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.app.ports import Caller
from lineclear.app.tasks import add, list_tasks
from lineclear.core.tasks.lists import TaskDraft
from lineclear.mirror import publishing
from lineclear.mirror.checking import examine_files
from lineclear.mirror.files import create, read_small, replace_and_look
from lineclear.mirror.state import MirrorState
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.starting import init_repo
from tests.repository import TemporaryRepo

MOST = 10_000


@pytest.fixture
def opened(repo: TemporaryRepo) -> Iterator[Repo]:
    init_repo(str(repo.path), repo.environment)
    environ = {**repo.environment, "LINECLEAR_MIRROR_TASKS": "true"}
    found = open_repo(str(repo.path), environ)
    yield found
    found.close()


def titles(opened: Repo) -> list[str]:
    return [task["title"] for task in opened.store.read(list_tasks)]


def test_what_was_written_meanwhile_is_handed_back(tmp_path: Path) -> None:
    page = tmp_path / "TASKS.md"
    page.write_bytes(b"newer")
    assert replace_and_look(str(tmp_path), str(page), b"ours", b"seen", MOST) == b"newer"
    assert page.read_bytes() == b"ours"
    assert list((tmp_path / ".lineclear").iterdir()) == []


def test_a_file_is_made_only_where_none_is(tmp_path: Path) -> None:
    target = tmp_path / "a.agent-lock"
    assert create(str(tmp_path), str(target), b"1")
    assert not create(str(tmp_path), str(target), b"2")
    assert target.read_bytes() == b"1"


@pytest.mark.parametrize("kind", ["directory", "pipe", "link", "large"])
def test_what_is_not_a_small_plain_file_is_not_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(tmp_path / "y")
    else:
        path.write_bytes(b"x" * (MOST + 1))
    with pytest.raises(OSError, match="x"):
        read_small(str(path), MOST)


def test_a_line_written_at_the_last_moment_is_taken_in(
    opened: Repo, repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = repo.path / "TASKS.md"
    publishing.publish(opened)
    add(opened.store, Caller("ada"), TaskDraft("", "First"))
    times: list[int] = []

    def late(*args: object) -> bytes:
        if len(times) < 2:
            times.append(1)
            page.write_text(page.read_text() + f"Words {len(times)}\n- [ ] Late {len(times)}\n")
        return replace_and_look(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(publishing, "replace_and_look", late)
    publishing.publish(opened)
    assert sorted(titles(opened)) == ["First", "Late 1", "Late 2"]
    text = page.read_text()
    assert [text.count(words) for words in ("Words 1", "Words 2", "Late 1", "Late 2")] == [1, 1, 1, 1]


def test_who_writes_faster_than_we_can_gets_its_words_back(
    opened: Repo, repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = repo.path / "TASKS.md"
    publishing.publish(opened)
    add(opened.store, Caller("ada"), TaskDraft("", "First"))
    times: list[int] = []

    def late(*args: object) -> bytes:
        times.append(1)
        page.write_text(page.read_text() + f"- [ ] Late {len(times)}\n")
        return replace_and_look(*args)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(publishing, "replace_and_look", late)
        publishing.publish(opened)
    os.utime(page, (time.time() - 5, time.time() - 5))
    publishing.publish(opened)
    assert sorted(titles(opened)) == ["First", *(f"Late {n}" for n in range(1, len(times) + 1))]


def test_a_page_that_is_being_written_is_left_alone_until_it_is_whole(
    opened: Repo, repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = repo.path / "TASKS.md"
    publishing.publish(opened)
    monkeypatch.setattr(publishing, "SETTLE_S", 3_600.0)
    monkeypatch.setattr(publishing, "SETTLE_LIMIT_S", 0.0)
    half = page.read_text()[:10]
    page.write_text(half)
    add(opened.store, Caller("ada"), TaskDraft("", "First"))
    publishing.publish(opened)
    assert page.read_text() == half


def test_a_failure_is_nobodys_trouble_and_the_doctor_tells_of_it(
    opened: Repo, repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> str:
        raise ValueError("a bug of ours")

    publishing.publish(opened)
    with monkeypatch.context() as patched:
        patched.setattr(publishing, "render_page", broken)
        add(opened.store, Caller("ada"), TaskDraft("", "First"))
        publishing.publish_quietly(opened)
    found = examine_files(str(repo.path), opened.environ)
    assert "the files could not be written: ValueError: a bug of ours" in [f["text"] for f in found]
    publishing.publish_quietly(opened)
    found = examine_files(str(repo.path), opened.environ)
    assert [f["state"] for f in found if f["what"] == "mirror"] == ["ok"]


def test_one_process_publishes_at_a_time(opened: Repo) -> None:
    publishing.publish(opened)
    with MirrorState(opened.state_directory, 0.0) as held:
        assert held.is_mine
        assert publishing.publish(opened, wait_s=0.0) is None
    assert publishing.publish(opened, wait_s=0.0) is not None
