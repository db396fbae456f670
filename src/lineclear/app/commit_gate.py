"""The commit gate: may these files be committed, pushed or landed? Git's hooks and landings ask it. Only
reads.

The write rule (core/claims/write_rule.py) decides on each file; core/queue/commit_gate.py decides who may
move which ref.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from lineclear.app.worktrees.rows import own_worktree
from lineclear.app.write_facts import judge, tree_of
from lineclear.code.symbol_places import change_touches
from lineclear.core.agents.identity import read_environment
from lineclear.core.agents.names import is_main_tree
from lineclear.core.claims.resources import file_resources
from lineclear.core.claims.strategies import strategy_for
from lineclear.core.claims.write_rule import (
    COMMIT,
    LANDING,
    Write,
    fence_from,
    judge_write,
    touches_anything,
)
from lineclear.core.log.tables import AGENT, WORKTREE
from lineclear.core.queue.commit_gate import GateFinding, first_marker, judge_move, pushed_refs
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lineclear.app.ports import Caller, Liveness, Store, View
    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.strategies import Rule

    # Does the change of this file touch this symbol? True if unknown.
    Touches = Callable[[Resource, str], bool]
    # A file's path -> (text before, text after) for each incoming change.
    TextsOf = Callable[[str], list[tuple[str, str]]]

# The gate stops after so many findings: one is enough to refuse.
MOST_FINDINGS = 20
FOREIGN = "gate.foreign_tree"
NO_MARKS: Mapping[str, int] = MappingProxyType({})
PRE_COMMIT, PRE_PUSH, PRE_REBASE, REFERENCES = "pre-commit", "pre-push", "pre-rebase", "reference-transaction"
MAIN_TREE = "gate.main_tree"
# A merge moves ORIG_HEAD before it touches a file; others do so when they have touched them.
_ORIG_HEAD, _MERGES = "ORIG_HEAD", ("merge", "pull")


class IncomingGit(Protocol):
    """What a commit or a push brings in, seen from one worktree. Only reads."""

    @property
    def main(self) -> str:
        """The full ref of the branch that work lands on."""

    @property
    def head(self) -> str:
        """The full ref of the branch that is checked out here; "" if HEAD is detached."""

    def staged_paths(self) -> list[str]:
        """The paths that the commit in progress changes; for a merge, those that differ from every parent."""

    def staged_new(self, paths: Sequence[str], /) -> list[str]:
        """Those of the paths that this commit adds."""

    def staged_texts(self, path: str, /) -> tuple[str, str]:
        """The file before and after this commit; "" if it does not exist."""

    def staged_marked(self) -> list[str]:
        """The paths in which this commit adds or removes lines that look like conflict markers."""

    def pushed_paths(self, local: str, /) -> list[str]:
        """The paths changed by commits that neither main nor a remote has; empty for a deletion."""

    def pushed_texts(self, local: str, path: str, /) -> tuple[str, str]:
        """The file at the pushed branch's merge base with main, and at its tip."""

    def texts_between(self, base: str, tip: str, path: str, /) -> tuple[str, str]: ...

    def is_on_main(self, commit: str, /) -> bool: ...


@dataclass(frozen=True, slots=True)
class GateRules:
    """The repository's settings: the rules for its files, how paths are compared, and which files lineclear
    writes for agents and nobody may commit."""

    strategies: list[Rule]
    _: KW_ONLY
    fold_case: bool
    nfc: bool
    is_for_agents: Callable[[str], bool]

    def resources(self, paths: Sequence[str]) -> list[Resource]:
        return file_resources(paths, fold_case=self.fold_case, nfc=self.nfc)


