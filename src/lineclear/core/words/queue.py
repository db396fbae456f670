"""Refusals about the queue, landings, checks and phases: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.queue.landing import makers_of, one_line, tell_conflict
from lineclear.core.words.refusals import (
    FAILED,
    FINDINGS,
    HELD,
    NOT_ALLOWED,
    NOT_FOUND,
    TIMED_OUT,
    USAGE,
    Row,
    refuse,
    shorten,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from lineclear.core.words.refusals import Refusal

ROWS = {
    "queue.unknown": Row(
        NOT_FOUND, "There is no candidate {candidate:30}.", next="lineclear queue list --all"
    ),
    "queue.ended": Row(
        NOT_ALLOWED,
        "{candidate} is {state}, so it is too late for {verb}.",
        next="lineclear queue show {candidate}",
        words=("verb",),
    ),
    "queue.not_held": Row(
        NOT_ALLOWED,
        "{candidate} is {state}; only what is held or needs you can be tried again.",
        next="lineclear queue show {candidate}",
    ),
    "queue.order": Row(
        USAGE,
        "{candidate} cannot come before {other}: it builds on it.",
        next="lineclear queue show {candidate}",
    ),
    "queue.own": Row(
        NOT_ALLOWED,
        "{candidate} is the work of {agent:32}, who cannot approve it.",
        who="Another agent or a person has to look at it.",
        next="lineclear queue show {candidate}",
    ),
    "queue.changed": Row(
        NOT_ALLOWED,
        "{candidate} has new commits since you looked at it.",
        who="They are on {branch}.",
        next="lineclear queue show {candidate}",
        words=("branch",),
    ),
    "queue.running": Row(
        HELD,
        "Another process runs the queue already.",
        who=("It is {agent:32}; what you submit is landed there.", ""),
        next="lineclear queue list",
    ),
    "queue.nothing_to_undo": Row(
        NOT_FOUND,
        "Nothing that {agent:32} landed is left to be taken back.",
        next="lineclear queue list --all",
    ),
    "queue.not_landed": Row(
        NOT_FOUND,
        "{candidate} is {state}, so there is no landing to take back.",
        next="lineclear queue show {candidate}",
    ),
    "queue.twice": Row(
        HELD,
        (
            "{branch} waits already as {candidate}, for {task}.",
            "{branch} waits already as {candidate}, for no task.",
        ),
        next="lineclear queue show {candidate}",
        words=("task",),
    ),
    "queue.paused": Row(
        TIMED_OUT,
        "The queue is paused; nothing lands.",
        who=("{agent:32} paused it: {why:120}.", "{agent:32} paused it."),
        next="lineclear queue resume",
        words=("why",),
    ),
    "queue.undone": Row(
        NOT_FOUND,
        (
            "{candidate} is taken back already, by {by}",
            "{candidate} is taken back already; main holds nothing of it.",
        ),
        next=("lineclear queue show {by}", "lineclear queue show {candidate}"),
    ),
    "queue.undo_conflicts": Row(
        FINDINGS,
        "{candidate} cannot be taken back by itself: what landed since builds on it.",
        who=("{where:110}; since then {makers:70}.", "{where:120}."),
        next="git revert --help",
        words=("makers", "where"),
    ),
    "land.main": Row(
        USAGE,
        "{branch} is the branch that work lands on; it cannot land on itself.",
        next="lineclear land BRANCH",
    ),
    "land.detached": Row(
        USAGE, "{path:120} is on no branch, so there is nothing to name.", next="git switch -c BRANCH"
    ),
    "land.unborn": Row(
        NOT_FOUND,
        'The branch that work lands on, "{main}", has no commit here.',
        next="git branch --list --all '*{main}'",
    ),
    "land.unrelated": Row(
        NOT_ALLOWED,
        "{branch} and {main} share no history, so there is nothing to merge against.",
        next="git log --oneline --max-count 5 {branch:BRANCH}",
    ),
    "land.nothing": Row(
        NOT_FOUND,
        "{branch} holds no commit that {main} does not have.",
        who="{task} stays yours; commit your work first, or end it without a branch.",
        next="git status",
        words=("main",),
    ),
    "land.other_branch": Row(
        USAGE,
        "{task} was handed over with the branch {branch}, not {given}.",
        next="lineclear land --task {task}",
    ),
    "land.busy": Row(
        TIMED_OUT,
        "Another landing has been under way in this clone for more than {waited_s} s.",
        next="lineclear log --since 1h",
    ),
    "land.rejected": Row(
        FINDINGS,
        "The work is not yet what {task} asks for: {line:140}",
        who="Nothing was landed, and the task stays with you.",
        next="lineclear task show {task}",
        words=("line",),
    ),
    "branch.unknown": Row(
        NOT_FOUND,
        'There is no branch "{branch}" here.',
        who=("{task} stays with you until it is handed over with one that is.", ""),
        next="git branch --list",
        words=("task",),
    ),
    "checks.tree": Row(
        FAILED,
        "The check tree {tree:32} cannot be made ready.",
        who='What was found: "{why:120}"',
        next="lineclear doctor",
    ),
    "checks.not_a_workplace": Row(
        NOT_ALLOWED,
        "{path:90} is a check tree, where nobody works.",
        who="The queue brings it to another commit whenever it likes.",
        next="lineclear worktree list",
    ),
    "phase.order": Row(
        USAGE,
        "{wanted} does not follow {phase}.",
        who="The order is parallel, integrate, test; back to parallel from anywhere.",
        next="lineclear phase {following}",
        words=("following",),
    ),
    "phase.busy": Row(HELD, "Another process is at work on this phase already.", next="lineclear phase"),
    "phase.no_check": Row(
        USAGE,
        "There is no command that runs all tests, so there is nothing to do in the phase test.",
        who="lineclear.toml on main states none as checks.full.",
        next="lineclear config show",
    ),
    "phase.unfinished": Row(
        HELD,
        "Integration is not done: {open:undecided proposal}.",
        who="Their owners decide, or a person.",
        next="lineclear proposal list",
    ),
    "phase.unfinished/queued": Row(
        HELD,
        "Integration is not done: {open:undecided proposal}.",
        who="{waiting} of them in the queue.",
        next="lineclear queue run --once",
    ),
    "phase.unsettled": Row(
        FINDINGS,
        "All tests could not be run on {short}: {why:140}.",
        next="lineclear phase test",
        words=("short", "why"),
    ),
    "migration.folder": Row(
        NOT_FOUND,
        ("Migrations are in {folders:120}.", "No folder on main has migrations yet."),
        who="Name the folder that the next one belongs to.",
        next="lineclear migration next FOLDER",
    ),
    "pr.remote": Row(
        NOT_FOUND,
        'There is no remote "{remote}" that a pull request could be opened on.',
        next="git remote --verbose",
    ),
    "pr.tool": Row(
        FAILED,
        "A pull request on {remote} is opened through `{tool}`, which is not installed.",
        who="Install it, or land the branch here.",
        next="lineclear land",
    ),
    "pr.login": Row(NOT_ALLOWED, "`{tool}` is not logged in: {words:140}", next="{tool} auth login"),
    "pr.push": Row(
        FAILED, "{remote:40} does not take {branch}: {words:120}", next="git fetch {remote:REMOTE}"
    ),
    "pr.failed": Row(
        FAILED,
        "`{tool}` could not open it: {words:160}",
        who="The branch is pushed; once more is harmless.",
        next="{tool} auth status",
    ),
    "git.failed": Row(
        FAILED, "git {command:30} failed: {cause:160}", next="git fsck --connectivity-only", words=("cause",)
    ),
}


def not_as_asked(task: str, reason: str) -> Refusal:
    return refuse("land.rejected", task=task, reason=reason, line=one_line(reason))


def git_failed(command: str, words: str) -> Refusal:
    words = words.strip()
    return refuse("git.failed", command=command, words=words, cause=words.rpartition("\n")[2])


def not_integrated(open_count: int, waiting: int) -> Refusal:
    """`open_count` proposals are undecided; `waiting` of them are candidates in the queue."""
    return refuse(
        "phase.unfinished/queued" if waiting else "phase.unfinished", open=open_count, waiting=waiting
    )


def full_check_unsettled(commit: str, why: str) -> Refusal:
    return refuse("phase.unsettled", commit=commit, short=commit[:12], why=why)


def undo_conflicts(number: str, conflicts: Sequence[dict[str, Any]]) -> Refusal:
    more = f" and {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
    where = shorten(tell_conflict(conflicts[0]), 100) + more
    makers = makers_of(conflicts)
    return refuse(
        "queue.undo_conflicts", candidate=number, conflicts=list(conflicts), where=where, makers=makers
    )
