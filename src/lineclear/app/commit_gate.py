"""The commit gate: the facts near each changed path, and what the write rule says of it. Writes nothing."""

from __future__ import annotations

from lineclear.app.writing import judge, tree_of
from lineclear.core.claims.write_rule import COMMIT, LANDING, Write, touches_anything
from lineclear.core.log.tables import AGENT, WORKTREE
from lineclear.core.queue.commit_gate import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lineclear.app.ports import Liveness, Store, View
    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.strategies import Rule

    # Does the change of this file touch this symbol? True when that cannot be told.
    Touches = Callable[[Resource, str], bool]

# A commit that touches more is judged by its first ones: one refusal is enough.
MOST_FINDINGS = 20
FOREIGN = "gate.foreign_tree"


def examine_commit(
    store: Store, liveness: Liveness, rules: list[Rule], agent: str, tree: str, resources: Sequence[Resource],
    *, fence_of: Callable[[Resource], int] = lambda _resource: 0, touches: Touches | None = None,
) -> list[Finding]:  # fmt: skip
    """Which of these files the agent may not commit or push from this worktree."""

    def look(view: View) -> list[Finding]:
        place, row, known = tree_of(view, tree), view.get(WORKTREE, (tree,)), view.get(AGENT, (agent,))
        since = row.made if row is not None else known.joined if known is not None else 0
        writes = (
            Write(
                resource, agent, COMMIT, tree=place, since=since, fence=fence_of(resource),
                touches=_touches_in(resource, touches),
            )
            for resource in resources
        )  # fmt: skip
        return _examine(view, liveness, rules, writes)

    return store.read(look)


def examine_landing(
    store: Store, liveness: Liveness, rules: list[Rule], agent: str, resources: Sequence[Resource],
    *, touches: Touches | None = None,
) -> list[Finding]:  # fmt: skip
    """Which of these files may not land for the agent whose branch it is; where it worked is not asked."""

    def look(view: View) -> list[Finding]:
        since = min((row.made for row in view.pick(WORKTREE, "agent", (agent,))), default=0)
        writes = (
            Write(resource, agent, LANDING, since=since, touches=_touches_in(resource, touches))
            for resource in resources
        )
        return _examine(view, liveness, rules, writes)

    return store.read(look)


def _touches_in(resource: Resource, touches: Touches | None) -> Callable[[str], bool]:
    return touches_anything if touches is None else lambda symbol: touches(resource, symbol)


def _examine(view: View, liveness: Liveness, rules: list[Rule], writes: Iterable[Write]) -> list[Finding]:
    found: list[Finding] = []
    for write in writes:
        refusal = judge(view, liveness, rules, write).refusal
        # Whose worktree it is concerns the whole commit, and is said once.
        if refusal is None or (refusal.code == FOREIGN and any(one.kind == FOREIGN for one in found)):
            continue
        found.append(Finding(write.resource.path, refusal))
        if len(found) >= MOST_FINDINGS:
            break
    return found
