"""Worktrees, wired: git, disk, ports and settings behind the use cases.

For the supervisor: `prepare`, `place_of`, `discard`. For the command line and clients' own hooks: `make`,
`adopt`, `look`, `remove`, `forget_vanished`. Room, files, set-up and sandbox are in provisioning.py.
"""

from __future__ import annotations

import os

from lineclear.app.worktrees import lifecycle as use_cases
from lineclear.core.log.tables import TASK, WORKTREE, Worktree
from lineclear.core.words.refusals import not_found, refuse
from lineclear.core.words.worktrees import worktree_failed
from lineclear.core.worktrees import rules
from lineclear.git import branches
from lineclear.git import worktrees as git_trees
from lineclear.git.layout import has_commit, is_check_tree
from lineclear.git.layout import worktrees as present_worktrees
from lineclear.git.run import GitFailed
from lineclear.wiring.check_ports import free_for_agents
from lineclear.wiring.provisioning import check_room_at, environment_of, provision
from lineclear.wiring.worktree_git import GitSide, Site, bond_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lineclear.app.ports import Caller
    from lineclear.host.bonds import HeldBond
    from lineclear.wiring.repo import Repo

    IsSaved = Callable[[str], bool]

# What git writes as the reason of its own lock while it makes a worktree; left behind when it is killed.
_HALF_MADE = "initializing"


class Place:
    """A worktree that is ready: `tree` is our name for it, `base` a commit, `env` for processes there."""

    __slots__ = ("base", "branch", "env", "is_new", "notes", "path", "ports", "tree")

    def __init__(self, row: Worktree, env: dict[str, str], *, is_new: bool, notes: list[str]) -> None:
        self.tree, self.path, self.branch, self.base = row.name, row.path, row.branch, row.base
        self.ports = range(row.port_first, row.port_first + row.port_count)
        self.env, self.is_new, self.notes = env, is_new, notes

    def as_dict(self) -> dict[str, Any]:
        shown = f"{self.ports.start}-{self.ports.stop - 1}" if self.ports else ""
        return {
            "name": self.tree,
            "path": self.path,
            "branch": self.branch,
            "base": self.base,
            "ports": shown,
            "env": self.env,
            "is_new": self.is_new,
        }


# -- making -----------------------------------------------------------------------------------


def prepare(
    repo: Repo,
    caller: Caller,
    *,
    agent: str,
    task: int = 0,
    branch: str = "",
    base: str = "",
    run_setup: bool = True,
    is_saved: IsSaved | None = None,
) -> Place:
    """A fresh worktree for an agent's work. One that it still has is discarded first, or refused when
    something in it would be lost."""
    site = Site(repo)
    for row in repo.store.read(lambda view: use_cases.worktrees_of(view, agent)):
        if row.origin == rules.OURS and site.owns(row):
            discard(repo, caller, row.name, why="its agent begins anew", is_saved=is_saved)
    return make(repo, caller, agent=agent, task=task, branch=branch, base=base, run_setup=run_setup)


def make(
    repo: Repo,
    caller: Caller,
    *,
    name: str = "",
    agent: str = "",
    task: int = 0,
    branch: str = "",
    base: str = "",
    path: str = "",
    run_setup: bool = True,
) -> Place:
    """A worktree that is ready to work in, or a refusal and nothing left behind."""
    site = Site(repo)
    name = rules.worktree_name(name) if name else rules.name_for(agent, task)
    asked = {"name": name, "agent": agent, "task": task, "branch": branch, "base": base, "path": path}
    before = use_cases.made_before(repo.store, caller, asked)
    if before is not None:
        return place_of(repo, before.name)
    _check_settings(repo, run_setup)
    bond = site.hold(name)
    try:
        row = _make_bare(site, caller, asked, bond)
        try:
            notes = provision(site, row, run_setup)
        except BaseException:
            _take_back(site, caller, row)
            raise
    finally:
        bond.release()
    return Place(row, environment_of(repo, row), is_new=True, notes=notes)


def _make_bare(site: Site, caller: Caller, asked: dict[str, Any], bond: HeldBond) -> Worktree:
    known = [row for row in _rows(site) if row.name == site.scope + asked["name"]]
    if known and not _forget(site, caller, known, is_ours=True):
        raise refuse("worktree.exists", name=asked["name"], path=known[0].path)
    wanted = _wanted(site, asked)
    check_room_at(site, 1, wanted.path)
    return use_cases.make(site.repo.store, caller, GitSide(site, bond), wanted, free_for_agents(site.repo))


