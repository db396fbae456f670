"""Refusals about worktrees, snapshots and syncing: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import (
    FAILED,
    FINDINGS,
    HELD,
    NOT_ALLOWED,
    NOT_FOUND,
    STALE,
    TIMED_OUT,
    USAGE,
    Row,
)

ROWS = {
    "worktree.exists": Row(
        HELD,
        'A worktree "{name}" already exists.',
        who="It is at {path:path}.",
        next="lineclear worktree list",
    ),
    "worktree.busy": Row(
        HELD,
        'The worktree "{name}" is being created or removed.',
        who="A live process is working on it and will finish soon.",
        next="lineclear worktree list",
    ),
    "worktree.branch_in_use": Row(
        HELD,
        "The branch {branch} is already checked out.",
        who="It is in the worktree {path:path}.",
        next="lineclear worktree list",
    ),
    "worktree.branch_exists": Row(
        NOT_ALLOWED,
        "The branch {branch} already exists, so it cannot start at another commit.",
        who="Without --base the worktree gets the branch as it is.",
        next="lineclear worktree add --branch {branch:BRANCH}",
    ),
    "worktree.branch_blocked": Row(
        NOT_ALLOWED,
        "The branch {branch} cannot be created.",
        who="Git stores branches like files, and {other} already exists.",
        next="git branch --list",
    ),
    "worktree.case": Row(
        NOT_ALLOWED,
        'The {kind} "{name}" differs from "{other}" only in case.',
        who="On a disk that ignores case they would be the same.",
        next="lineclear worktree list",
        words=("kind",),
    ),
    "worktree.place_taken": Row(
        HELD,
        "{path:path} already exists and is not an empty directory.",
        next="lineclear worktree add NAME --path PATH",
    ),
    "worktree.unborn": Row(
        NOT_FOUND,
        "{path:path} has no commits yet, so no worktree can start from it.",
        next="git commit --allow-empty -m 'first commit'",
    ),
    "worktree.base": Row(NOT_FOUND, 'There is no commit "{base}" to start from.', next="git branch --all"),
    "worktree.locked": Row(
        HELD,
        'The worktree "{name:40}" is locked in git.',
        who='The reason given is "{reason}".',
        next="git worktree unlock {path:PATH}",
    ),
    "worktree.not_yours": Row(
        NOT_ALLOWED,
        'The worktree "{name}" is not yours.',
        who=("{holder:32} works in it.", "It belongs to the person who made it."),
        next="lineclear worktree list",
    ),
    "worktree.in_use": Row(
        HELD,
        'The worktree "{name}" is in use.',
        who="A run of {holder:32} is using it.",
        next="lineclear stop {holder:AGENT}",
    ),
    "worktree.main": Row(
        NOT_ALLOWED,
        "lineclear does not {what} the main worktree.",
        who="It is the one with the repository's .git directory.",
        next="lineclear worktree list",
        words=("what",),
    ),
    "worktree.lfs": Row(
        FAILED,
        "{path:path} keeps files in Git LFS, but git-lfs does not run here.",
        who="Git's settings require it, so nothing was checked out.",
        next="git lfs install",
    ),
    "worktree.ports": Row(
        FAILED,
        "No {count} consecutive ports are free between {first} and {last}.",
        who="Other worktrees or programs use them; see [worktrees] ports_from and ports_to.",
        next="lineclear worktree list",
    ),
    "worktree.copy": Row(
        FAILED,
        "{path:path} could not be copied into the worktree, so the worktree was removed.",
        who="{error:100}",
        next="lineclear config show",
        words=("error",),
    ),
    "worktree.place": Row(
        NOT_ALLOWED,
        "{path:path} cannot hold a worktree.",
        who="{why:80}, where git or an agent would treat it as content.",
        next="lineclear worktree add --help",
        words=("why",),
    ),
    "worktree.dirty": Row(
        NOT_ALLOWED,
        'The worktree "{name:40}" holds work that is neither committed nor in a snapshot.',
        who="Changed or new: {changed:file}.",
        next="git -C {path:PATH} status",
    ),
    "worktree.unmerged": Row(
        NOT_ALLOWED,
        'The worktree "{name:40}" holds {commits:commit} not on any branch.',
        who="After the removal, git's garbage collection would delete that work.",
        next="git -C {path:PATH} switch -c BRANCH",
    ),
    "worktree.git": Row(
        FAILED,
        'Git failed for the worktree "{name:40}".',
        who="It said: {line:130}",
        next="lineclear doctor",
        words=("line",),
    ),
    "worktree.disk": Row(
        FAILED,
        "There is not enough disk space for {count} more {what}.",
        who="Needed: {needed_bytes:MiB}; free: {free_bytes:MiB}, of which {reserve_bytes:MiB} is reserved "
        "([worktrees] disk_reserve).",
        next="lineclear worktree list",
        words=("what",),
    ),
    "worktree.setup": Row(
        FAILED,
        "The set-up command `{command:50}` {how}; the worktree was removed.",
        who="Last output: {last_line:70}",
        next="lineclear config show",
        words=("last_line",),
    ),
    "snapshot.no_worktree": Row(
        NOT_FOUND,
        "There is no worktree at {path:120} to take a snapshot of.",
        who="Its earlier snapshots are still there.",
        next="lineclear salvage list",
    ),
    "snapshot.failed": Row(
        FAILED,
        "Cannot take a snapshot of {path:path}: {why:100}",
        who="Its files and earlier snapshots are unchanged.",
        next="lineclear doctor",
    ),
    "snapshot.busy": Row(
        HELD,
        "Another process is still taking a snapshot of {path:120}.",
        next="lineclear salvage list",
    ),
    "snapshot.none": Row(NOT_FOUND, "There is no snapshot {snapshot} here.", next="lineclear salvage list"),
    "snapshot.branch_exists": Row(
        HELD,
        "The branch {branch} already exists; a restored snapshot gets a branch of its own.",
        next="lineclear salvage restore {free:SNAPSHOT}",
        words=("free",),
    ),
    "snapshot.branch_name": Row(
        USAGE,
        "{branch} is not a valid branch name.",
        next="lineclear salvage restore {free:SNAPSHOT}",
        words=("free",),
    ),
    "snapshot.patch_unwritable": Row(
        FAILED,
        "{path:120} could not be written: {why}.",
        next="lineclear salvage restore --help",
        words=("why",),
    ),
    "snapshot.patch_exists": Row(
        HELD,
        "{path:120} already exists and was not overwritten.",
        next="lineclear salvage restore {name:SNAPSHOT} --patch {other:FILE}",
        words=("name", "other"),
    ),
    "sync.main": Row(
        USAGE,
        "{main} is the branch that work lands on; there is nothing to sync it with.",
        next="lineclear worktree list",
    ),
    "sync.case": Row(
        FINDINGS,
        "{name} differs from {other} only in case, and this disk ignores case.",
        who="One of them is on your branch, the other on main. Nothing was changed.",
        next="git mv OLD NEW",
    ),
    "sync.blocked": Row(
        TIMED_OUT,
        "The branch cannot be moved now: {why:160}.",
        who="Nothing was changed.",
        next="lineclear sync",
    ),
    "sync.busy": Row(
        TIMED_OUT,
        "Another sync has been under way in this worktree for more than {waited_s} s.",
        next="git status",
    ),
    "sync.moving": Row(
        STALE,
        "Another process kept moving {branch} while it was being merged.",
        who="Nothing was changed.",
        next="git reflog --max-count 5",
    ),
    "sync.in_progress": Row(
        NOT_ALLOWED,
        "{begun} is in progress in {path:path}.",
        who="Finish it or cancel it with --abort, then sync.",
        next="git status",
        words=("begun",),
    ),
    "sync.overlaps": Row(
        NOT_ALLOWED,
        "Uncommitted work is in the way: {files:few}.",
        who="Commit or stash it first. Nothing was changed.",
        next="git status --short",
    ),
    "sync.staged": Row(
        NOT_ALLOWED,
        "Staged changes are not committed: {files:few}.",
        who="`git merge --abort` would discard them, so no conflict was left here. Nothing was changed.",
        next="git commit --message TEXT",
    ),
    "sync.conflicts": Row(
        FINDINGS,
        "{branch:34} and {main:34} conflict in {files:few}.",
        who="Nothing was changed. The next command leaves the merge here, for you to resolve and commit.",
        next="lineclear sync --keep-conflicts",
        words=("files",),
    ),
    "look.nothing": Row(
        NOT_FOUND, "No agent, task or worktree named {name} has work to show.", next="lineclear"
    ),
    "look.no_editor": Row(
        USAGE, "Cannot open an editor: neither $VISUAL nor $EDITOR is set.", next="export EDITOR=vi"
    ),
    "look.cannot_start": Row(
        FAILED, "{program} could not be started: {why}.", next="lineclear open --help", words=("why",)
    ),
    "sandbox.missing": Row(
        FAILED,
        "The settings ask for a sandbox, but bubblewrap does not work here.",
        who="{reason:140}",
        next="apt-get install bubblewrap",
    ),
    "sandbox.path": Row(
        USAGE,
        "{path:path} cannot be made writable inside the sandbox: {why:100}.",
        who="See [worktrees] writable.",
        next="lineclear config show",
        words=("why",),
    ),
}