class CommitGate:
    """One worktree's commit gate. `tree`: the worktree's name in the store; `environ` may hold a fence."""

    def __init__(
        self, store: Store, liveness: Liveness, rules: GateRules, git: IncomingGit, *, tree: str,
        environ: Mapping[str, str],
    ) -> None:  # fmt: skip
        self._store, self._liveness, self.rules, self._git = store, liveness, rules, git
        self._tree, self._environ = tree, environ

    def judge(self, hook: str, caller: Caller, lines: Sequence[str], verb: str = "") -> list[GateFinding]:
        """The changes that are not allowed. `lines`: the input that git gives to this hook. `verb`: the git
        command that moves refs, if it is known."""
        if hook == PRE_PUSH:
            return self.judge_push(caller, lines)
        if hook == REFERENCES:
            return self.judge_refs(caller, lines, verb)
        found = self._judge_main_tree(caller, [self._git.head])
        return found or (self.judge_commit(caller) if hook == PRE_COMMIT else [])

    def judge_commit(self, caller: Caller) -> list[GateFinding]:
        """Judge the commit in progress in this worktree."""
        paths = self._git.staged_paths()
        ours = [path for path in paths if self.rules.is_for_agents(path)]
        found = self._judge(
            caller, paths, lambda path: [self._git.staged_texts(path)], staged_markers(self._git, paths)
        )
        return found + self.judge_new(self._git.staged_new(ours))

    def judge_push(self, caller: Caller, lines: Sequence[str]) -> list[GateFinding]:
        """`lines`: local ref, local id, remote ref, remote id."""
        paths: list[str] = []
        pushed: list[str] = []
        for local, remote_ref in pushed_refs(lines):
            if _moves_main(self._git, local, remote_ref):
                found = _judge_refs(self._tree, [remote_ref], self._git.main)
                if found:
                    return found
            paths += self._git.pushed_paths(local)
            pushed.append(local)
        return self._judge(
            caller, list(dict.fromkeys(paths)),
            lambda path: [self._git.pushed_texts(local, path) for local in pushed],
        )  # fmt: skip

    def judge_refs(self, caller: Caller, lines: Sequence[str], verb: str) -> list[GateFinding]:
        """`lines`: old id, new id, ref."""
        refs = _refs_in(lines)
        if _ORIG_HEAD in refs and verb in _MERGES:
            refs.append(self._git.head)
        found = _judge_refs(self._tree, refs, self._git.main)[:1]
        return found or self._judge_main_tree(caller, refs)

    def _judge_main_tree(self, caller: Caller, refs: Sequence[str]) -> list[GateFinding]:
        """In the main tree an agent with a worktree of its own may not move main."""
        main = self._git.main
        if not is_main_tree(self._tree) or main not in refs:
            return []
        row = self._store.read(lambda view: own_worktree(view, caller.name))
        if row is None:
            return []
        facts = {"main": main.removeprefix("refs/heads/"), "own": row.path, "branch": row.branch}
        return [GateFinding(main, refuse(MAIN_TREE, **facts))]

    def judge_landing(
        self, agent: str, paths: Sequence[str], *, base: str = "", tip: str = "",
        marked: Mapping[str, int] | None = None,
    ) -> list[GateFinding]:  # fmt: skip
        """Judge a candidate: some clients switch git's hooks off or bypass them. Without `base` and `tip`
        every symbol of a changed file counts as changed. `marked`: see `Write`; of a person's branch only
        that is judged."""
        marked = marked or {}
        if not agent:
            paths = list(marked)
        if not paths:
            return []
        return examine_landing(
            self._store, self._liveness, self.rules.strategies, agent, self.rules.resources(paths),
            touches=_touches(lambda path: [self._git.texts_between(base, tip, path)]) if tip else None,
            marked=self._by_resource(marked),
        )  # fmt: skip

    def judge_new(self, paths: Sequence[str]) -> list[GateFinding]:
        """Judge added paths: files that lineclear writes for agents must not be committed. If main already
        has a file of that name, it is the repository's own."""
        return [
            GateFinding(path, refuse("gate.mirrored", path=path))
            for path in paths
            if self.rules.is_for_agents(path)
        ]

    def _judge(
        self, caller: Caller, paths: Sequence[str], texts: TextsOf, marked: Mapping[str, int] | None = None
    ) -> list[GateFinding]:
        return examine_commit(
            self._store, self._liveness, self.rules.strategies, caller.name, self._tree,
            self.rules.resources(paths), fence_of=lambda resource: fence_from(self._environ, resource),
            touches=_touches(texts), marked=self._by_resource(marked or {}),
        )  # fmt: skip

    def _by_resource(self, marked: Mapping[str, int]) -> dict[str, int]:
        return {one.path: line for path, line in marked.items() for one in self.rules.resources([path])}


def staged_markers(git: IncomingGit, paths: Sequence[str]) -> dict[str, int]:
    """path -> the line of the first conflict marker that the commit in progress adds to it."""
    looks = set(git.staged_marked()).intersection(paths)
    lines = {path: first_marker(*git.staged_texts(path)) for path in sorted(looks)}
    return {path: line for path, line in lines.items() if line}


