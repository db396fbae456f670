"""Where a command moves a branch, from its text alone."""

from __future__ import annotations

import pytest

from lineclear.core.agents.git_commands import moves_elsewhere, verb_of


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("git merge x", []),
        ("git -C /main merge x", [("/main", "merge")]),
        ("git -c core.hooksPath= -C /main commit -am x", [("/main", "commit")]),
        ("cd /main && git reset --hard HEAD~1", [("/main", "reset")]),
        ("(cd ../main; X=1 git pull)\ngit status", [("/own/../main", "pull")]),
        ("git --work-tree=/main --git-dir /main/.git rebase x", [("/main", "rebase")]),
        ("git -C /main log && git -C /main status", []),
        ("git -C /own commit -m 'cd /main && git merge'", []),
        ("echo git -C /main merge x", []),
        ("cd /main && echo 'unfinished", []),
    ],
)
def test_the_directories_in_which_git_moves_a_branch(command: str, found: list[tuple[str, str]]) -> None:
    assert moves_elsewhere(command, "/own") == found


def test_the_verb_stands_after_gits_own_options() -> None:
    assert verb_of(["git", "-C", "merge", "--no-pager", "reset", "--hard"]) == "reset"
    assert verb_of(["git"]) == ""
