"""Reserve the next migration's number before it is written, by a claim on every name that begins with it."""

from __future__ import annotations

from lineclear.app.claims import ask
from lineclear.core.claims.resources import parse_resource
from lineclear.core.claims.rules import EXCLUSIVE, Request
from lineclear.core.words.refusals import HELD, Refusal
from lineclear.merge.next_migration import PARENT, next_migration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, Liveness, Store
    from lineclear.merge.next_migration import Next

# So many agents do not write migrations for one folder at one time.
MOST_TRIES = 1000


def reserve_next(
    store: Store, liveness: Liveness, caller: Caller, folder: str, files: dict[str, str], at: str, *,
    name: str, ttl_ms: int, task: int = 0, fold_case: bool = False, nfc: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The next name in a folder, held for the caller; asked again before the file is there, the same one.

    `files`: the names in the folder with their texts, in every worktree and on main.
    """
    found = next_migration(files, at)
    for _ in range(MOST_TRIES):
        if found.how == PARENT:
            return _shown(found, folder, name, {})
        pattern = parse_resource(f"file:{folder}/{found.start}*", fold_case=fold_case, nfc=nfc)
        request = Request(
            caller.name, caller.tree, EXCLUSIVE, [pattern], ttl_ms=ttl_ms, note="next migration", task=task
        )
        try:
            return _shown(found, folder, name, ask(store, liveness, caller, request)["claims"][0])
        except Refusal as refusal:
            if refusal.exit_code != HELD:
                raise
            last = refusal
        found = next_migration(files, at, least=found.number + 1)
    raise last


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
