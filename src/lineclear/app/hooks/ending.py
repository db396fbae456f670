"""The end of a session: announcements of files that were not changed after all are given back."""

from __future__ import annotations

from lineclear.core.claims.rules import INTENT, claim_released, is_over, resource_of
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import AGENT, CLAIM
from lineclear.git.landing import commit_of, landing_ref
from lineclear.git.run import GitFailed, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.ports import Caller, Tx
    from lineclear.wiring.repo import Repo

_LIMIT_S = 20.0
# Nobody is there to renew it, and a branch may wait over a weekend. An announcement stops nobody.
_UNLANDED_MS = 7 * 24 * 3_600_000


def give_back_unchanged(
    repo: Repo, caller: Caller, base: str, *, is_session_over: bool, is_shared: bool
) -> list[str]:
    """Release the caller's intents on files that are as its branch began; those on changed ones last until
    the branch lands, at most a week. The session is then over, so that the next one in this place is the
    same agent. In a shared tree, where an intent does stop others, it keeps its own length."""
    changed = _changed_paths(repo, base)

    def work(tx: Tx) -> list[str]:
        freed = []
        for claim in tx.pick(CLAIM, "key", (caller.name,)):
            resource = resource_of(claim.resource)
            if claim.mode != INTENT or claim.tree != repo.tree or claim.bond or resource.kind != "file":
                continue
            if changed is not None and resource.path not in changed:
                tx.append(claim_released(claim, "unchanged"))
                freed.append(claim.resource)
            elif not is_shared and not is_over(claim.until_ns, tx.now):
                tx.put(CLAIM, claim.changed(until_ns=max(claim.until_ns, tx.now.in_ms(_UNLANDED_MS))))
        agent = tx.get(AGENT, (caller.name,))
        if (
            is_session_over
            and agent is not None
            and agent.state == "here"
            and agent.session == caller.session
        ):
            tx.append(Draft("AgentLeft", f"agent:{caller.name}", why="session over"))
        return freed

    return repo.store.transact(caller, work)


def _changed_paths(repo: Repo, base: str) -> set[str] | None:
    """What differs both from `base`, the commit that the branch began with, and from main, which may hold it
    by now; uncommitted and new files included. None when git cannot say, and then nothing is given back."""
    root = repo.layout.worktree
    try:
        found = _differing(root, base or "HEAD")
        main = landing_ref(repo.layout)
        if commit_of(root, main):
            found &= _differing(root, main)
        words = ("ls-files", "-z", "--others", "--exclude-standard")
        found |= set(git(words, root, timeout_s=_LIMIT_S).split(b"\0"))
    except GitFailed:
        return None
    from os import fsdecode

    from lineclear.core.claims.paths import fold
    from lineclear.wiring.repo import folds_case

    case = folds_case(repo.layout, repo.settings)
    return {fold(fsdecode(path), case=case, nfc=repo.settings.paths_nfc) for path in found if path}


def _differing(root: str, commit: str) -> set[bytes]:
    words = ("diff", "--name-only", "-z", "--no-renames", commit, "--")
    return set(git(words, root, timeout_s=_LIMIT_S).split(b"\0"))
