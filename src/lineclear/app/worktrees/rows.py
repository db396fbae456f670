"""Rows of worktrees: reserve, adopt, list, remove, forget. Git acts through a port.

One transaction reserves a worktree's name, branch and ports before git acts, so that two callers at the same
moment never get the same. If git fails, the reservation is removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.operations import once
from lineclear.app.ports import Caller
from lineclear.app.queue.candidates import live_on
from lineclear.core.agents.names import is_family, is_main_tree
from lineclear.core.claims.granting import INTENT
from lineclear.core.claims.leases import claim_released
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import AGENT, CLAIM, OPERATION, RUN, TASK, WORKTREE, Worktree
from lineclear.core.runs.states import ENDED
from lineclear.core.words.refusals import not_found, refuse
from lineclear.core.worktrees.rules import (
    OURS,
    check_clash,
    check_removal,
    choose_ports,
    next_free,
    ports_meet,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from lineclear.app.ports import Store, Tx, View
    from lineclear.app.worktrees.ports import WorktreeGit

_ADD, _REMOVE = "worktree add", "worktree remove"


class Wanted:
    """A worktree to make or adopt. `scope`: the clone's prefix of its name in a team's store, else ""."""

    __slots__ = (
        "agent", "asked", "base", "branch", "branches", "is_new_branch", "is_own_branch", "name", "origin",
        "path", "ports", "ports_from", "ports_to", "scope", "task",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        path: str,
        *,
        branch: str = "",
        base: str = "",
        agent: str = "",
        task: int = 0,
        origin: str = OURS,
        scope: str = "",
        ports: int = 0,
        ports_from: int = 0,
        ports_to: int = 0,
        branches: Iterable[str] = (),
        is_new_branch: bool = True,
        is_own_branch: bool = True,
        asked: dict[str, Any] | None = None,
    ) -> None:
        """`branches`: existing ones that could clash with the wanted one. `is_own_branch`: we chose its name
        and may choose another. `asked`: the command's arguments, to recognise a repeat."""
        self.name, self.path, self.branch, self.base = name, path, branch, base
        self.agent, self.task, self.origin, self.scope = agent, task, origin, scope
        self.ports, self.ports_from, self.ports_to = ports, ports_from, ports_to
        self.branches = tuple(branches)
        self.is_new_branch, self.is_own_branch = is_new_branch, is_own_branch
        self.asked = asked or {"name": name, "agent": agent, "task": task}

    @property
    def tree(self) -> str:
        return self.scope + self.name


# -- make and adopt ---------------------------------------------------------------------------


def made_before(store: Store, caller: Caller, asked: dict[str, Any]) -> Worktree | None:
    """What the same operation made when it was sent before; None if this is the first time."""
    if not caller.op:
        return None

    def work(_tx: Tx) -> dict[str, Any]:
        raise _FirstTime

    try:
        return _row_of(once(store, caller, _ADD, asked, work))
    except _FirstTime:
        return None


class _FirstTime(Exception):
    """Nothing has been done under this operation id."""


def _row_of(done: dict[str, Any]) -> Worktree:
    return Worktree(**{name: done[name] for name in Worktree.__slots__})


def make(
    store: Store,
    caller: Caller,
    git: WorktreeGit,
    wanted: Wanted,
    is_free: Callable[[int], bool],
    *,
    keep_fds: Sequence[int] = (),
) -> Worktree:
    """Reserve the worktree, let git make it, and use the name that git gave to it."""
    row = _reserve(store, caller, wanted, is_free)
    # Before git acts: a durable commit right after a checkout would wait for all files to reach the disk.
    _settle(store, caller, row)
    try:
        name = git.add(row, wanted.is_new_branch, keep_fds)
    except BaseException:
        record_removed(store, caller, [row.name], "it could not be created")
        raise
    if wanted.scope + name != row.name:
        row = _rename(store, caller, row, wanted, name)
        _settle(store, caller, row)
    return row


def _settle(store: Store, caller: Caller, row: Worktree) -> None:
    """Let the worktree's agent join there, so that callers from inside are recognised as that agent."""
    if row.agent and not (row.agent == caller.name and caller.is_person):
        at_home = Caller(row.agent, tree=row.name)
        store.transact(at_home, lambda tx: ensure_agent(tx, at_home))


def _reserve(store: Store, caller: Caller, wanted: Wanted, is_free: Callable[[int], bool]) -> Worktree:
    """Reserve name, branch and ports. Ports are tried outside the transaction, which only checks whether
    somebody else has reserved them since."""
    while True:
        first = 0
        if wanted.ports:
            first = choose_ports(
                ports_of_agents(store), count=wanted.ports, low=wanted.ports_from, high=wanted.ports_to,
                is_free=is_free,
            )  # fmt: skip

        def work(tx: Tx, first: int = first) -> dict[str, Any]:
            rows = tx.scan(WORKTREE, "key")
            if ports_meet(first, wanted.ports, _port_ranges(rows)):
                raise _PortsLost
            return _enter(tx, caller, wanted, _branch(rows, wanted), first).as_dict()

        try:
            return _row_of(once(store, caller, _ADD, wanted.asked, work))
        except _PortsLost:
            continue


