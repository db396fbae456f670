"""Refusals about worktrees, snapshots and syncing: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.refusals import (
    FAILED,
    FINDINGS,
    HELD,
    NOT_ALLOWED,
    NOT_FOUND,
    STALE,
    TIMED_OUT,
    USAGE,
    Row,
    refuse,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from lineclear.core.words.refusals import Refusal

ROWS = {
    "worktree.exists": Row(
        HELD,
        'There is a worktree "{name}" already.',
        who="It is at {path:path}.",
        next="lineclear worktree list",
    ),
    "worktree.busy": Row(
        HELD,
        'The worktree "{name}" is being made or removed.',
        who="A live process is at it and will be done soon.",
        next="lineclear worktree list",
    ),
    "worktree.branch_in_use": Row(
        HELD,
        "The branch {branch} is checked out already.",
        who="It is in the worktree {path:path}.",
        next="lineclear worktree list",
    ),
    "worktree.branch_exists": Row(
        NOT_ALLOWED,
        "The branch {branch} is there already, so it cannot begin at another commit.",
        who="Without --base the worktree gets the branch as it is.",
        next="lineclear worktree add --branch {branch:BRANCH}",
    ),
    "worktree.branch_blocked": Row(
        NOT_ALLOWED,
        "The branch {branch} cannot be made.",
        who="Git keeps branches like files, and there is {other} already.",
        next="git branch --list",
    ),
    "worktree.case": Row(
        NOT_ALLOWED,
        'The {kind} "{name}" differs from "{other}" only in case.',
        who="On a disk that ignores case the two would be one.",
        next="lineclear worktree list",
        words=("kind",),
    ),
    "worktree.place_taken": Row(
        HELD,
        "{path:path} is there already and is not an empty directory.",
        next="lineclear worktree add NAME --path PATH",
    ),
    "worktree.unborn": Row(
        NOT_FOUND,
        "{path:path} has no commit yet, so no worktree can begin.",
        next="git commit --allow-empty -m 'first commit'",
    ),
    "worktree.base": Row(NOT_FOUND, 'There is no commit "{base}" to begin from.', next="git branch --all"),
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
        who="A run of {holder:32} is at work in it.",
        next="lineclear stop {holder:AGENT}",
    ),
    "worktree.main": Row(
        NOT_ALLOWED,
        "The main worktree is not ours to {what}.",
        who="It is the one with the repository's .git directory.",
        next="lineclear worktree list",
        words=("what",),
    ),
    "worktree.lfs": Row(
        FAILED,
        "{path:path} keeps files in Git LFS, and git-lfs does not run here.",
        who="Git's settings demand it, so nothing was checked out.",
        next="git lfs install",
    ),
    "worktree.ports": Row(
        FAILED,
        "No {count} consecutive ports are free between {first} and {last}.",
        who="Other worktrees have them, or programs listen there; see [worktrees] ports_from and ports_to.",
        next="lineclear worktree list",
    ),
    "worktree.copy": Row(
        FAILED,
        "{path:path} could not be brought into the worktree, which was removed again.",
        who="{error:100}",
        next="lineclear config show",
        words=("error",),
    ),
    "worktree.place": Row(
        NOT_ALLOWED,
        "{path:path} is no place for a worktree.",
        who="{why:80}, where git or an agent would take it for content.",
        next="lineclear worktree add --help",
        words=("why",),
    ),
    "worktree.dirty": Row(
        NOT_ALLOWED,
        'The worktree "{name:40}" holds work that is in no commit and no snapshot.',
        who="Changed or new: {changed:file}.",
        next="git -C {path:PATH} status",
    ),
    "worktree.unmerged": Row(
        NOT_ALLOWED,
        'The worktree "{name:40}" holds {commits:commit} that no branch has.',
        who="Removing it would leave them to git's garbage collection.",
        next="git -C {path:PATH} switch -c BRANCH",
    ),
    "worktree.git": Row(
        FAILED,
        'Git could not do it for the worktree "{name:40}".',
        who="It said: {line:130}",
        next="lineclear doctor",
        words=("line",),
    ),
    "worktree.disk": Row(
        FAILED,
        "There is no room on the disk for {count} more {what}.",
        who="Needed: {needed_bytes:MiB}; free: {free_bytes:MiB}, of which {reserve_bytes:MiB} stays free "
        "([worktrees] disk_reserve).",
        next="lineclear worktree list",
        words=("what",),
    ),
    "worktree.setup": Row(
        FAILED,
        "The set-up command `{command:50}` {how}; the worktree was removed again.",
        who="Last words: {last_line:70}",
        next="lineclear config show",
        words=("last_line",),
    ),
    "snapshot.no_worktree": Row(
        NOT_FOUND,
        "There is no worktree at {path:120} to take a snapshot of.",
        who="What was saved of it before is still there.",
        next="lineclear salvage list",
    ),
    "snapshot.failed": Row(
        FAILED,
        "No snapshot of {path:path}: {why:100}",
        who="Its files and the snapshots before are as they were.",
        next="lineclear doctor",
    ),
    "snapshot.busy": Row(
        HELD,
        "Another process is taking a snapshot of {path:120} and is not done yet.",
        next="lineclear salvage list",
    ),
    "snapshot.none": Row(NOT_FOUND, "There is no snapshot {snapshot} here.", next="lineclear salvage list"),
    "snapshot.branch_exists": Row(
        HELD,
        "The branch {branch} exists; a restored snapshot gets a branch of its own.",
        next="lineclear salvage restore {free:SNAPSHOT}",
        words=("free",),
    ),
    "snapshot.branch_name": Row(
        USAGE,
        "{branch} is not a name that git takes for a branch.",
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
        "{path:120} exists and is not written over.",
        next="lineclear salvage restore {name:SNAPSHOT} --patch {other:FILE}",
        words=("name", "other"),
    ),
    "sync.main": Row(
        USAGE,
        "{main} is the branch that work lands on; there is nothing to bring it up to.",
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
        "{branch} was moved by another process again and again while it was being merged.",
        who="Nothing was changed.",
        next="git reflog --max-count 5",
    ),
    "sync.in_progress": Row(
        NOT_ALLOWED,
        "{begun} is in progress in {path:path}.",
        who="Finish it, or take it back with --abort; then sync.",
        next="git status",
        words=("begun",),
    ),
    "sync.overlaps": Row(
        NOT_ALLOWED,
        "Work that is not committed is in the way: {files:few}.",
        who="Commit it or put it away first. Nothing was changed.",
        next="git status --short",
    ),
    "sync.staged": Row(
        NOT_ALLOWED,
        "Something is staged and not committed: {files:few}.",
        who="`git merge --abort` would throw it away, so no conflict is left here. Nothing was changed.",
        next="git commit --message TEXT",
    ),
    "sync.conflicts": Row(
        FINDINGS,
        "{branch:34} and {main:34} do not fit in {files:few}.",
        who="Nothing was changed. The next command leaves the merge here, for you to resolve and commit.",
        next="lineclear sync --keep-conflicts",
        words=("files",),
    ),
    "look.nothing": Row(
        NOT_FOUND, "No agent, task or worktree {name} has work of its own to look at.", next="lineclear"
    ),
    "look.no_editor": Row(
        USAGE, "Neither $VISUAL nor $EDITOR says which editor to open.", next="export EDITOR=vi"
    ),
    "look.cannot_start": Row(
        FAILED, "{program} could not be started: {why}.", next="lineclear open --help", words=("why",)
    ),
    "sandbox.missing": Row(
        FAILED,
        "The settings ask for a sandbox, and bubblewrap does not work here.",
        who="{reason:140}",
        next="apt-get install bubblewrap",
    ),
    "sandbox.path": Row(
        USAGE,
        "{path:path} cannot be made writable inside the sandbox: {why:100}.",
        who="[worktrees] writable lists such paths.",
        next="lineclear config show",
        words=("why",),
    ),
}


def bad_place(path: str, why: str) -> Refusal:
    return refuse("worktree.place", path=path, why=why[:1].upper() + why[1:])


def worktree_failed(name: str, error: str) -> Refusal:
    return refuse("worktree.git", name=name, error=error, line=" ".join(error.split()))


def no_room(count: int, needed: int, free: int, reserve: int) -> Refusal:
    return refuse(
        "worktree.disk",
        count=count,
        what="worktree" if count == 1 else "worktrees",
        needed_bytes=needed,
        free_bytes=free,
        reserve_bytes=reserve,
    )


def setup_failed(command: str, how: str, tail: str) -> Refusal:
    last_line = tail.strip().rpartition("\n")[2]
    return refuse("worktree.setup", command=command, how=how, output=tail, last_line=last_line)


def patch_exists(path: str, name: str) -> Refusal:
    return refuse("snapshot.patch_exists", path=path, name=name, other=f"{path}.new")


def sync_in_progress(step: str, path: str) -> Refusal:
    return refuse("sync.in_progress", step=step, begun=step[:1].upper() + step[1:], path=path)


def sync_conflicts(branch: str, main: str, conflicts: Sequence[dict[str, Any]]) -> Refusal:
    files = list(dict.fromkeys(conflict["path"] for conflict in conflicts)) or ["some files"]
    return refuse("sync.conflicts", branch=branch, main=main, conflicts=list(conflicts), files=files)
