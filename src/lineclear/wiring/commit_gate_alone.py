"""The gate while a team's store is out of reach: git goes on with what everybody has a copy of.

Git waits for us at every commit, so the store is asked in haste, and not at all when it did not answer a
moment ago.
"""

from __future__ import annotations

from lineclear.core.agents.identity import read_environment
from lineclear.core.claims.strategies import strategy_for
from lineclear.core.claims.write_rule import COMMIT, Write, judge_write
from lineclear.core.queue.commit_gate import Finding, judge_move
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.git.incoming import is_ancestor, pushed_paths, staged_paths
from lineclear.git.landing import landing_ref
from lineclear.git.layout import find_layout
from lineclear.host.outages import Outage
from lineclear.wiring.commit_gate import file_resources
from lineclear.wiring.repo import Repo, open_store, read_settings, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lineclear.git.layout import Layout
    from lineclear.settings import Settings


def open_hastily(cwd: str, environ: Mapping[str, str]) -> Repo:
    """As `open_repo`; a store that was out of reach a moment ago is refused at once."""
    layout, settings = _place(cwd, environ)
    outage = Outage(state_directory(layout)) if settings.store_url else None
    if outage is not None and outage.is_fresh():
        raise refuse("store.unreachable", path="", reason="it did not answer a moment ago")
    try:
        store = open_store(layout, settings, is_hasty=True)
    except Refusal as refusal:
        if outage is not None and refusal.code == "store.unreachable":
            outage.note()
        raise
    if outage is not None:
        outage.clear()
    return Repo(layout, settings, store, environ)


def judge(
    cwd: str, environ: Mapping[str, str], hook: str, lines: Sequence[str], given: str
) -> tuple[list[Finding], bool]:
    """(what may not come in while nobody can be asked, whether it is a person who brings it)."""
    layout, settings = _place(cwd, environ)
    agent = given or environ.get("LINECLEAR_AGENT", "")
    is_person = not agent and not read_environment(environ)[2]
    main = landing_ref(layout)
    if hook == "reference-transaction":
        refs = [line.rpartition(" ")[2] for line in lines]
    else:
        refs = [main] if _pushes_main(layout.worktree, lines, main) else []
    moves = [(ref, judge_move(layout.tree, ref, main)) for ref in refs]
    found = [Finding(ref, refusal) for ref, refusal in moves if refusal is not None]
    if hook == "pre-commit":
        paths = staged_paths(layout.worktree, layout.git_dir, environ)
    elif hook == "pre-push":
        paths = [path for line in lines for path in _pushed(layout.worktree, line, main)]
    else:
        paths = []
    for resource in file_resources(layout, settings, paths):
        write = Write(resource, agent, COMMIT)
        refusal = judge_write(write, strategy_for(resource, settings.rules), None).refusal
        if refusal is not None:
            found.append(Finding(resource.path, refusal))
    return found, is_person


def is_closed(cwd: str, environ: Mapping[str, str]) -> bool:
    """Does the repository ask to stop when nobody can look?"""
    return _place(cwd, environ)[1].hooks_on_error == "closed"


def _place(cwd: str, environ: Mapping[str, str]) -> tuple[Layout, Settings]:
    layout = find_layout(cwd, environ)
    settings = read_settings(layout, environ)
    layout.landing = settings.queue_branch
    return layout, settings


def _pushes_main(cwd: str, lines: Sequence[str], main: str) -> bool:
    pushed = [words for words in (line.split(" ") for line in lines) if len(words) == 4]
    return any(
        remote_ref == main and local.strip("0") and not is_ancestor(cwd, local, main)
        for _, local, remote_ref, _ in pushed
    )


def _pushed(cwd: str, line: str, main: str) -> list[str]:
    words = line.split(" ")
    return pushed_paths(cwd, words[1], main) if len(words) == 4 else []