class _PortsLost(Exception):
    """Somebody reserved the ports before our transaction."""


def ports_of_agents(store: Store) -> list[tuple[int, int]]:
    """The ports (first, count) of every agent's worktree."""
    return store.read(lambda view: _port_ranges(view.scan(WORKTREE, "key")))


def _port_ranges(rows: Iterable[Worktree]) -> list[tuple[int, int]]:
    return [(row.port_first, row.port_count) for row in rows]


def _branch(rows: list[Worktree], wanted: Wanted) -> str:
    """The branch to use. If we chose its name and that is taken, it gets a number. Refuses a name, path or
    chosen branch that is in use."""
    for row in rows:
        if row.name == wanted.tree or (row.path == wanted.path and _is_here(row, wanted.scope)):
            raise refuse("worktree.exists", name=wanted.name, path=row.path)
    check_clash("worktree", wanted.name, [_short(row) for row in rows if _is_here(row, wanted.scope)])
    taken = [row.branch for row in rows if row.branch]
    if wanted.is_own_branch:
        return next_free(wanted.branch, [*taken, *wanted.branches]) if wanted.branch else ""
    for row in rows:
        if row.branch == wanted.branch and wanted.branch:
            raise refuse("worktree.branch_in_use", branch=wanted.branch, path=row.path)
    check_clash("branch", wanted.branch, taken)
    return wanted.branch


def _short(row: Worktree) -> str:
    return row.name.rpartition("/")[2]


def _is_here(row: Worktree, scope: str) -> bool:
    return row.name == scope + _short(row)


def _enter(tx: Tx, caller: Caller, wanted: Wanted, branch: str, port_first: int) -> Worktree:
    ensure_agent(tx, caller)
    if wanted.task and tx.get(TASK, (wanted.task,)) is None:
        raise not_found("task", f"T-{wanted.task}", "lineclear task list")
    return _append_made(
        tx, wanted.tree, wanted.path, branch, wanted.base, wanted.agent, wanted.task, wanted.origin,
        port_first, wanted.ports,
    )  # fmt: skip


def _append_made(
    tx: Tx, name: str, path: str, branch: str, base: str, agent: str, task: int, origin: str,
    port_first: int, port_count: int,
) -> Worktree:  # fmt: skip
    made = tx.append(
        Draft(
            "WorktreeMade", f"worktree:{name}", name=name, path=path, branch=branch, base=base, agent=agent,
            task=task, origin=origin, port_first=port_first, port_count=port_count,
        )
    )  # fmt: skip
    return Worktree(name, path, branch, base, agent, task, origin, port_first, port_count, made.position)


def _rename(store: Store, caller: Caller, row: Worktree, wanted: Wanted, name: str) -> Worktree:
    """Git used another name because this one was taken: give the row git's name."""

    def work(tx: Tx) -> Worktree:
        tx.append(_removed(row.name, "git named it differently"))
        return _append_made(
            tx, wanted.scope + name, row.path, row.branch, row.base, row.agent, row.task, row.origin,
            row.port_first, row.port_count,
        )  # fmt: skip

    return store.transact(caller, work)


def adopt(
    store: Store, caller: Caller, wanted: Wanted, is_free: Callable[[int], bool]
) -> tuple[Worktree, bool]:
    """Register an existing worktree: (the row, is it new to us?). Its agent may be set later; only a person
    may change it."""
    known = store.read(lambda view: view.get(WORKTREE, (wanted.tree,)))
    if known is None:
        row = _reserve(store, caller, wanted, is_free)
        _settle(store, caller, row)
        return row, True
    if not wanted.agent or wanted.agent == known.agent:
        return known, False
    if known.agent and not caller.is_person:
        raise refuse("worktree.not_yours", name=wanted.name, holder=known.agent)

    def work(tx: Tx) -> Worktree:
        row = known_worktree(tx, wanted.tree)
        return _append_made(
            tx, row.name, row.path, wanted.branch or row.branch, row.base, wanted.agent,
            wanted.task or row.task, row.origin, row.port_first, row.port_count,
        )  # fmt: skip

    row = store.transact(caller, work)
    _settle(store, caller, row)
    return row, False


# -- look -------------------------------------------------------------------------------------


def known_worktree(view: View, tree: str) -> Worktree:
    row = view.get(WORKTREE, (tree,))
    if row is None:
        raise not_found("worktree", tree, "lineclear worktree list")
    return row


def worktrees_of(view: View, agent: str) -> list[Worktree]:
    return view.pick(WORKTREE, "agent", (agent,))


def own_worktree(view: View, agent: str) -> Worktree | None:
    """The linked worktree that the agent works in. None if it has none, or its session is in the main tree
    now."""
    known = view.get(AGENT, (agent,))
    if known is not None and known.session and is_main_tree(known.tree):
        return None
    return next(iter(worktrees_of(view, agent)), None)


