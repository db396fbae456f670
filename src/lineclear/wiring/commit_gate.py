"""The gate, wired: what git's hooks ask, and what a landing asks, with git's paths as resources."""

from __future__ import annotations

from lineclear.app.commit_gate import examine_commit, examine_landing
from lineclear.core.claims.resources import parse_resource
from lineclear.core.claims.write_rule import fence_from
from lineclear.core.queue.commit_gate import Finding, judge_move
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.git.incoming import (
    is_ancestor,
    pushed_paths,
    pushed_texts,
    staged_new,
    staged_paths,
    staged_texts,
    texts_between,
)
from lineclear.git.landing import landing_ref
from lineclear.wiring.mirroring import is_for_agents
from lineclear.wiring.repo import folds_case

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.ports import Caller
    from lineclear.core.claims.resources import Resource
    from lineclear.git.layout import Layout
    from lineclear.settings import Settings
    from lineclear.wiring.repo import Repo

    # A file's path to what it was and what it becomes, for each change that is brought in.
    TextsOf = Callable[[str], list[tuple[str, str]]]


def judge_commit(repo: Repo, caller: Caller) -> list[Finding]:
    """The commit that is being made in this worktree."""
    layout = repo.layout
    paths = staged_paths(layout.worktree, layout.git_dir, repo.environ)
    ours = [path for path in paths if is_for_agents(repo.settings, path)]
    found = _judge(repo, caller, paths, lambda path: [staged_texts(layout.worktree, repo.environ, path)])
    return found + judge_new(repo, staged_new(layout.worktree, repo.environ, ours))


def judge_push(repo: Repo, caller: Caller, lines: Sequence[str]) -> list[Finding]:
    """`lines` as git gives them to a pre-push hook: local ref, local id, remote ref, remote id."""
    main, cwd = landing_ref(repo.layout), repo.layout.worktree
    paths: list[str] = []
    pushed: list[str] = []
    for line in lines:
        words = line.split(" ")
        if len(words) != 4:
            continue
        _, local, remote_ref, _ = words
        if remote_ref == main and local.strip("0") and not is_ancestor(cwd, local, main):
            found = _judge_ref(repo, main, main)
            if found:
                return found
        paths += pushed_paths(cwd, local, main)
        pushed.append(local)
    return _judge(
        repo, caller, list(dict.fromkeys(paths)),
        lambda path: [pushed_texts(cwd, local, main, path) for local in pushed],
    )  # fmt: skip


def judge_refs(repo: Repo, lines: Sequence[str]) -> list[Finding]:
    """`lines` as git gives them to a reference-transaction hook: old id, new id, ref."""
    main = landing_ref(repo.layout)
    for line in lines:
        found = _judge_ref(repo, line.rpartition(" ")[2], main)
        if found:
            return found
    return []


def judge_landing(
    repo: Repo, agent: str, paths: Sequence[str], *, base: str = "", tip: str = ""
) -> list[Finding]:
    """What a candidate brings in: some clients switch git's hooks off, and some go round them. Without the
    two commits it is not known which symbols of a file change."""
    if not agent:
        return []
    cwd = repo.layout.worktree
    return examine_landing(
        repo.store, repo.liveness, repo.settings.rules, agent, resources_of(repo, paths),
        touches=_touches(lambda path: [texts_between(cwd, base, tip, path)]) if tip else None,
    )  # fmt: skip


def judge_new(repo: Repo, paths: Sequence[str]) -> list[Finding]:
    """What is brought in where there was nothing: files that we write for agents were put in by force. A file
    of such a name that main holds is the repository's own."""
    return [
        Finding(path, refuse("gate.mirrored", path=path))
        for path in paths
        if is_for_agents(repo.settings, path)
    ]


def _judge(repo: Repo, caller: Caller, paths: Sequence[str], texts: TextsOf) -> list[Finding]:
    return examine_commit(
        repo.store, repo.liveness, repo.settings.rules, caller.name, repo.tree, resources_of(repo, paths),
        fence_of=lambda resource: fence_from(repo.environ, resource), touches=_touches(texts),
    )  # fmt: skip


def _touches(texts: TextsOf) -> Callable[[Resource, str], bool]:
    """Asked only for a file of which somebody holds a symbol."""

    def touches(resource: Resource, symbol: str) -> bool:
        from lineclear.code.symbol_places import change_touches

        return any(change_touches(before, after, symbol) for before, after in texts(resource.path))

    return touches


def _judge_ref(repo: Repo, ref: str, main: str) -> list[Finding]:
    refusal = judge_move(repo.tree, ref, main)
    return [Finding(ref, refusal)] if refusal is not None else []


def resources_of(repo: Repo, paths: Sequence[str]) -> list[Resource]:
    """Git's own paths: literal names, from the repository's root."""
    return file_resources(repo.layout, repo.settings, paths)


def file_resources(layout: Layout, settings: Settings, paths: Sequence[str]) -> list[Resource]:
    from lineclear.core.claims.paths import escape

    fold, nfc = folds_case(layout, settings), settings.paths_nfc
    found = []
    for path in paths:
        try:
            found.append(parse_resource(f"file:{escape(path)}", fold_case=fold, nfc=nfc))
        except Refusal:
            pass  # a name that no claim can have (bytes that are no text): nobody can hold it
    return found