def _take_back(site: Site, caller: Caller, row: Worktree) -> None:
    GitSide(site).remove(row, True)
    use_cases.record_removed(site.repo.store, caller, [row.name], "it could not be set up")


def _check_settings(repo: Repo, run_setup: bool) -> None:
    """What the settings ask for is looked at before anything is made."""
    settings = repo.settings
    for setting in ("copy", "link"):
        for pattern in getattr(settings, f"worktrees_{setting}"):
            rules.check_pattern(f"worktrees.{setting}", pattern)
    places = ["worktrees.env"] if settings.worktrees_env else []
    places += ["worktrees.setup"] if run_setup and settings.worktrees_setup else []
    if places:
        from lineclear.wiring.trust import require_trust

        require_trust(repo, places)


def _wanted(site: Site, asked: dict[str, Any]) -> use_cases.Wanted:
    settings, name, chosen = site.repo.settings, asked["name"], asked["branch"]
    _check_name(site, name)
    place = _place_for(site, name, asked["path"])
    title = _title(site.repo, asked["task"])
    branch = chosen or rules.branch_for(settings.worktrees_branches, name, asked["task"], title)
    near = branches.branches_near(site.common_dir, site.root, rules.branch_name(branch))
    is_new = _check_branch(site, branch, near, is_chosen=bool(chosen), base=asked["base"])
    return use_cases.Wanted(
        name, place, branch=branch, base=_base_commit(site, asked["base"] if is_new else branch),
        agent=asked["agent"], task=asked["task"], scope=site.scope, ports=settings.worktrees_ports,
        ports_from=settings.worktrees_ports_from, ports_to=settings.worktrees_ports_to, branches=near,
        is_new_branch=is_new, is_own_branch=not chosen, asked=asked,
    )  # fmt: skip


def _title(repo: Repo, task: int) -> str:
    row = repo.store.read(lambda view: view.get(TASK, (task,))) if task else None
    return row.title if row is not None else ""


def _place_for(site: Site, name: str, path: str) -> str:
    """The real path of the new worktree: the given one, or in the settings' directory, or beside the repo."""
    place = os.path.realpath(os.path.join(site.root, path)) if path else site.default_place(name)
    if not place.isprintable():
        raise refuse("input.bad", name="path", given=place, why="it holds a character that cannot be shown")
    rules.check_place(place, site.common_dir, dict(present_worktrees(site.common_dir)))
    if os.path.lexists(place) and (not os.path.isdir(place) or os.listdir(place)):
        raise refuse("worktree.place_taken", path=place)
    return place


def _check_name(site: Site, name: str) -> None:
    """Refuse a name that git has for a worktree that is there, or that differs from one only in case."""
    names = git_trees.entry_names(site.common_dir)
    rules.check_clash("worktree", name, names)
    path = git_trees.entry_path(site.common_dir, name) if name in names else ""
    if path and os.path.lexists(path):
        raise refuse("worktree.exists", name=name, path=path)
    if path and git_trees.lock_of(site.common_dir, name) is None and site.is_default_place(path, name):
        # What git remembers of a directory that is gone would keep it from making a new one there.
        git_trees.remove(site.root, path, force=True)


def _check_branch(site: Site, branch: str, near: list[str], *, is_chosen: bool, base: str) -> bool:
    """Is the branch to be made? Refused when it is in use, blocked by another, or its double but for case."""
    rules.check_room_for_ref(branch, near)
    if not is_chosen:
        return True
    rules.check_clash("branch", branch, near)
    if branch not in near:
        return True
    place = branches.checked_out(site.common_dir, site.root).get(branch)
    if place:
        raise refuse("worktree.branch_in_use", branch=branch, path=place)
    if base:
        raise refuse("worktree.branch_exists", branch=branch)
    return False


