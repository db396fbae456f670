"""What makes a fresh worktree fit for work: room on the disk, ignored files, set-up commands, environment,
sandbox. Makes and removes no worktree itself.
"""

from __future__ import annotations

import os

from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.words.worktrees import setup_failed
from lineclear.core.worktrees import rules
from lineclear.git import branches
from lineclear.git import worktrees as git_trees
from lineclear.git.run import LOCAL_NAMES
from lineclear.host import copying
from lineclear.host.files import free_bytes
from lineclear.wiring.worktree_git import Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    from lineclear.core.log.tables import Worktree
    from lineclear.host.commands import Finished
    from lineclear.wiring.repo import Repo
    from lineclear.wiring.worktrees import Place

    class Ground(Protocol):
        """Anything with a place on the disk: an agent's worktree, a check tree."""

        path: str


def require_room(repo: Repo, count: int) -> None:
    """Refuse when so many more worktrees would not leave on the disk what has to stay free."""
    site = Site(repo)
    check_room_at(site, count, os.path.join(site.root, site.directory()))


def check_room_at(site: Site, count: int, path: str) -> None:
    rules.check_room(
        count=count,
        each_bytes=git_trees.checked_out_bytes(site.common_dir),
        free_bytes=free_bytes(path),
        reserve_bytes=site.repo.settings.worktrees_disk_reserve_bytes,
    )


def provision(site: Site, row: Worktree, run_setup: bool) -> list[str]:
    """Bring ignored files and run the set-up commands; gives notes for whoever works there."""
    bring_files(site, row.path, *files_to_bring(site))
    notes = _equip(site, row)
    if run_setup:
        _set_up(site.repo, row)
    return notes + _notes(site, row)


def _equip(site: Site, row: Worktree) -> list[str]:
    """What the clients that are set up here read in a worktree. Work can go on without: it is a note."""
    from lineclear.app.setup.applying import equip_worktree
    from lineclear.wiring.setup import clone_of

    try:
        equip_worktree(clone_of(site.repo.layout, site.repo.environ), row.path)
    except Refusal as refusal:
        return [f"Its clients' hooks are not set up: {refusal.what}"]
    return []


def files_to_bring(site: Site) -> tuple[list[str], list[str]]:
    """(ignored files of the main worktree to be copied, those to be linked) by the settings."""
    settings = site.repo.settings
    links = git_trees.ignored_matches(site.root, settings.worktrees_link)
    copies = git_trees.ignored_matches(site.root, settings.worktrees_copy)
    return [path for path in copies if path not in links], links


def bring_files(site: Site, target: str, copies: Sequence[str], links: Sequence[str]) -> None:
    """Into a worktree; what it has already stays."""
    steps = copying.plan_steps(target, copies=copies, links=links)
    try:
        copying.apply_steps(site.root, target, steps)
    except copying.CannotBring as error:
        raise refuse("worktree.copy", path=error.path, error=str(error)) from error
    _keep_ignored(site, target, [step.path for step in steps])


def _keep_ignored(site: Site, target: str, brought: list[str]) -> None:
    """What was brought must not be committed there. The branch may not ignore it yet, and `node_modules/`
    in .gitignore means a directory, not a link of that name."""
    seen = set(git_trees.ignored_of(target, brought)) if brought else set()
    missing = [f"/{path}" for path in brought if path not in seen]
    if not missing:
        return
    exclude = f"{site.common_dir}/info/exclude"
    os.makedirs(os.path.dirname(exclude), exist_ok=True)
    with open(exclude, "a+b") as file:
        file.seek(0)
        text = file.read().decode("utf-8", "surrogateescape")
        new = [line for line in missing if line not in text.split("\n")]
        start = "" if not text or text.endswith("\n") else "\n"
        file.write((start + "".join(f"{line}\n" for line in new)).encode("utf-8", "surrogateescape"))


