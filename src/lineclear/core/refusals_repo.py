"""Refusals about the place we work in: the repository, this host, a bond. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import FAILED, HELD, NOT_ALLOWED, NOT_FOUND, Refusal, shorten


def not_a_repo(path: str) -> Refusal:
    return Refusal(
        "repo.none",
        f"{shorten(path, 120)} is not inside a git repository.",
        next_="git init",
        exit_code=NOT_FOUND,
        path=shorten(path, 200),
    )


def bare_repo(path: str) -> Refusal:
    return Refusal(
        "repo.bare",
        f"{shorten(path, 120)} is a bare repository: it has no files to work on.",
        who="Agents work in its linked worktrees.",
        next_="git worktree add ../work",
        exit_code=NOT_ALLOWED,
        path=shorten(path, 200),
    )


def broken_git_link(path: str, target: str) -> Refusal:
    return Refusal(
        "repo.broken_link",
        f"{shorten(path, 100)} points to {shorten(target, 100) or 'nothing'}, which is not a git directory.",
        next_="git worktree repair",
        exit_code=NOT_FOUND,
        path=shorten(path, 200),
        target=shorten(target, 200),
    )


def no_boot_id() -> Refusal:
    return Refusal(
        "host.no_boot_id",
        "This host does not say which boot it is in, so leases cannot be timed safely.",
        who="Linux says it in /proc/sys/kernel/random/boot_id, macOS in `sysctl kern.bootsessionuuid`.",
        next_="lineclear init --store postgresql://HOST/DATABASE",
        exit_code=FAILED,
    )


def bond_held(bond: str) -> Refusal:
    return Refusal(
        "bond.held",
        f"The bond {shorten(bond)} is already held.",
        who="Another live process holds it until that process ends.",
        next_="lineclear",
        exit_code=HELD,
        bond=shorten(bond, 200),
    )
