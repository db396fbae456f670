"""The settings that checks run by: lineclear.toml as main has it committed, whatever a candidate or the
person's own tree says. This clone's local.toml and the environment count on top, as they always do.
"""

from __future__ import annotations

from lineclear.core import refusals_settings
from lineclear.core.checks import Check
from lineclear.git.detached import file_at
from lineclear.git.layout import ignores_case
from lineclear.git.trees import GitTrees
from lineclear.settings.loading import MAX_FILE_BYTES, load_under
from lineclear.settings.table import TEAM_FILE
from lineclear.wiring.repo import Repo, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.core.resources import Resource
    from lineclear.settings import Settings

_PLAIN_FILES = ("100644", "100755")


def settings_at(repo: Repo, commit: str) -> Settings:
    """The settings with the team's file as this commit has it."""
    layout = repo.layout
    return load_under(
        _team_file(layout.common_dir, commit),
        local_dir=state_directory(layout),
        environ=repo.environ,
        folds_case=ignores_case(layout.common_dir),
    )


def _team_file(common_dir: str, commit: str) -> bytes | None:
    oid, size_bytes, mode = file_at(common_dir, commit, TEAM_FILE)
    if not oid:
        return None
    if mode not in _PLAIN_FILES:
        raise refusals_settings.settings_unreadable(TEAM_FILE, TEAM_FILE, "it is not a plain file")
    if size_bytes > MAX_FILE_BYTES:
        raise refusals_settings.settings_too_large(TEAM_FILE, MAX_FILE_BYTES)
    return GitTrees(common_dir).read([oid])[oid]


def repo_at(repo: Repo, commit: str) -> Repo:
    """The same repository and store, by the settings of that commit. Whoever opened `repo` closes it."""
    return Repo(repo.layout, settings_at(repo, commit), repo.store, repo.environ)


def stated_checks(settings: Settings) -> list[tuple[Check, Resource | None]]:
    """The gate, then the checks for parts of the repository, each with its place."""
    found: list[tuple[Check, Resource | None]] = []
    if settings.checks_gate:
        found.append((_check(settings, settings.checks_gate, "gate"), None))
    for path in settings.check_paths:
        name = f"paths[{path.number - 1}]"
        check = _check(settings, path.command, name, path.retries)
        if path.origin != TEAM_FILE:
            check.where = ""
        found.append((check, path.resource))
    return found


def full_check(settings: Settings) -> Check | None:
    """The command that runs all tests, where there is one."""
    return _check(settings, settings.checks_full, "full") if settings.checks_full else None


def _check(settings: Settings, command: str, name: str, retries: int = -1) -> Check:
    return Check(
        command,
        timeout_ms=settings.checks_gate_timeout_ms,
        retries=retries if retries >= 0 else settings.checks_retries,
        name=name,
        where=f"checks.{name}",
    )


def has_checks(settings: Settings) -> bool:
    return bool(settings.checks_gate or settings.checks_full or settings.check_paths)


def require_trusted(repo: Repo, checks: Iterable[Check]) -> None:
    """Refuse unless a person has seen these very commands, and what a tree is made ready with. What else
    the file asks for does not matter here."""
    settings = repo.settings
    places = [check.where for check in checks if check.where]
    places += ["worktrees.setup"] if settings.worktrees_setup else []
    places += ["worktrees.env"] if settings.worktrees_env else []
    if places:
        from lineclear.wiring.trust import require_trust

        require_trust(repo, places)
