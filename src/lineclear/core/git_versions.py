"""Which versions of git can do the work. Starts nothing."""

from __future__ import annotations

from lineclear.core.words.refusals import refuse

# `merge-tree --write-tree` merges without a worktree: nothing lands without it.
LEAST = (2, 38)
LEAST_WORDS = "2.38"


def is_new_enough(said: str) -> bool:
    """`said`: the output of `git --version`, such as "git version 2.39.5 (Apple Git-154)". A version that
    cannot be read counts as new."""
    numbers = (said.split()[2:3] or [""])[0].split(".")[:2]
    if len(numbers) < 2 or not all(number.isdecimal() for number in numbers):
        return True
    return (int(numbers[0]), int(numbers[1])) >= LEAST


def require_git(said: str) -> None:
    """Refuse a git that could start work and never land it. `said` is "" if there is no git."""
    if not said:
        raise refuse("git.old/none", least=LEAST_WORDS)
    if not is_new_enough(said):
        raise refuse("git.old", found=said, least=LEAST_WORDS)
