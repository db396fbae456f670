"""The settings that checks run by: lineclear.toml as main has it committed, whatever a candidate or the
person's own tree says. This clone's local.toml and the environment count on top, as they always do.
"""

from __future__ import annotations

from lineclear.core.queue.checks import Check
from lineclear.core.words.refusals import refuse
from lineclear.core.words.settings import settings_too_large
from lineclear.git.commits import Commits
from lineclear.git.layout import ignores_case
from lineclear.git.object_store import ObjectStore
from lineclear.git.objects import TREE_MODE, parse_tree
from lineclear.settings.loading import MAX_FILE_BYTES, load_under
from lineclear.settings.table import TEAM_FILE
from lineclear.wiring.repo import Repo, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.core.claims.resources import Resource
    from lineclear.git.objects import Entry
    from lineclear.settings import Settings

_PLAIN_FILES = ("100644", "100755")


class CommittedSettings:
    """The settings with the team's file as a commit has it. A file that several commits share is read once:
    what this clone and the environment add counts as it was then."""

    def __init__(self, repo: Repo, objects: ObjectStore) -> None:
        self._repo, self._objects = repo, objects
        self._known: dict[Entry | None, Settings] = {}

    def at(self, commit: str) -> Settings:
        entry = self._entry(commit)
        if entry not in self._known:
            layout = self._repo.layout
            self._known[entry] = load_under(
                self._content(entry) if entry is not None else None,
                local_dir=state_directory(layout),
                environ=self._repo.environ,
                folds_case=ignores_case(layout.common_dir),
            )
        return self._known[entry]

    def repo_at(self, commit: str) -> Repo:
        """The same repository and store, by the settings of that commit. Its opener closes it."""
        return Repo(self._repo.layout, self.at(commit), self._repo.store, self._repo.environ)

    def _entry(self, commit: str) -> Entry | None:
        tree = Commits(self._objects).tree_of(self._objects.commit_of(commit))
        root = self._objects.read([tree])[tree]
        return parse_tree(root, len(tree) // 2).get(TEAM_FILE.encode())

    def _content(self, entry: Entry) -> bytes | None:
        mode, oid = entry
        if mode == TREE_MODE:
            return None
        if mode not in _PLAIN_FILES:
            raise refuse(
                "settings.unreadable", origin=TEAM_FILE, path=TEAM_FILE, why="it is not a plain file"
            )
        if self._objects.size_of(oid) > MAX_FILE_BYTES:
            raise settings_too_large(TEAM_FILE, MAX_FILE_BYTES)
        return self._objects.read([oid])[oid]


def repo_at(repo: Repo, commit: str) -> Repo:
    """The same repository and store, by the settings of that commit. The opener of `repo` closes it."""
    with ObjectStore(repo.layout.common_dir) as objects:
        return CommittedSettings(repo, objects).repo_at(commit)


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
        from lineclear.wiring.trust import trust_of

        trust_of(repo).require(places)