def _set_up(repo: Repo, row: Worktree) -> None:
    if not repo.settings.worktrees_setup:
        return
    from lineclear.host.commands import run_to_end

    env = unbound(repo.environ) | environment_of(repo, row)

    def run(command: str, timeout_s: float) -> Finished:
        return run_to_end(command, cwd=row.path, env=env, timeout_s=timeout_s)

    failed = run_set_up(repo, run)
    if failed is not None:
        command, done = failed
        how = "did not finish in time" if done.code < 0 else f"ended with {done.code}"
        raise setup_failed(command, how, done.tail)


def run_set_up(repo: Repo, run: Callable[[str, float], Finished]) -> tuple[str, Finished] | None:
    """The set-up commands, one after the other, within their time: each by `run`, with the seconds that
    are left. The first that fails ends it, and is given back."""
    import time

    deadline = time.monotonic() + repo.settings.worktrees_setup_timeout_ms / 1_000
    for command in repo.settings.worktrees_setup:
        done = run(command, max(0.0, deadline - time.monotonic()))
        if done.code != 0:
            return command, done
    return None


def unbound(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what binds git to one repository or its state."""
    return {name: value for name, value in environ.items() if name not in LOCAL_NAMES}


def _notes(site: Site, row: Worktree) -> list[str]:
    notes = []
    if git_trees.has_submodules(row.path) and not any(
        "submodule" in command for command in site.repo.settings.worktrees_setup
    ):
        notes.append(
            "Its submodules are empty: put `git submodule update --init` into [worktrees] setup "
            "if agents need them."
        )
    if git_trees.uses_lfs(row.path):
        import shutil

        if shutil.which("git-lfs") is None:
            notes.append("git-lfs is not installed: files kept in Git LFS are pointers here.")
    outer = _outer_repo(row.path)
    if outer:
        notes.append(f"It is inside another repository, {outer}, which treats it as content.")
    return notes


def _outer_repo(path: str) -> str:
    place = os.path.dirname(path)
    while place != os.path.dirname(place):
        if os.path.lexists(place + "/.git"):
            return place
        place = os.path.dirname(place)
    return ""


def base_warning(repo: Repo, place: Place) -> str:
    """Work that is not committed in the main worktree is not in a worktree made from its branch."""
    site = Site(repo)
    if not place.is_new or branches.commit_of(site.common_dir, site.root, "HEAD") != place.base:
        return ""
    changed = git_trees.count_changes(site.root)
    if changed == 1:
        return f"An uncommitted change in {site.root} is not in it."
    return f"{changed} uncommitted changes in {site.root} are not in it." if changed else ""


def environment_of(repo: Repo, row: Worktree) -> dict[str, str]:
    return rules.environment(
        name=row.name.rpartition("/")[2],
        path=row.path,
        port_first=row.port_first,
        port_count=row.port_count,
        stated=repo.settings.worktrees_env,
    )


# -- sandbox ----------------------------------------------------------------------------------


def sandboxed(
    repo: Repo, place: Ground, argv: Sequence[str], *, tmp: str, writable: Sequence[str] = ()
) -> list[str]:
    """The command line inside a sandbox that can write to the worktree, the git directory, the stated paths
    and `tmp` as its /tmp. A client's own directories are for the caller to state."""
    from lineclear.host import sandbox

    why = sandbox.why_unavailable()
    if why:
        raise refuse("sandbox.missing", reason=why)
    if repo.settings.worktrees_writable:
        from lineclear.wiring.trust import require_trust

        require_trust(repo, ["worktrees.writable"])
    stated = [os.path.join(place.path, os.path.expanduser(path)) for path in repo.settings.worktrees_writable]
    paths = [os.path.realpath(path) for path in (*stated, *writable)]
    for path in paths:
        if not os.path.exists(path):
            raise refuse("sandbox.path", path=path, why="it does not exist")
    common_dir = repo.layout.common_dir
    # What would run or be believed outside of the sandbox.
    protected = [
        f"{common_dir}/hooks",
        f"{repo.state_directory}/trusted",
        f"{repo.state_directory}/local.toml",
    ]
    return sandbox.wrap(
        argv, worktree=place.path, common_dir=common_dir, tmp=tmp, writable=paths, protected=protected
    )
