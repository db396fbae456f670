"""Refusals about claims, writes, the gate and hooks: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import FAILED, HELD, NOT_ALLOWED, NOT_FOUND, STALE, TIMED_OUT, USAGE, Row

ROWS = {
    "resource.bad": Row(
        USAGE, '"{resource}" is not a resource: {why:160}.', next="lineclear claim --help", words=("why",)
    ),
    "resource.scheme": Row(
        USAGE,
        '"{text}" has the unknown scheme "{scheme:20}".',
        who="Known: {known:80}. Declare others in lineclear.toml, [resources] schemes.",
        next="lineclear config show",
        words=("text",),
    ),
    "resource.outside": Row(
        NOT_ALLOWED,
        '"{resource}" is outside this repository.',
        who="The repository is {root:80}; for anything outside it, claim memory:NAME or api:NAME.",
        next="lineclear claim memory:NAME",
        words=("root",),
    ),
    "claim.ticket": Row(
        TIMED_OUT,
        "Ticket {ticket} is no longer in line.",
        who="Its owner was silent for too long or stopped waiting.",
        next="lineclear",
    ),
    "claim.held": Row(
        HELD,
        "Cannot claim {resource:36} ({asked}).",
        who="{holder:32} holds {held:36} ({mode}) {until}{about:?}.",
        next="lineclear claim {every} --mode {asked} --wait 10m",
        words=("about", "asked", "every", "until"),
    ),
    "claim.waiting": Row(
        HELD,
        "Cannot claim {resource:36} ({asked}).",
        who="{holder:32} is ahead of you, waiting for {held:36} ({mode}){about:?}.",
        next="lineclear claim {every} --mode {asked} --wait 10m",
        words=("about", "asked", "every", "until"),
    ),
    "claim.deadlock": Row(
        HELD,
        "Waiting for {resource} would cause a deadlock.",
        who="{chain:150}.",
        next="lineclear release --all",
    ),
    "claim.timeout": Row(
        TIMED_OUT,
        "{resource} did not become free within {waited_ms:duration}.",
        who="{holder:32} still holds it, until {clock} UTC.",
        next="lineclear task next",
        words=("clock", "waited_ms"),
    ),
    "claim.not_yours": Row(
        HELD,
        "Cannot release {resource}: it is not yours.",
        who="{holder:32} holds {held} {until}.",
        next="lineclear say --to {holder:AGENT} {plea}",
        words=("held", "plea", "until"),
    ),
    "claim.not_held": Row(
        NOT_FOUND,
        "Cannot release {resource}: you have not claimed it.",
        who=("Overlapping claims of yours: {inside:100}.", "Nobody holds it."),
        next=("lineclear release {yours:RESOURCE}", "lineclear who {resource:RESOURCE}"),
        words=("yours",),
    ),
    "claim.lock_file": Row(
        HELD,
        "{path:50} is locked by a file that lineclear did not write.",
        who=(
            '{lock:50} is {age_minutes} min old and expires after 30 min. It says "{words:50}".',
            "{lock:50} is {age_minutes} min old and expires after 30 min.",
        ),
        next="lineclear who {path:RESOURCE}",
        words=("age_minutes",),
    ),
    "fence.stale": Row(
        STALE,
        "Fence {fence} no longer covers {resource}.",
        who="{holder:32} was granted it later, with fence {newer_fence}.",
        next="lineclear who {resource:RESOURCE}",
    ),
    "write.integrated": Row(
        NOT_ALLOWED,
        "Cannot write {resource} while it is being integrated.",
        who="Only the integrator writes it until a person ends the integrate phase.",
        next="lineclear propose {resource:proposal}",
    ),
    "write.unlocked": Row(
        NOT_ALLOWED,
        "Cannot write {resource} without an exclusive claim.",
        next="lineclear claim {resource:RESOURCE} --mode exclusive",
    ),
    "write.read_only": Row(
        NOT_ALLOWED,
        "Cannot write {resource}: it is read-only for agents.",
        who="lineclear.toml declares it read-only.",
        next="lineclear who {resource:RESOURCE}",
    ),
    "write.not_owner": Row(
        NOT_ALLOWED,
        "Cannot write {resource}: it has a single writer.",
        who="{holder:32} is its writer.",
        next="lineclear propose {resource:proposal}",
    ),
    "write.not_owner/unowned": Row(
        NOT_ALLOWED,
        "Cannot write {resource}: it has a single writer.",
        who="It has no owner now.",
        next="lineclear claim {resource:RESOURCE} --mode exclusive",
    ),
    "write.phase": Row(
        NOT_ALLOWED,
        "Cannot write {resource} in the {phase} phase.",
        who=(
            "Once a person starts the {bound} phase, {writer:32} writes it; until then, propose changes.",
            "It can be written once a person starts the {bound} phase; until then, propose changes.",
        ),
        next="lineclear propose {resource:proposal}",
        words=("writer",),
    ),
    "write.held": Row(
        HELD,
        "Cannot write {resource}: another agent holds it.",
        who="{holder:32} holds {held} {until}.",
        next="lineclear propose {resource:proposal}",
        words=("held", "until"),
    ),
    "write.markers": Row(
        NOT_ALLOWED,
        "{path:path} adds a conflict marker at line {line}.",
        who="Keep the text that is right, remove the marker lines, and commit again.",
        next="git grep -nE '^(<<<<<<<|=======|>>>>>>>)' -- {path:RESOURCE}",
    ),
    "gate.foreign_tree": Row(
        NOT_ALLOWED,
        "Cannot commit in the worktree {tree}: it is not yours.",
        who="It belongs to {holder:32}.",
        next="lineclear worktree list",
    ),
    "gate.main": Row(
        NOT_ALLOWED,
        "Only landings move {main}; commit to a branch of your own.",
        next="lineclear land",
    ),
    "gate.main_tree": Row(
        NOT_ALLOWED,
        "Cannot move {main:40} in the main worktree: you have a worktree of your own.",
        who="Commit in {own:70}, and land its branch.",
        next="lineclear land {branch:BRANCH}",
    ),
    "gate.unreachable": Row(
        NOT_ALLOWED,
        "Cannot write {resource:100} ({strategy:30}): the shared store is out of reach.",
        who="Its holder is unknown until the store is back. Continue with other files.",
        next="lineclear doctor",
    ),
    "gate.ref": Row(
        NOT_ALLOWED, "{ref:100} belongs to lineclear; do not move it by hand.", next="lineclear salvage list"
    ),
    "gate.path": Row(
        NOT_ALLOWED,
        "{path:path} leads into .git or out of the repository; no git can check it out.",
        who="Make the commit again without it.",
        next="git ls-tree -r --name-only HEAD",
    ),
    "gate.mirrored": Row(
        NOT_ALLOWED,
        "{path:path} is generated by lineclear in each worktree; do not commit it.",
        next="git rm --cached {path:RESOURCE}",
    ),
    "hook.locked": Row(
        HELD,
        "{resource} is locked: only one agent at a time may change it.",
        who="Nobody holds it now.",
        next="lineclear claim {resource:RESOURCE} --mode exclusive",
    ),
    "hook.foreign_worktree": Row(
        NOT_ALLOWED,
        "{path:path} is in another agent's worktree.",
        who="It belongs to {holder:32}. Edit your own copy, in {own:70}.",
        next="lineclear worktree list",
        words=("own",),
    ),
    "hook.main_tree": Row(
        NOT_ALLOWED,
        "Cannot run `git {verb}` in the main worktree: you have a worktree of your own.",
        who="Commit in {own:70}, and land its branch.",
        next="lineclear land",
        words=("own",),
    ),
    "hook.failed": Row(
        FAILED,
        "lineclear could not check this edit, and this repository denies unchecked edits.",
        who="The error was {error}; `on_error` in lineclear.toml decides what happens then.",
        next="lineclear doctor",
    ),
    "hook.unread": Row(
        STALE,
        "{path} holds content that you have not read; overwriting it would destroy that content.",
        who=("{holder:32} wrote it last. Re-read it, then write again.", "Re-read it, then write again."),
        next="cat {path:FILE}",
    ),
}