def _base_commit(site: Site, base: str) -> str:
    """The commit to begin from: what was asked for, else what the settings say, else main."""
    wanted = base or site.repo.settings.worktrees_base
    main = site.main_branch()
    for name in (wanted,) if wanted else (main, f"origin/{main}", "HEAD"):
        commit = branches.commit_of(site.common_dir, site.root, name)
        if commit:
            return commit
    if not has_commit(site.common_dir, site.common_dir):
        raise refuse("worktree.unborn", path=site.root)
    raise refuse("worktree.base", base=wanted or main)


def place_of(repo: Repo, tree: str) -> Place:
    """A worktree that was made before, as `prepare` gave it."""
    row = Site(repo).current(repo.store.read(lambda view: use_cases.known_worktree(view, tree)))
    return Place(row, environment_of(repo, row), is_new=False, notes=[])


# -- looking ----------------------------------------------------------------------------------


def look(repo: Repo) -> list[dict[str, Any]]:
    """All worktrees but the main one: what the store knows, joined with what git says now."""
    site = Site(repo)
    truth = _truth(site)
    return repo.store.read(lambda view: use_cases.list_worktrees(view, site.scope, truth))


def _truth(site: Site) -> dict[str, dict[str, Any]]:
    from concurrent.futures import ThreadPoolExecutor

    entries = [entry for entry in git_trees.list_worktrees(site.root)[1:] if not is_check_tree(entry.path)]
    main = site.main_commit()
    names = {
        os.path.realpath(git_trees.entry_path(site.common_dir, name)): name
        for name in git_trees.entry_names(site.common_dir)
    }
    with ThreadPoolExecutor(min(8, len(entries) or 1)) as pool:
        facts = list(pool.map(lambda entry: _facts(entry, main), entries))
    known = [names.get(os.path.realpath(entry.path)) for entry in entries]
    return {site.scope + name: found for name, found in zip(known, facts, strict=True) if name}


def _facts(entry: git_trees.Entry, main: str) -> dict[str, Any]:
    found: dict[str, Any] = {"path": entry.path, "branch": entry.branch, "state": "ready"}
    if entry.is_missing or not os.path.isdir(entry.path):
        return found | {"state": "missing"}
    if entry.is_locked:
        found["state"] = "half made" if entry.lock == _HALF_MADE else "locked"
    try:
        counts = branches.count_between(entry.path, main, "HEAD")
        found["changed"] = git_trees.count_changes(entry.path)
    except GitFailed:
        return found | {"state": "broken"}
    if counts is not None:
        found["behind"], found["ahead"] = counts
    return found


# -- adopting ---------------------------------------------------------------------------------


def adopt(repo: Repo, caller: Caller, path: str, *, agent: str = "", task: int = 0) -> Place:
    """Take over a worktree that git has at (or above) this path; `is_new` when we did not know it."""
    site = Site(repo)
    entry = _entry_around(site, os.path.realpath(path))
    name = git_trees.name_of(entry.path)
    if not name:
        words = "its .git file leads nowhere; `git worktree repair` may help"
        raise worktree_failed(path, words)
    if name == "main":
        raise refuse("input.bad", name="worktree", given=name, why="that is the main worktree's name")
    settings, origin = repo.settings, rules.origin_of(entry.path, _codex_home(repo))
    wanted = use_cases.Wanted(
        name, os.path.realpath(entry.path), branch=entry.branch, base=entry.head, agent=agent, task=task,
        origin=origin, scope=site.scope, ports=settings.worktrees_ports,
        ports_from=settings.worktrees_ports_from, ports_to=settings.worktrees_ports_to, is_own_branch=False,
    )  # fmt: skip
    row, is_new = use_cases.adopt(repo.store, caller, wanted, free_for_agents(repo))
    return Place(row, environment_of(repo, row), is_new=is_new, notes=[])


