"""Copying and linking into a worktree: what is there stays, nothing is written through a symlink."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lineclear.host.copying import CannotBring, apply_steps, content_digest, plan_steps, take_out


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    (root / "cache" / "deep").mkdir(parents=True)
    (root / "cache" / "deep" / "f").write_text("cached")
    (root / "cache" / "link").symlink_to("deep/f")
    (root / ".env").write_text("TOKEN=1")
    (root / ".env").chmod(0o600)
    return root


@pytest.fixture
def target(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "target"
    root.mkdir()
    return root


def bring(source: Path, target: Path, *, copies: list[str], links: list[str]) -> list[tuple[str, str]]:
    steps = plan_steps(str(target), copies=copies, links=links)
    apply_steps(str(source), str(target), steps)
    return [(step.how, step.path) for step in steps]


def test_files_come_with_their_permissions_and_directories_with_all_in_them(
    source: Path, target: Path
) -> None:
    bring(source, target, copies=[".env", "cache"], links=[])
    assert (target / ".env").read_text() == "TOKEN=1"
    assert (target / ".env").stat().st_mode & 0o777 == 0o600
    assert (target / "cache/deep/f").read_text() == "cached"
    assert os.readlink(target / "cache/link") == "deep/f"


def test_a_link_leads_to_the_source_and_wins_over_a_copy(source: Path, target: Path) -> None:
    assert bring(source, target, copies=["cache"], links=["cache"]) == [("link", "cache")]
    assert os.readlink(target / "cache") == str(source / "cache")


def test_what_is_there_already_is_not_touched(source: Path, target: Path) -> None:
    (target / ".env").write_text("mine")
    assert bring(source, target, copies=[".env"], links=[]) == []
    assert (target / ".env").read_text() == "mine"


def test_nothing_is_written_through_a_symlink_of_the_branch(
    source: Path, target: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (target / "cache").symlink_to(outside)
    assert bring(source, target, copies=["cache/deep"], links=["cache/link"]) == []
    assert list(outside.iterdir()) == []


def test_another_repository_inside_and_pipes_are_left_out(source: Path, target: Path) -> None:
    (source / "cache" / "inner" / ".git").mkdir(parents=True)
    os.mkfifo(source / "cache" / "pipe")
    bring(source, target, copies=["cache"], links=[])
    assert sorted(path.name for path in (target / "cache").iterdir()) == ["deep", "link"]


def test_what_vanished_in_between_is_passed_over(source: Path, target: Path) -> None:
    bring(source, target, copies=["gone", ".env"], links=[])
    assert [path.name for path in target.iterdir()] == [".env"]


def test_what_cannot_be_written_is_named(source: Path, target: Path) -> None:
    (target / "cache").write_text("a file where a directory is needed")
    with pytest.raises(CannotBring) as caught:
        apply_steps(str(source), str(target), plan_steps(str(target), copies=["cache/deep"], links=[]))
    assert caught.value.path == "cache/deep"


def test_the_digest_of_a_copy_is_its_sources_until_one_of_them_changes(source: Path, target: Path) -> None:
    apply_steps(str(source), str(target), plan_steps(str(target), copies=["cache", ".env"], links=[]))
    for name in ("cache", ".env"):
        assert content_digest(str(source / name)) == content_digest(str(target / name)) != ""
    (target / "cache/deep/g").write_text("")
    assert content_digest(str(source / "cache")) != content_digest(str(target / "cache"))
    (target / ".env").chmod(0o644)
    assert content_digest(str(source / ".env")) != content_digest(str(target / ".env"))
    assert content_digest(str(target / "gone")) == ""


def test_what_was_brought_is_taken_out_but_nothing_through_a_link(source: Path, target: Path) -> None:
    apply_steps(str(source), str(target), plan_steps(str(target), copies=[".env"], links=["cache"]))
    take_out(str(target), ".env")
    take_out(str(target), "cache/deep")
    assert (source / "cache/deep/f").exists()
    take_out(str(target), "cache")
    take_out(str(target), "gone")
    assert list(target.iterdir()) == []
    assert (source / "cache/deep/f").exists()
