"""A sandbox for an agent, by bubblewrap: the whole disk is readable, a few places are writable.

It protects files outside those places, and other processes (it has its own process ids, so ending its first
process ends everything in it). It does not restrict the network. Linux only; elsewhere `why_unavailable` says
so.

Git outside runs programs that a git directory names: in `config`, in `hooks`, behind a `commondir` file. So
inside, the git directory that all worktrees share is a read-only one of our own, into which only the parts
that git needs for its work are mounted as writable. Mounting `config` as read-only into a writable directory
would not do: an agent could add a file that git looks for (`commondir`), and the mount is gone as soon as
somebody outside replaces the file, as `git config` does.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse
from lineclear.core.worktrees.rules import is_inside
from lineclear.host.commands import capture

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROGRAM = "bwrap"
# Where our interpreter and our code are installed.
_OURSELVES = (sys.prefix, os.path.abspath(f"{__file__}/../../.."))
# A user namespace even for root: without one, root could reach the host's files through /proc/1/root, and
# mount the disk again as writable.
_WALLS = ("--unshare-user", "--unshare-pid", "--cap-drop", "ALL")
_PROBE_TIMEOUT_S = 20.0
# Sockets of programs that start others: a session's bus and services, containers, virtual machines.
_DOORS = (
    "/run/user", "/run/dbus", "/run/systemd/private", "/run/docker.sock", "/run/docker", "/run/podman",
    "/run/containerd", "/run/crio", "/run/libvirt", "/run/snapd.socket", "/var/lib/incus/unix.socket",
    "/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket",
)  # fmt: skip
# The real git directory, inside of the one in the sandbox.
_REAL = "outside"
# Parts of the shared git directory in which an agent's git works.
_SHARED = ("objects", "refs", "logs", "reftable", "rr-cache", "lfs")
# Our own refs; their logs, too: git appends to a log that is there, even through a symlink.
_OURS = ("refs/lineclear", "logs/refs/lineclear")
# The name is part of git's error message.
_KEPT = "branches-are-kept-in-the-sandbox"


def why_unavailable() -> str:
    """Why no sandbox can be made here; "" if one can. We try it, since many containers and some distributions
    lack or forbid user namespaces."""
    program = shutil.which(PROGRAM)
    if program is None:
        return "bwrap is not installed; Debian and Ubuntu have it in the package bubblewrap."
    words = [program, *_WALLS, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    code, _, errors = capture(words, cwd="/", env=os.environ, timeout_s=_PROBE_TIMEOUT_S)
    if code == 0:
        return ""
    return errors.decode("utf-8", "replace").strip() or f"bwrap ended with {code}"


def require() -> None:
    """Refuse if no sandbox can be made here."""
    why = why_unavailable()
    if why:
        raise refuse("sandbox.missing", reason=why)


def wrap(
    argv: Sequence[str],
    *,
    worktree: str,
    common_dir: str,
    tmp: str,
    git_dir: str = "",
    main_ref: str = "",
    writable: Sequence[str] = (),
) -> list[str]:
    """The command line that runs `argv` in the sandbox, with the worktree as its directory.

    Writable are the worktree, its `git_dir` ("" if it is not a worktree of git), what git needs in the
    directory that all worktrees share, the `writable` paths (refused if one does not exist), and a private
    /tmp, stored in `tmp`. Git inside cannot move `main_ref`. Sockets of programs that would start others
    outside are hidden, unless `writable` names them. Descriptors, signals, environment and process
    group pass through. The command does not end with its parent.
    """
    places = [os.path.realpath(path) for path in writable]
    for path in places:
        if not os.path.exists(path):
            raise refuse("sandbox.path", path=path, why="it does not exist")
    mounts = [["--bind", tmp, "/tmp"]]
    mounts += [_hide(path) for path in _DOORS if os.path.exists(path)]
    # A private /tmp hides the real one; a repository in there, and lineclear itself, must still be found.
    needed = {os.path.dirname(common_dir), *_OURSELVES}
    mounts += [_same("--ro-bind", path) for path in sorted(needed) if is_inside(path, "/tmp")]
    mounts += [_same("--bind", path) for path in (*places, worktree)]
    mounts += _shared_git(common_dir, main_ref)
    if git_dir:
        mounts += _own_git(worktree, git_dir)
    # A place before what is in it; the sort is stable.
    mounts.sort(key=lambda mount: mount[-1].split("/"))
    words = [PROGRAM, *_WALLS, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for mount in mounts:
        words += mount
    return [*words, "--remount-ro", common_dir, "--chdir", worktree, "--", *argv]


def _same(option: str, path: str) -> list[str]:
    return [option, path, path]


def _hide(path: str) -> list[str]:
    return ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", os.devnull, path]


def _shared_git(common_dir: str, main_ref: str) -> Iterator[list[str]]:
    """The shared git directory, as it is inside."""
    for name in _OURS:
        os.makedirs(f"{common_dir}/{name}", exist_ok=True)
    if shutil.which("git-lfs"):
        os.makedirs(f"{common_dir}/lfs", exist_ok=True)
    yield ["--tmpfs", common_dir]
    yield ["--ro-bind", common_dir, f"{common_dir}/{_REAL}"]
    for name in os.listdir(common_dir):
        path = f"{common_dir}/{name}"
        if os.path.isdir(path) and not os.path.islink(path):
            yield _same("--bind" if name in _SHARED else "--ro-bind", path)
        elif name == "HEAD":  # git accepts no symlink here
            yield _same("--ro-bind", path)
        elif name != "packed-refs":
            # A file may be replaced outside. A mount would still show the old one.
            yield ["--symlink", f"{_REAL}/{name}", path]
    yield from (_same("--ro-bind", f"{common_dir}/{name}") for name in _OURS)
    yield from _packed_refs(common_dir)
    yield from _fixed_log(f"{common_dir}/logs", main_ref)


def _packed_refs(common_dir: str) -> Iterator[list[str]]:
    """Git creates `packed-refs.lock` whenever it deletes a ref, even one that is never packed, such as
    CHERRY_PICK_HEAD.

    It puts the lock beside the file that `packed-refs` links to, and follows at most 5 links to find out. So
    the lock is made in a directory of the sandbox, but what is read is always the real file. Packing inside
    would delete refs that nobody outside finds again: the directory `packed-refs.new` makes it fail.
    """
    kept = f"{common_dir}/{_KEPT}"
    yield ["--tmpfs", kept]
    yield ["--dir", f"{kept}/packed-refs.new"]
    links = [f"{common_dir}/packed-refs", *(f"{kept}/{number}" for number in range(4)), f"{kept}/packed-refs"]
    targets = [*links[1:], f"{common_dir}/{_REAL}/packed-refs"]
    for link, target in zip(links, targets, strict=True):
        yield ["--symlink", target, link]


def _fixed_log(logs: str, ref: str) -> Iterator[list[str]]:
    """Git outside appends to this log when work lands. Each directory on the way is a mount: what is one
    cannot be moved away."""
    if ref and os.path.isfile(f"{logs}/{ref}"):
        parts = ref.split("/")
        for count in range(1, len(parts)):
            yield _same("--bind", "/".join([logs, *parts[:count]]))
        yield _same("--ro-bind", f"{logs}/{ref}")


def _own_git(worktree: str, git_dir: str) -> Iterator[list[str]]:
    """A worktree's own git directory, and the files by which git outside finds the one from the other."""
    # Git reads it if `extensions.worktreeConfig` is set.
    os.close(os.open(f"{git_dir}/config.worktree", os.O_CREAT | os.O_RDONLY | os.O_CLOEXEC, 0o644))
    yield _same("--bind", git_dir)
    yield _same("--ro-bind", f"{worktree}/.git")
    for name in ("commondir", "gitdir", "config.worktree"):
        yield _same("--ro-bind", f"{git_dir}/{name}")