def agent_on(view: View, branch: str) -> str:
    """The agent whose worktree has the branch; "" if none has, so that it is a person's."""
    rows = view.scan(WORKTREE, "key") if branch else []
    return next((row.agent for row in rows if row.branch == branch and row.agent), "")


def agents_by_path(view: View) -> dict[str, str]:
    """path of a worktree -> the agent that works there."""
    return {row.path: row.agent for row in view.scan(WORKTREE, "key") if row.agent}


def list_worktrees(view: View, scope: str, truth: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The store's worktrees joined with git's. `truth`: our name -> git's current state, for this clone."""
    rows = {row.name: row for row in view.scan(WORKTREE, "key")}
    shown = []
    for row in rows.values():
        found = truth.get(row.name)
        state = "missing" if _is_here(row, scope) else "elsewhere"
        shown.append(_show(row, str(found["state"]) if found is not None else state, found))
    for name, found in truth.items():
        if name not in rows:
            row = Worktree(name, found["path"], found["branch"], "", "", 0, "", 0, 0, 0)
            shown.append(_show(row, "not adopted", found))
    return shown


def _show(row: Worktree, state: str, found: dict[str, Any] | None) -> dict[str, Any]:
    found = found or {}
    return {
        "name": row.name,
        "path": found.get("path", row.path),
        "branch": found.get("branch", row.branch),
        "base": row.base,
        "agent": row.agent,
        "task": f"T-{row.task}" if row.task else "",
        "origin": row.origin,
        "ports": f"{row.port_first}-{row.port_first + row.port_count - 1}" if row.port_count else "",
        "state": state,
        "changed": found.get("changed"),
        "ahead": found.get("ahead"),
        "behind": found.get("behind"),
    }


# -- remove and forget ------------------------------------------------------------------------


def remove(
    store: Store,
    caller: Caller,
    git: WorktreeGit,
    row: Worktree,
    *,
    why: str,
    is_saved: Callable[[str], bool],
    force: bool = False,
) -> dict[str, Any]:
    """Remove a worktree. Git acts first: a crash then leaves a row to forget, never a directory without a
    row.

    `is_saved(tree)`: is everything that is in it now saved?
    """
    _check_may_remove(store, caller, row, force)
    condition = git.condition(row.name, row.path)
    saved: list[bool] = []

    def ask() -> bool:
        saved.append(is_saved(row.name))
        return saved[-1]

    check_removal(_short(row), row.path, condition, is_saved=ask, force=force)
    kept = git.remove(row, force or any(saved))
    done = {"name": row.name, "path": row.path, "branch": kept, "saved": any(saved)}

    def work(tx: Tx) -> dict[str, Any]:
        _take_out(tx, row.name, why)
        return done

    return once(store, caller, _REMOVE, {"name": row.name}, work)


def removed_before(store: Store, caller: Caller, tree: str) -> dict[str, Any]:
    """The answer to a repeated removal. Refuses if there is no such worktree."""

    def work(tx: Tx) -> dict[str, Any]:
        return known_worktree(tx, tree).as_dict()

    return once(store, caller, _REMOVE, {"name": tree}, work)


def _check_may_remove(store: Store, caller: Caller, row: Worktree, force: bool) -> None:
    if caller.is_person:
        if force:
            return
    elif force:
        raise refuse("person.only", what="remove a worktree together with its content", agent=caller.name)
    elif not row.agent or not is_family(row.agent, caller.name):
        raise refuse("worktree.not_yours", name=_short(row), holder=row.agent)
    for run in store.read(lambda view: view.scan(RUN, "state")):
        if run.tree == row.name and run.state != ENDED:
            raise refuse("worktree.in_use", name=_short(row), holder=run.agent)


def record_removed(store: Store, caller: Caller, trees: list[str], why: str) -> list[str]:
    """Remove the rows of worktrees that are gone, which frees their names and ports. Returns those that had a
    row."""

    def work(tx: Tx) -> list[str]:
        gone = [tree for tree in trees if _take_out(tx, tree, why)]
        # The answer stored for a repeat would name a worktree that does not exist.
        if caller.op and tx.get(OPERATION, (caller.op,)) is not None:
            tx.delete(OPERATION, (caller.op,))
        return gone

    return store.transact(caller, work)


def _take_out(tx: Tx, tree: str, why: str) -> bool:
    """Remove a row, and release the intents made in the worktree unless its branch is in the queue. False if
    there was no row."""
    row = tx.get(WORKTREE, (tree,))
    if row is None:
        return False
    if not row.branch or live_on(tx, row.branch) is None:
        for claim in tx.scan(CLAIM, "key"):
            if claim.tree == tree and claim.mode == INTENT and not claim.bond:
                tx.append(claim_released(claim, "worktree removed"))
    tx.append(_removed(tree, why))
    return True


def _removed(tree: str, why: str) -> Draft:
    return Draft("WorktreeRemoved", f"worktree:{tree}", name=tree, why=why)
