"""The commit gate, built: with the store, and without it while a team's store is out of reach.

Git waits for us at every commit, so the store is asked in haste, and not at all when it did not answer a
moment ago.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.commit_gate import PRE_REBASE, REFERENCES, CommitGate, GateRules
from lineclear.app.commit_gate import judge_alone as judge_without_store
from lineclear.core.agents.git_commands import verb_of
from lineclear.core.words.refusals import refuse
from lineclear.git.incoming_changes import IncomingChanges
from lineclear.git.layout import find_layout
from lineclear.git.refused_moves import return_autostash, undo_refused
from lineclear.host.processes import words_of
from lineclear.host.store_outages import Outage
from lineclear.wiring.mirroring import is_for_agents
from lineclear.wiring.repo import Repo, folds_case, open_store, read_settings, state_directory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lineclear.core.queue.commit_gate import GateFinding
    from lineclear.git.layout import Layout
    from lineclear.settings import Settings


def commit_gate_of(repo: Repo) -> CommitGate:
    rules, git = gate_rules(repo.layout, repo.settings), IncomingChanges(repo.layout, repo.environ)
    return CommitGate(repo.store, repo.liveness, rules, git, tree=repo.tree, environ=repo.environ)


def verb_of_process(pid: str) -> str:
    """The verb of the git command with this process id; "" if it is unknown."""
    return verb_of(words_of(int(pid))) if pid.isdigit() else ""


def tidy_main_tree(layout: Layout, hook: str, lines: Sequence[str], verb: str) -> None:
    """Leave the main tree as it was before the command that was refused."""
    if hook == REFERENCES:
        undo_refused(layout, lines, verb)
    elif hook == PRE_REBASE:
        return_autostash(layout)


def gate_rules(layout: Layout, settings: Settings) -> GateRules:
    return GateRules(
        settings.rules,
        fold_case=folds_case(layout, settings),
        nfc=settings.paths_nfc,
        is_for_agents=lambda path: is_for_agents(settings, path),
    )


def open_hastily(cwd: str, environ: Mapping[str, str]) -> Repo:
    """As `open_repo`; a store that was out of reach a moment ago is refused at once."""
    layout, settings = _place(cwd, environ)
    outage = Outage(state_directory(layout)) if settings.store_url else None
    if outage is not None and outage.is_fresh():
        raise refuse("store.unreachable", path="", since_at="", reason="it did not answer a moment ago")
    return Repo(layout, settings, open_store(layout, settings, is_hasty=True), environ)


def judge_alone(
    cwd: str, environ: Mapping[str, str], hook: str, lines: Sequence[str], given: str
) -> tuple[list[GateFinding], bool]:
    """(what may not come in while nobody can be asked, whether it is a person who brings it)."""
    layout, settings = _place(cwd, environ)
    git, rules = IncomingChanges(layout, environ), gate_rules(layout, settings)
    return judge_without_store(git, rules, environ, hook=hook, lines=lines, given=given, tree=layout.tree)


def is_closed(cwd: str, environ: Mapping[str, str]) -> bool:
    """Does the repository ask to stop when nobody can look?"""
    return _place(cwd, environ)[1].hooks_on_error == "closed"


def _place(cwd: str, environ: Mapping[str, str]) -> tuple[Layout, Settings]:
    layout = find_layout(cwd, environ)
    settings = read_settings(layout, environ)
    layout.landing = settings.queue_branch
    return layout, settings