def judge_alone(
    git: IncomingGit, rules: GateRules, environ: Mapping[str, str], *, hook: str, lines: Sequence[str],
    given: str, tree: str,
) -> tuple[list[GateFinding], bool]:  # fmt: skip
    """Judge while the team's store is unreachable, by the rules in the settings alone: (the changes that are
    not allowed, is the caller a person?). `given`: the agent named on the command line."""
    agent = given or environ.get("LINECLEAR_AGENT", "")
    pushed = pushed_refs(lines) if hook == PRE_PUSH else []
    if hook == REFERENCES:
        refs = _refs_in(lines)
    else:
        refs = [git.main] if any(_moves_main(git, *one) for one in pushed) else []
    found = _judge_refs(tree, refs, git.main)
    marked: dict[str, int] = {}
    if hook == PRE_COMMIT:
        paths = git.staged_paths()
        marked = staged_markers(git, paths)
    else:
        paths = [path for local, _ in pushed for path in git.pushed_paths(local)]
    for resource in rules.resources(paths):
        write = Write(resource, agent, COMMIT, marked=marked.get(resource.path, 0))
        refusal = judge_write(write, strategy_for(resource, rules.strategies), None).refusal
        if refusal is not None:
            found.append(GateFinding(resource.path, refusal))
    return found, not agent and not read_environment(environ)[2]


def _refs_in(lines: Sequence[str]) -> list[str]:
    return [line.rpartition(" ")[2] for line in lines]


def _moves_main(git: IncomingGit, local: str, remote_ref: str) -> bool:
    """Would this push bring new commits to main?"""
    return remote_ref == git.main and bool(local.strip("0")) and not git.is_on_main(local)


def _judge_refs(tree: str, refs: Sequence[str], main: str) -> list[GateFinding]:
    moves = [(ref, judge_move(tree, ref, main)) for ref in refs]
    return [GateFinding(ref, refusal) for ref, refusal in moves if refusal is not None]


def _touches(texts: TextsOf) -> Touches:
    """A `Touches` that reads the texts; called only for a file of which somebody holds a symbol."""

    def touches(resource: Resource, symbol: str) -> bool:
        return any(change_touches(before, after, symbol) for before, after in texts(resource.path))

    return touches


# -- judge with the store -------------------------------------------------------------------------


def examine_commit(
    store: Store, liveness: Liveness, rules: list[Rule], agent: str, tree: str, resources: Sequence[Resource],
    *, fence_of: Callable[[Resource], int] = lambda _resource: 0, touches: Touches | None = None,
    marked: Mapping[str, int] = NO_MARKS,
) -> list[GateFinding]:  # fmt: skip
    """The files among these that the agent may not commit or push from this worktree."""

    def look(view: View) -> list[GateFinding]:
        place, row, known = tree_of(view, tree), view.get(WORKTREE, (tree,)), view.get(AGENT, (agent,))
        since = row.made if row is not None else known.joined if known is not None else 0
        writes = (
            Write(
                resource, agent, COMMIT, tree=place, since=since, fence=fence_of(resource),
                touches=_touches_in(resource, touches), marked=marked.get(resource.path, 0),
            )
            for resource in resources
        )  # fmt: skip
        return _examine(view, liveness, rules, writes)

    return store.read(look)


def examine_landing(
    store: Store, liveness: Liveness, rules: list[Rule], agent: str, resources: Sequence[Resource],
    *, touches: Touches | None = None, marked: Mapping[str, int] = NO_MARKS,
) -> list[GateFinding]:  # fmt: skip
    """The files among these that may not land for the branch's agent, wherever it worked."""

    def look(view: View) -> list[GateFinding]:
        since = min((row.made for row in view.pick(WORKTREE, "agent", (agent,))), default=0)
        writes = (
            Write(
                resource, agent, LANDING, since=since, touches=_touches_in(resource, touches),
                marked=marked.get(resource.path, 0),
            )
            for resource in resources
        )  # fmt: skip
        return _examine(view, liveness, rules, writes)

    return store.read(look)


def _touches_in(resource: Resource, touches: Touches | None) -> Callable[[str], bool]:
    return touches_anything if touches is None else lambda symbol: touches(resource, symbol)


def _examine(view: View, liveness: Liveness, rules: list[Rule], writes: Iterable[Write]) -> list[GateFinding]:
    found: list[GateFinding] = []
    for write in writes:
        verdict = judge(view, liveness, rules, write)
        refusal = verdict.refusal
        # A foreign worktree concerns the whole commit, so report it once.
        if refusal is None or (refusal.code == FOREIGN and any(one.kind == FOREIGN for one in found)):
            continue
        found.append(GateFinding(write.resource.path, refusal, verdict.is_passing))
        if len(found) >= MOST_FINDINGS:
            break
    return found
