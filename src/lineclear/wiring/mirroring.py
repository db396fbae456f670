"""What the files for agents need of a repository: its worktrees, who edits there, what git must not see."""

from __future__ import annotations

import os

from lineclear.app.agents.membership import agent_of_tree
from lineclear.app.mirroring import Editor
from lineclear.core.log.tables import WORKTREE
from lineclear.git.layout import find_layout, landing_branch, worktrees
from lineclear.git.run import GitFailed, git
from lineclear.host.files import write_atomically
from lineclear.host.names import clone_name, person_name
from lineclear.wiring.repo import read_settings
from lineclear.wiring.starting import write_local_section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.settings import Settings
    from lineclear.wiring.repo import Repo

TASKS, COORDINATION, LOCKS = "tasks", "coordination", "locks"
PARTS = (TASKS, COORDINATION, LOCKS)

_BEGIN, _END = "# lineclear: files for agents", "# lineclear: end"
HIDDEN = ("/TASKS.md", "/.lineclear/", "*.agent-lock")


class Tree:
    """A worktree that is there. `name` is what the store calls it."""

    __slots__ = ("name", "path")

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path


def parts_on(settings: Settings) -> tuple[str, ...]:
    """Which kinds of files are kept up to date here; none unless somebody asked for them."""
    chosen = (settings.mirror_tasks, settings.mirror_coordination, settings.mirror_locks)
    return tuple(part for part, is_on in zip(PARTS, chosen, strict=True) if is_on)


def is_for_agents(settings: Settings, path: str) -> bool:
    """Is this, in a worktree, one of the files that are kept up to date here?"""
    parts = parts_on(settings)
    is_page = TASKS in parts and path == "TASKS.md"
    is_lock = LOCKS in parts and path.endswith(".agent-lock")
    return bool(parts) and (is_page or is_lock or path.startswith(".lineclear/"))


def live_trees(repo: Repo) -> list[Tree]:
    prefix = f"{clone_name(repo.state_directory)}/" if repo.settings.store_url else ""
    return [Tree(prefix + name, path) for name, path in worktrees(repo.layout.common_dir)]


def editor_of(repo: Repo, tree: Tree, *, needs_branch: bool) -> Editor:
    """Who edits a file in this worktree; the branch is only looked for when work may be handed over."""
    agent = repo.store.read(lambda view: agent_of_tree(view, tree.name))
    return Editor(
        tree.name,
        agent,
        person_name(repo.settings.agents_person, repo.environ),
        _unlanded_branch(repo, tree) if needs_branch and agent else "",
        repo.settings.operations_keep_ms,
    )


def _unlanded_branch(repo: Repo, tree: Tree) -> str:
    row = repo.store.read(lambda view: view.get(WORKTREE, (tree.name,)))
    base = (
        row.base
        if row is not None and row.base
        else (repo.layout.landing or landing_branch(repo.layout.common_dir))
    )
    branch = git(["symbolic-ref", "--quiet", "--short", "HEAD"], tree.path, check=False).decode().strip()
    if not base or not branch:
        return ""
    new = git(["rev-list", "--max-count=1", f"{base}..HEAD", "--"], tree.path, check=False)
    return branch if new.strip() else ""


def is_tracked(tree: Tree, name: str) -> bool:
    """Does the repository itself keep a file of this name?"""
    try:
        return bool(git(["ls-files", "-z", "--", name], tree.path, check=False))
    except GitFailed:
        return True  # what we cannot judge is not ours to write


def hide_from_git(repo: Repo, *, is_hidden: bool) -> bool:
    """Put our lines into git's list of excluded files, or take exactly them out; True if it changed."""
    path = os.path.join(repo.layout.common_dir, "info", "exclude")
    try:
        with open(path, "rb") as file:
            before = file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        before = ""
    after = _without_block(before)
    if is_hidden:
        gap = "" if not after or after.endswith("\n") else "\n"
        after += gap + "\n".join([_BEGIN, *HIDDEN, _END]) + "\n"
    if after == before:
        return False
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_atomically(path, after.encode("utf-8", "surrogateescape"))
    return True


def _without_block(text: str) -> str:
    lines = text.splitlines(keepends=True)
    plain = [line.rstrip("\r\n") for line in lines]
    if _BEGIN not in plain or _END not in plain[plain.index(_BEGIN) :]:
        return text
    first = plain.index(_BEGIN)
    last = plain.index(_END, first)
    return "".join(lines[:first] + lines[last + 1 :])


# -- choosing ---------------------------------------------------------------------------------


def choose_parts(repo: Repo, parts: tuple[str, ...]) -> None:
    """Which files this clone keeps, from now on; counts for processes that start after it."""
    keys = [f"{part} = {'true' if part in parts else 'false'}" for part in PARTS]
    write_local_section(repo.state_directory, "[mirror]", keys)


def root_and_settings(cwd: str, environ: Mapping[str, str]) -> tuple[str, Settings]:
    """Where somebody stands, for what needs no store."""
    layout = find_layout(cwd, environ)
    return layout.worktree, read_settings(layout, environ)


def is_hidden_from_git(repo: Repo) -> bool:
    try:
        with open(os.path.join(repo.layout.common_dir, "info", "exclude"), encoding="utf-8") as file:
            lines = file.read().split("\n")
    except (OSError, ValueError):
        return False
    return all(line in lines for line in HIDDEN)
