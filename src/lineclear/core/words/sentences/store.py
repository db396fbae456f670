"""Refusals about the store, the repository and this host: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import FAILED, HELD, NOT_ALLOWED, NOT_FOUND, TIMED_OUT, Row

ROWS = {
    "uninstall.running": Row(
        HELD,
        "Cannot uninstall while {running:60} is running here.",
        who="It would go on writing into a repository that lineclear has left. Stop it first.",
        next="{command:80}",
        words=("command",),
    ),
    "store.team": Row(
        NOT_FOUND,
        "This repository uses a team's store that this clone does not know yet.",
        who='lineclear.toml calls it "{repo_id}"; ask a colleague for the URL.',
        next="lineclear init --store postgresql://HOST/DATABASE",
    ),
    "store.busy": Row(
        TIMED_OUT,
        "The store could not be written within {limit_s} s.",
        who="{holder:32} holds the write lock; if it is suspended, resume or end it.",
        next="lineclear doctor",
        words=("limit_s",),
    ),
    "store.newer": Row(
        NOT_ALLOWED,
        "The store has schema {found}; this program knows up to {known}.",
        who="A newer version of lineclear has used it.",
        next="pip install --upgrade lineclear",
    ),
    "store.network": Row(
        NOT_ALLOWED,
        "The store would be on a network file system ({file_system}), where SQLite is not safe.",
        next="lineclear init --store postgresql://HOST/DATABASE",
    ),
    "store.locked": Row(
        TIMED_OUT,
        "The store is locked by a program that is not lineclear.",
        who="{reason:160}",
        next="lineclear doctor",
    ),
    "store.full": Row(
        FAILED,
        "The disk of the store is full; nothing was written.",
        who="{reason:160}",
        next="lineclear doctor",
    ),
    "store.read_only": Row(
        NOT_ALLOWED,
        "The store cannot be written from here; nothing was changed.",
        who="{reason:160}",
        next="lineclear doctor",
    ),
    "store.unreadable": Row(
        FAILED, "The store cannot be opened.", who="{reason:160}", next="lineclear doctor"
    ),
    "store.unreachable": Row(
        FAILED,
        "The shared store is out of reach; nothing was changed.",
        who=(
            "{path:60} has not answered since {since_at:20} ({reason:70}). Check the network and the server.",
            "{reason:160}",
        ),
        next="lineclear doctor",
    ),
    "store.damaged": Row(
        FAILED,
        "The store is damaged or is not a lineclear store.",
        who="{reason:160}",
        next="lineclear doctor",
    ),
    "store.failed": Row(
        FAILED,
        "The store failed; whether the last write happened is unknown.",
        who="{reason:160}",
        next="lineclear audit",
    ),
    "store.missing": Row(NOT_FOUND, "This repository has no lineclear store yet.", next="lineclear init"),
    "store.older": Row(
        FAILED, "The store has schema {found}; this program needs {needed}.", next="lineclear init"
    ),
    "store.not_empty": Row(
        NOT_ALLOWED, "The target store is not empty; nothing was copied.", next="lineclear db info"
    ),
    "repo.empty": Row(
        NOT_FOUND,
        "{path:100} has no commits yet, so its clones share nothing that identifies them.",
        next="git commit --allow-empty -m 'first commit'",
    ),
    "repo.none": Row(NOT_FOUND, "{path:120} is not inside a git repository.", next="git init"),
    "repo.bare": Row(
        NOT_ALLOWED,
        "{path:120} is a bare repository: it has no files to work on.",
        who="Agents work in its linked worktrees.",
        next="git worktree add ../work",
    ),
    "repo.broken_link": Row(
        NOT_FOUND,
        (
            "{path:100} points to {target:100}, which is not a git directory.",
            "{path:100} does not point to a git directory.",
        ),
        next="git worktree repair",
    ),
    "host.no_boot_id": Row(
        FAILED,
        "This host has no boot id, so leases cannot be timed safely.",
        who="Linux has it in /proc/sys/kernel/random/boot_id, macOS in `sysctl kern.bootsessionuuid`.",
        next="lineclear init --store postgresql://HOST/DATABASE",
    ),
    "git.old": Row(
        FAILED,
        "{found:60} is too old: lineclear needs git {least} or newer.",
        who="An older git cannot merge without a worktree, so nothing would land.",
        next="git --version",
        words=("found",),
    ),
    "git.old/none": Row(
        FAILED, "lineclear needs git {least} or newer, and no git was found.", next="git --version"
    ),
    "host.unwritable": Row(
        FAILED,
        "Cannot write {path:110}: {why:80}.",
        next="df {path:DIRECTORY}",
    ),
    "bond.held": Row(
        HELD,
        "The bond {bond} is already held.",
        who="Another live process holds it until it ends.",
        next="lineclear",
    ),
}
