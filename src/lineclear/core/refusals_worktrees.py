"""Refusals about worktrees, their ports, their set-up and their sandbox. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import (
    FAILED,
    HELD,
    NOT_ALLOWED,
    NOT_FOUND,
    USAGE,
    Refusal,
    named,
    pasted,
    shorten,
)


def worktree_exists(name: str, path: str) -> Refusal:
    return Refusal(
        "worktree.exists",
        f'There is a worktree "{shorten(name)}" already.',
        who=f"It is at {_place(path)}.",
        next_="lineclear worktree list",
        exit_code=HELD,
        name=name,
        path=path,
    )


def worktree_busy(name: str) -> Refusal:
    return Refusal(
        "worktree.busy",
        f'The worktree "{shorten(name)}" is being made or removed.',
        who="A live process is at it and will be done soon.",
        next_="lineclear worktree list",
        exit_code=HELD,
        name=name,
    )


def branch_in_use(branch: str, path: str) -> Refusal:
    return Refusal(
        "worktree.branch_in_use",
        f"The branch {shorten(branch)} is checked out already.",
        who=f"It is in the worktree {_place(path)}.",
        next_="lineclear worktree list",
        exit_code=HELD,
        branch=branch,
        path=path,
    )


def branch_exists(branch: str) -> Refusal:
    return Refusal(
        "worktree.branch_exists",
        f"The branch {shorten(branch)} is there already, so it cannot begin at another commit.",
        who="Without --base the worktree gets the branch as it is.",
        next_=f"lineclear worktree add --branch {pasted(branch, 'BRANCH')}",
        exit_code=NOT_ALLOWED,
        branch=branch,
    )


def branch_blocked(branch: str, other: str) -> Refusal:
    return Refusal(
        "worktree.branch_blocked",
        f"The branch {shorten(branch)} cannot be made.",
        who=f"Git keeps branches like files, and there is {shorten(other)} already.",
        next_="git branch --list",
        exit_code=NOT_ALLOWED,
        branch=branch,
        other=other,
    )


def differs_in_case(kind: str, name: str, other: str) -> Refusal:
    return Refusal(
        "worktree.case",
        f'The {kind} "{shorten(name)}" differs from "{shorten(other)}" only in case.',
        who="On a disk that ignores case the two would be one.",
        next_="lineclear worktree list",
        exit_code=NOT_ALLOWED,
        name=name,
        other=other,
    )


def bad_place(path: str, why: str) -> Refusal:
    return Refusal(
        "worktree.place",
        f"{_place(path)} is no place for a worktree.",
        who=f"{shorten(why[:1].upper() + why[1:], 80)}, where git or an agent would take it for content.",
        next_="lineclear worktree add --help",
        exit_code=NOT_ALLOWED,
        path=path,
    )


def place_taken(path: str) -> Refusal:
    return Refusal(
        "worktree.place_taken",
        f"{_place(path)} is there already and is not an empty directory.",
        next_="lineclear worktree add NAME --path PATH",
        exit_code=HELD,
        path=path,
    )


def no_first_commit(path: str) -> Refusal:
    return Refusal(
        "worktree.unborn",
        f"{_place(path)} has no commit yet, so no worktree can begin.",
        next_="git commit --allow-empty -m 'first commit'",
        exit_code=NOT_FOUND,
        path=path,
    )


def base_unknown(base: str) -> Refusal:
    return Refusal(
        "worktree.base",
        f'There is no commit "{shorten(base)}" to begin from.',
        next_="git branch --all",
        exit_code=NOT_FOUND,
        base=shorten(base, 200),
    )


def worktree_dirty(name: str, path: str, count: int) -> Refusal:
    return Refusal(
        "worktree.dirty",
        f'The worktree "{shorten(name, 40)}" holds work that is in no commit and no snapshot.',
        who=f"{_files(count)} changed or new.",
        next_=f"git -C {pasted(path, 'PATH')} status",
        exit_code=NOT_ALLOWED,
        name=name,
        path=path,
        changed=count,
    )


def worktree_unmerged(name: str, path: str, count: int) -> Refusal:
    return Refusal(
        "worktree.unmerged",
        f'The worktree "{shorten(name, 40)}" holds {count} commit{_s(count)} that no branch has.',
        who="Removing it would leave them to git's garbage collection.",
        next_=f"git -C {pasted(path, 'PATH')} switch -c BRANCH",
        exit_code=NOT_ALLOWED,
        name=name,
        path=path,
        commits=count,
    )


def worktree_locked(name: str, path: str, why: str) -> Refusal:
    return Refusal(
        "worktree.locked",
        f'The worktree "{shorten(name, 40)}" is locked in git.',
        who=f'The reason given is "{shorten(why)}".',
        next_=f"git worktree unlock {pasted(path, 'PATH')}",
        exit_code=HELD,
        name=name,
        path=path,
        reason=why,
    )


def worktree_not_yours(name: str, agent: str) -> Refusal:
    return Refusal(
        "worktree.not_yours",
        f'The worktree "{shorten(name)}" is not yours.',
        who=f"{named(agent)} works in it." if agent else "It belongs to the person who made it.",
        next_="lineclear worktree list",
        exit_code=NOT_ALLOWED,
        name=name,
        holder=agent,
    )


def worktree_in_use(name: str, agent: str) -> Refusal:
    return Refusal(
        "worktree.in_use",
        f'The worktree "{shorten(name)}" is in use.',
        who=f"A run of {named(agent)} is at work in it.",
        next_=f"lineclear stop {pasted(agent, 'AGENT')}",
        exit_code=HELD,
        name=name,
        holder=agent,
    )


def worktree_main(what: str) -> Refusal:
    return Refusal(
        "worktree.main",
        f"The main worktree is not ours to {what}.",
        who="It is the one with the repository's .git directory.",
        next_="lineclear worktree list",
        exit_code=NOT_ALLOWED,
    )


def worktree_failed(name: str, error: str) -> Refusal:
    return Refusal(
        "worktree.git",
        f'Git could not do it for the worktree "{shorten(name, 40)}".',
        who=f"It said: {shorten(' '.join(error.split()), 130)}",
        next_="lineclear doctor",
        exit_code=FAILED,
        name=name,
        error=shorten(error, 2_000),
    )


def lfs_missing(path: str) -> Refusal:
    return Refusal(
        "worktree.lfs",
        f"{_place(path)} keeps files in Git LFS, and git-lfs does not run here.",
        who="Git's settings demand it, so nothing was checked out.",
        next_="git lfs install",
        exit_code=FAILED,
        path=path,
    )


def no_ports(count: int, first: int, last: int) -> Refusal:
    return Refusal(
        "worktree.ports",
        f"No {count} consecutive ports are free between {first} and {last}.",
        who="Other worktrees have them, or programs listen there; see [worktrees] ports_from and ports_to.",
        next_="lineclear worktree list",
        exit_code=FAILED,
        count=count,
        first=first,
        last=last,
    )


def no_room(count: int, needed: int, free: int, reserve: int) -> Refusal:
    return Refusal(
        "worktree.disk",
        f"There is no room on the disk for {count} more worktree{_s(count)}.",
        who=f"Needed: {_size(needed)}; free: {_size(free)}, of which {_size(reserve)} stays free "
        "([worktrees] disk_reserve).",
        next_="lineclear worktree list",
        exit_code=FAILED,
        count=count,
        needed_bytes=needed,
        free_bytes=free,
        reserve_bytes=reserve,
    )


def not_provisioned(path: str, error: str) -> Refusal:
    return Refusal(
        "worktree.copy",
        f"{_place(path)} could not be brought into the worktree, which was removed again.",
        who=f"{shorten(error, 100)}",
        next_="lineclear config show",
        exit_code=FAILED,
        path=path,
    )


def setup_failed(command: str, how: str, tail: str) -> Refusal:
    said = f" Last words: {shorten(tail.strip().rpartition(chr(10))[2], 70)}" if tail.strip() else ""
    return Refusal(
        "worktree.setup",
        f"The set-up command `{shorten(command, 50)}` {how}; the worktree was removed again.",
        who=said.strip(),
        next_="lineclear config show",
        exit_code=FAILED,
        command=shorten(command, 500),
        how=how,
        output=tail,
    )


def no_sandbox(why: str) -> Refusal:
    return Refusal(
        "sandbox.missing",
        "The settings ask for a sandbox, and bubblewrap does not work here.",
        who=f"{shorten(why, 140)}",
        next_="apt-get install bubblewrap",
        exit_code=FAILED,
        reason=shorten(why, 500),
    )


def bad_writable(path: str, why: str) -> Refusal:
    return Refusal(
        "sandbox.path",
        f"{_place(path)} cannot be made writable inside the sandbox: {why}.",
        who="[worktrees] writable lists such paths.",
        next_="lineclear config show",
        exit_code=USAGE,
        path=path,
    )


def _place(path: str) -> str:
    """The end of a path says more than its beginning."""
    shown = shorten(path, 4_000)
    return shown if len(shown) <= 80 else f"...{shown[-77:]}"


def _files(count: int) -> str:
    return "1 file is" if count == 1 else f"{count} files are"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 20):,.0f} MiB"
