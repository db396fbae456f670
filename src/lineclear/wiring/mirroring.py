"""What the files for agents need of a repository: its worktrees, who edits there, what git must not see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app import mirroring
from lineclear.git import agent_files
from lineclear.git.branches import unlanded_branch
from lineclear.git.layout import find_layout, landing_branch, worktrees
from lineclear.host.host_names import clone_name, person_name
from lineclear.settings.local_file import write_local_section
from lineclear.wiring.repo import read_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.app.mirroring import Editor
    from lineclear.settings import Settings
    from lineclear.wiring.repo import Repo

TASKS, COORDINATION, LOCKS = "tasks", "coordination", "locks"
PARTS = (TASKS, COORDINATION, LOCKS)


@dataclass(frozen=True, slots=True)
class Tree:
    """A worktree that is there. `name` is what the store calls it."""

    name: str
    path: str


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

    def unlanded(base: str) -> str:
        main = repo.layout.landing or landing_branch(repo.layout.common_dir) or ""
        return unlanded_branch(tree.path, base or main)

    person, keep_ms = person_name(repo.settings.agents_person, repo.environ), repo.settings.operations_keep_ms
    return mirroring.editor_of(repo.store, tree.name, person, keep_ms, unlanded if needs_branch else None)


def is_tracked(tree: Tree, name: str) -> bool:
    return agent_files.is_tracked(tree.path, name)


def hide_from_git(repo: Repo, *, is_hidden: bool) -> bool:
    return agent_files.hide_agent_files(repo.layout.common_dir, is_hidden=is_hidden)


def is_hidden_from_git(repo: Repo) -> bool:
    return agent_files.are_agent_files_hidden(repo.layout.common_dir)


# -- choosing ---------------------------------------------------------------------------------


def choose_parts(repo: Repo, parts: tuple[str, ...]) -> None:
    """Which files this clone keeps, from now on; counts for processes that start after it."""
    keys = [f"{part} = {'true' if part in parts else 'false'}" for part in PARTS]
    write_local_section(repo.state_directory, "[mirror]", keys)


def root_and_settings(cwd: str, environ: Mapping[str, str]) -> tuple[str, Settings]:
    """Where somebody stands, for what needs no store."""
    layout = find_layout(cwd, environ)
    return layout.worktree, read_settings(layout, environ)