def _codex_home(repo: Repo) -> str:
    return os.path.realpath(repo.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex"))


def _entry_around(site: Site, path: str) -> git_trees.Entry:
    """The innermost worktree that holds the path: clients make theirs inside the main one."""
    entries = git_trees.list_worktrees(site.root)
    around = [entry for entry in entries if rules.is_inside(path, os.path.realpath(entry.path))]
    if not around or not os.path.isdir(path):
        raise not_found("worktree", path, "lineclear worktree list")
    found = max(around, key=lambda entry: len(entry.path))
    if found is entries[0]:
        raise refuse("worktree.main", what="adopt")
    if is_check_tree(os.path.realpath(found.path)):
        raise refuse("checks.not_a_workplace", path=found.path)
    return found


# -- removing ---------------------------------------------------------------------------------


def discard(
    repo: Repo,
    caller: Caller,
    place: Place | str,
    *,
    why: str,
    force: bool = False,
    is_saved: IsSaved | None = None,
) -> dict[str, Any]:
    """Remove a worktree, by its place or our name for it; refused when something in it would be lost.

    Commits stay on their branch. `is_saved(tree)` says whether a snapshot holds all that is in it now;
    without it our own snapshots are asked.
    """
    site = Site(repo)
    name = (place if isinstance(place, str) else place.tree).removeprefix(site.scope)
    row = _row_of(site, name)
    if row is None:
        return use_cases.removed_before(repo.store, caller, site.scope + name)
    bond = site.hold(name)
    try:
        if _forget(site, caller, [row], is_ours=True):
            return {"name": row.name, "path": row.path, "branch": row.branch, "saved": False}
        saved = is_saved or _snapshot_asker(repo)
        return use_cases.remove(repo.store, caller, GitSide(site), row, why=why, is_saved=saved, force=force)
    finally:
        bond.release()


def _snapshot_asker(repo: Repo) -> IsSaved:
    from lineclear.wiring.snapshots import is_saved

    return lambda tree: is_saved(repo, tree)


def remove(
    repo: Repo, caller: Caller, name: str, *, force: bool = False, is_saved: IsSaved | None = None
) -> dict[str, Any]:
    if name == "main":
        raise refuse("worktree.main", what="remove")
    return discard(repo, caller, name, why=f"removed by {caller.name}", force=force, is_saved=is_saved)


def _row_of(site: Site, name: str) -> Worktree | None:
    """Ours by that name, or one that only git knows, as a row of nobody."""
    tree = site.scope + name
    row = site.repo.store.read(lambda view: view.get(WORKTREE, (tree,)))
    if row is not None:
        return site.current(row) if site.owns(row) else None
    if name not in git_trees.entry_names(site.common_dir):
        return None
    path = os.path.realpath(git_trees.entry_path(site.common_dir, name))
    if is_check_tree(path):
        raise refuse("checks.not_a_workplace", path=path)
    held = branches.checked_out(site.common_dir, site.root)
    branch = next((branch for branch, place in held.items() if place == path), "")
    return Worktree(tree, path, branch, "", "", 0, rules.GIT, 0, 0, 0)


def forget_vanished(repo: Repo, caller: Caller) -> list[str]:
    """Take out of the store what neither git nor the disk has any longer; their ports are free again."""
    site = Site(repo)
    return _forget(site, caller, _rows(site))


def vanished(repo: Repo) -> list[str]:
    """What `forget_vanished` would take out."""
    site = Site(repo)
    return [row.name for row in _rows(site) if _is_vanished(site, row) and not _is_busy(site, row)]


def _rows(site: Site) -> list[Worktree]:
    rows = site.repo.store.read(lambda view: view.scan(WORKTREE, "key"))
    return [site.current(row) for row in rows if site.owns(row)]


def _forget(site: Site, caller: Caller, rows: list[Worktree], *, is_ours: bool = False) -> list[str]:
    """`is_ours`: we hold the bond of these ourselves."""
    gone = [row for row in rows if _is_vanished(site, row) and (is_ours or not _is_busy(site, row))]
    for row in gone:
        GitSide(site).remove(row, True)
    names = [row.name for row in gone]
    return use_cases.record_removed(site.repo.store, caller, names, "it had vanished") if names else []


def _is_busy(site: Site, row: Worktree) -> bool:
    return site.repo.bonds.is_held(bond_of(row.name.removeprefix(site.scope)))


def _is_vanished(site: Site, row: Worktree) -> bool:
    """No directory, or none that git knows; or one that git was killed in while it made it.

    One that is locked may be on a disk that is not there just now.
    """
    name = row.name.removeprefix(site.scope)
    path = git_trees.entry_path(site.common_dir, name)
    lock = git_trees.lock_of(site.common_dir, name)
    if lock is not None:
        return lock == _HALF_MADE and row.origin == rules.OURS
    return not path or os.path.realpath(path) != row.path or not os.path.lexists(row.path)
