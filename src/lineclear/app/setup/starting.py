"""`init` puts a repository under coordination; `uninstall` plans what has to go to take it out again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.setup.clone import SetupClone


TEAM_STORE = "the team's PostgreSQL store"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRepo:
    """A repository that gets a store. `root`: its main worktree; `directory`: ours in its git directory;
    `repo_id` and `store_url` as the settings say, "" where they do not.

    `create_postgres` takes the repository's id; both `create_...` return True if there was no store before,
    and bring an older one to the newest schema. `network_fs` returns the type of a network file system, or
    None on a local one. `make_bells` makes the directory in which waiting processes listen. `root_commit`
    returns "" before the first commit.
    """

    root: str
    worktree: str
    directory: str
    repo_id: str
    store_url: str
    network_fs: Callable[[str], str | None]
    make_directory: Callable[[], None]
    create_sqlite: Callable[[], bool]
    make_bells: Callable[[], None]
    create_postgres: Callable[[str], bool]
    root_commit: Callable[[], str]
    write_repo_id: Callable[[str], None]
    write_store_url: Callable[[str], None]

    def init(self, url: str) -> dict[str, object]:
        """Make the store. `url`, which may be "", is what the user gave for it; this clone remembers it."""
        if self.repo_id and not self.store_url:
            raise refuse("store.team", repo_id=self.repo_id)
        self.make_directory()
        if self.store_url:
            created = self.create_postgres(self.shared_id())
            if url:
                self.write_store_url(url)
        else:
            network = self.network_fs(self.directory)
            if network:
                raise refuse("store.network", path=self.directory, file_system=network)
            created = self.create_sqlite()
            self.make_bells()
        engine = "postgres" if self.store_url else "sqlite"
        return {"repo": self.worktree, "engine": engine, "created": created, "directory": self.directory}

    def shared_id(self) -> str:
        """The name that all clones share; if there is none yet, a new one, written where the team commits
        it."""
        if self.repo_id:
            return self.repo_id
        commit = self.root_commit()
        if not commit:
            raise refuse("repo.empty", path=self.worktree)
        repo_id = f"{self.root.rpartition('/')[2]}-{commit[:10]}"
        self.write_repo_id(repo_id)
        return repo_id


def plan_uninstall(
    clone: SetupClone, *, has_directory: bool, team_file: str, is_team: bool
) -> dict[str, list[str]]:
    """What lineclear put into this clone. The plan names what the team shares, and keeps it."""
    kept = [f"{team_file} (yours)"] if clone.files.read(team_file) is not None else []
    kept += [TEAM_STORE] if is_team else []
    return {"paths": [clone.state] if has_directory else [], "kept": kept, "clients": clone.installed()}
