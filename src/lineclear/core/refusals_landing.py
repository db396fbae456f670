"""Refusals about landing a branch. Words only, no decision."""

from __future__ import annotations

from lineclear.core.queue.landing import one_line
from lineclear.core.refusals import (
    FAILED,
    FINDINGS,
    NOT_ALLOWED,
    NOT_FOUND,
    TIMED_OUT,
    USAGE,
    Refusal,
    pasted,
    shorten,
)


def branch_unknown(branch: str, task: str = "") -> Refusal:
    """`task`: the one that was to be handed over with it."""
    return Refusal(
        "branch.unknown",
        f'There is no branch "{shorten(branch)}" here.',
        who=f"{task} stays with you until it is handed over with one that is." if task else "",
        next_="git branch --list",
        exit_code=NOT_FOUND,
        branch=shorten(branch, 250),
    )


def branch_is_main(branch: str) -> Refusal:
    return Refusal(
        "land.main",
        f"{shorten(branch)} is the branch that work lands on; it cannot land on itself.",
        next_="lineclear land BRANCH",
        exit_code=USAGE,
        branch=shorten(branch, 250),
    )


def no_branch(place: str) -> Refusal:
    return Refusal(
        "land.detached",
        f"{shorten(place, 120)} is on no branch, so there is nothing to name.",
        next_="git switch -c BRANCH",
        exit_code=USAGE,
        path=shorten(place, 200),
    )


def main_unborn(main: str) -> Refusal:
    return Refusal(
        "land.unborn",
        f'The branch that work lands on, "{shorten(main)}", has no commit here.',
        next_=f"git branch --list --all '*{pasted(main, 'main')}'",
        exit_code=NOT_FOUND,
        main=shorten(main, 250),
    )


def unrelated(branch: str, main: str) -> Refusal:
    return Refusal(
        "land.unrelated",
        f"{shorten(branch)} and {shorten(main)} share no history, so there is nothing to merge against.",
        next_=f"git log --oneline --max-count 5 {pasted(branch, 'BRANCH')}",
        exit_code=NOT_ALLOWED,
        branch=shorten(branch, 250),
        main=shorten(main, 250),
    )


def nothing_to_land(branch: str, main: str, task: str) -> Refusal:
    return Refusal(
        "land.nothing",
        f"{shorten(branch)} holds no commit that {shorten(main)} does not have.",
        who=f"{task} stays yours; commit your work first, or end it without a branch.",
        next_="git status",
        exit_code=NOT_FOUND,
        branch=shorten(branch, 250),
        task=task,
    )


def other_branch(task: str, handed: str, given: str) -> Refusal:
    return Refusal(
        "land.other_branch",
        f"{task} was handed over with the branch {shorten(handed)}, not {shorten(given)}.",
        next_=f"lineclear land --task {task}",
        exit_code=USAGE,
        task=task,
        branch=shorten(handed, 250),
        given=shorten(given, 250),
    )


def not_as_asked(task: str, reason: str) -> Refusal:
    return Refusal(
        "land.rejected",
        f"The work is not yet what {task} asks for: {shorten(one_line(reason), 140)}",
        who="Nothing was landed, and the task stays with you.",
        next_=f"lineclear task show {task}",
        exit_code=FINDINGS,
        task=task,
        reason=shorten(reason, 2_000),
    )


def landing_busy(waited_s: int) -> Refusal:
    return Refusal(
        "land.busy",
        f"Another landing has been under way in this clone for more than {waited_s} s.",
        next_="lineclear log --since 1h",
        exit_code=TIMED_OUT,
        waited_s=waited_s,
    )


def git_failed(command: str, words: str) -> Refusal:
    last = words.strip().split("\n")[-1]
    return Refusal(
        "git.failed",
        f"git {shorten(command, 30)} failed: {shorten(last, 160)}",
        next_="git fsck --connectivity-only",
        exit_code=FAILED,
        command=shorten(command, 60),
        words=shorten(words.strip(), 500),
    )
