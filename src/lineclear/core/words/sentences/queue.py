"""Refusals about the queue, landings, checks and phases: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import FAILED, FINDINGS, HELD, NOT_ALLOWED, NOT_FOUND, TIMED_OUT, USAGE, Row

ROWS = {
    "queue.unknown": Row(
        NOT_FOUND, "There is no candidate {candidate:30}.", next="lineclear queue list --all"
    ),
    "queue.ended": Row(
        NOT_ALLOWED,
        "Cannot {verb} {candidate}: it is {state}.",
        next="lineclear queue show {candidate}",
        words=("verb",),
    ),
    "queue.not_held": Row(
        NOT_ALLOWED,
        "{candidate} is {state}; only a candidate that is held or needs you can be retried.",
        next="lineclear queue show {candidate}",
    ),
    "queue.order": Row(
        USAGE,
        "{candidate} cannot come before {other}, which it builds on.",
        next="lineclear queue show {candidate}",
    ),
    "queue.own": Row(
        NOT_ALLOWED,
        "{agent:32} cannot review {candidate}: it is the work of its own family.",
        who="A person has to review it, or an agent that does not belong to {family:32}.",
        next="lineclear queue show {candidate}",
    ),
    "queue.changed": Row(
        NOT_ALLOWED,
        "{candidate} has new commits since you reviewed it.",
        who="They are on {branch}.",
        next="lineclear queue show {candidate}",
        words=("branch",),
    ),
    "queue.running": Row(
        HELD,
        "Another process is already running the queue.",
        who=("{agent:32} runs it and lands what you submit.", ""),
        next="lineclear queue list",
    ),
    "queue.nothing_to_undo": Row(
        NOT_FOUND,
        "{agent:32} has no landing left to undo.",
        next="lineclear queue list --all",
    ),
    "queue.not_landed": Row(
        NOT_FOUND,
        "{candidate} is {state}, so there is no landing to undo.",
        next="lineclear queue show {candidate}",
    ),
    "queue.twice": Row(
        HELD,
        (
            "{branch} is already queued as {candidate}, for {task}.",
            "{branch} is already queued as {candidate}, without a task.",
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
            "{candidate} was already undone by {by}",
            "{candidate} was already undone; main has none of its changes.",
        ),
        next=("lineclear queue show {by}", "lineclear queue show {candidate}"),
    ),
    "queue.undo_conflicts": Row(
        FINDINGS,
        "Cannot undo {candidate} on its own: later landings build on it.",
        who=("{where:110}; landed since: {makers:70}.", "{where:120}."),
        next="git revert --help",
        words=("makers", "where"),
    ),
    "land.main": Row(
        USAGE,
        "{branch} is the branch that work lands on; it cannot land on itself.",
        next="lineclear land BRANCH",
    ),
    "land.detached": Row(
        USAGE, "{path:120} is not on a branch (detached HEAD).", next="git switch -c BRANCH"
    ),
    "land.unborn": Row(
        NOT_FOUND,
        'The branch that work lands on, "{main}", has no commits here.',
        next="git branch --list --all '*{main}'",
    ),
    "land.unrelated": Row(
        NOT_ALLOWED,
        "{branch} and {main} share no history, so they cannot be merged.",
        next="git log --oneline --max-count 5 {branch:BRANCH}",
    ),
    "land.nothing": Row(
        NOT_FOUND,
        "{branch} has no commits that {main} lacks.",
        who="{task} stays yours; commit your work first, or end the task without a branch.",
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
        who="Nothing landed, and the task stays with you.",
        next="lineclear task show {task}",
        words=("line",),
    ),
    "branch.unknown": Row(
        NOT_FOUND,
        'There is no branch "{branch}" here.',
        who=("{task} stays with you until you hand it over with a branch that exists.", ""),
        next="git branch --list",
        words=("task",),
    ),
    "branch.elsewhere": Row(
        NOT_FOUND,
        "The branch {branch:48} of {task} is not in this clone, and not on its remote.",
        who=(
            "{agent:24} made it at {path:60}; land it there.",
            "It was made in another clone; land it there.",
        ),
        next="lineclear land --task {task}",
    ),
    "checks.tree": Row(
        FAILED,
        "The check tree {tree:32} could not be prepared.",
        who='The cause: "{why:120}"',
        next="lineclear doctor",
    ),
    "checks.not_a_workplace": Row(
        NOT_ALLOWED,
        "{path:90} is a check tree; do not work in it.",
        who="The queue can move it to another commit at any time.",
        next="lineclear worktree list",
    ),
    "phase.order": Row(
        USAGE,
        "{wanted} does not follow {phase}.",
        who="The order is parallel, integrate, test; every phase can go back to parallel.",
        next="lineclear phase {following}",
        words=("following",),
    ),
    "phase.busy": Row(HELD, "Another process is already working on this phase.", next="lineclear phase"),
    "phase.no_check": Row(
        USAGE,
        "Cannot start the test phase: no command that runs all tests is set.",
        who="lineclear.toml on main does not set checks.full.",
        next="lineclear config show",
    ),
    "phase.unfinished": Row(
        HELD,
        "Integration is not finished: {open:undecided proposal}.",
        who="The owner or a person has to decide.",
        next="lineclear proposal list",
    ),
    "phase.unfinished/queued": Row(
        HELD,
        "Integration is not finished: {open:undecided proposal}.",
        who="In the queue: {waiting}.",
        next="lineclear queue run --once",
    ),
    "phase.unsettled": Row(
        FINDINGS,
        "The full check could not run on {short}: {why:140}.",
        next="lineclear phase test",
        words=("short", "why"),
    ),
    "migration.folder": Row(
        NOT_FOUND,
        ("Migrations are in {folders:120}.", "No folder on main has migrations yet."),
        who="Name the folder for the next migration.",
        next="lineclear migration next FOLDER",
    ),
    "queue.remote": Row(
        NOT_ALLOWED,
        'Cannot land: queue.remote is "{remote:60}", which is not a remote of this clone.',
        who="It has to be the name of a remote in this clone's git config; a path or a URL does not count.",
        next="git remote -v",
    ),
    "pr.remote": Row(
        NOT_FOUND,
        'Cannot open a pull request: there is no remote "{remote}".',
        next="git remote --verbose",
    ),
    "pr.tool": Row(
        FAILED,
        "Pull requests on {remote} need `{tool}`, which is not installed.",
        who="Install it, or land the branch here.",
        next="lineclear land",
    ),
    "pr.login": Row(NOT_ALLOWED, "`{tool}` is not logged in: {words:140}", next="{tool} auth login"),
    "pr.push": Row(FAILED, "{remote:40} rejected {branch}: {words:120}", next="git fetch {remote:REMOTE}"),
    "pr.failed": Row(
        FAILED,
        "`{tool}` could not open the pull request: {words:150}",
        who="The branch was pushed; trying again is safe.",
        next="{tool} auth status",
    ),
    "git.failed": Row(
        FAILED, "git {command:30} failed: {cause:160}", next="git fsck --connectivity-only", words=("cause",)
    ),
}
