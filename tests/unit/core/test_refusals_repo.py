"""The words of refusals about the repository, this host and bonds."""

from __future__ import annotations

import pytest

from lineclear.core import refusals_repo as words
from lineclear.core.refusals import Refusal

LONG = "/very" + "/long" * 100


@pytest.mark.parametrize(
    ("refusal", "code", "exit_code", "text"),
    [
        (words.not_a_repo("/a"), "repo.none", 5, "/a is not inside a git repository.\nNext: run `git init`."),
        (
            words.bare_repo("/a.git"),
            "repo.bare",
            4,
            "/a.git is a bare repository: it has no files to work on.\n"
            "Agents work in its linked worktrees.\n"
            "Next: run `git worktree add ../work`.",
        ),
        (
            words.broken_git_link("/a/.git", "/b"),
            "repo.broken_link",
            5,
            "/a/.git points to /b, which is not a git directory.\nNext: run `git worktree repair`.",
        ),
        (
            words.no_boot_id(),
            "host.no_boot_id",
            1,
            "This host does not say which boot it is in, so leases cannot be timed safely.\n"
            "Linux says it in /proc/sys/kernel/random/boot_id, macOS in `sysctl kern.bootsessionuuid`.\n"
            "Next: run `lineclear init --store postgresql://HOST/DATABASE`.",
        ),
        (
            words.bond_held("codex-2"),
            "bond.held",
            3,
            "The bond codex-2 is already held.\n"
            "Another live process holds it until that process ends.\n"
            "Next: run `lineclear`.",
        ),
    ],
)
def test_what_is_said(refusal: Refusal, code: str, exit_code: int, text: str) -> None:
    assert (refusal.code, refusal.exit_code, str(refusal)) == (code, exit_code, text)


@pytest.mark.parametrize(
    "refusal",
    [words.not_a_repo(LONG), words.bare_repo(LONG), words.broken_git_link(LONG, LONG), words.bond_held(LONG)],
)
def test_long_names_do_not_make_long_refusals(refusal: Refusal) -> None:
    assert len(str(refusal)) <= 300
    assert len(str(refusal).splitlines()) <= 3
