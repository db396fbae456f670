"""Reserve the number of the next migration by claiming every file name that begins with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.claims import ask
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.words.row import HELD
from lineclear.merge.next_migration import PARENT, next_migration

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Protocol

    from lineclear.app.ports import Caller, Liveness, Store
    from lineclear.merge.next_migration import Next

    class MigrationFiles(Protocol):
        """Migrations on main and in every worktree of this machine."""

        def on_main(self) -> list[str]:
            """The path of every migration on main; empty if there is no main yet."""

        def files_in(self, folder: str, /) -> dict[str, str]:
            """name -> text of the entries of a folder, on main and in every worktree; "" for a subfolder."""


# More than the agents that could write migrations in one folder at the same time.
MOST_TRIES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrations:
    """Reserves names of migrations. `at`: the current time, as written in names that begin with a time."""

    store: Store
    liveness: Liveness
    files: MigrationFiles
    at: str
    ttl_ms: int
    fold_case: bool
    nfc: bool

    def reserve(
        self, caller: Caller, folder: str, *, name: str, ttl_ms: int = 0, task: int = 0
    ) -> dict[str, Any]:
        """Claim the next name in a folder. Until the file exists, the same caller gets the same name again.

        `folder`: relative to the repository's root; "" for the only folder with migrations. `ttl_ms`: 0 for
        a claim's default.
        """
        folder = folder.strip("/") or _only_folder(self.files.on_main())
        files = self.files.files_in(folder)
        found = next_migration(files, self.at)
        for _ in range(MOST_TRIES):
            if found.how == PARENT:
                return _shown(found, folder, name, {})
            pattern = parse_resource(f"file:{folder}/{found.start}*", fold_case=self.fold_case, nfc=self.nfc)
            request = Request(
                caller.name, caller.tree, EXCLUSIVE, [pattern], ttl_ms=ttl_ms or self.ttl_ms,
                note="next migration", task=task,
            )  # fmt: skip
            try:
                return _shown(
                    found, folder, name, ask(self.store, self.liveness, caller, request)["claims"][0]
                )
            except Refusal as refusal:
                if refusal.exit_code != HELD:
                    raise
                last = refusal
            found = next_migration(files, self.at, least=found.number + 1)
        raise last


def _only_folder(paths: Iterable[str]) -> str:
    folders = {path.rpartition("/")[0] for path in paths}
    # Prisma keeps each migration in a folder of its own.
    folders = {folder.rpartition("/")[0] if "prisma/migrations/" in folder else folder for folder in folders}
    if len(folders) != 1:
        raise refuse("migration.folder", folders=sorted(folders))
    return folders.pop()


def _shown(found: Next, folder: str, name: str, claim: dict[str, Any]) -> dict[str, Any]:
    path = f"{folder}/{found.start}{name}{found.end}" if found.how != PARENT else ""
    return {
        "folder": folder,
        "how": found.how,
        "path": path,
        "number": found.number or None,
        "parent": found.parent,
        "resource": claim.get("resource", ""),
        "fence": claim.get("fence", 0),
        "until_at": claim.get("until_at", ""),
    }
