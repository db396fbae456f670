"""Builds what makes lock files: which package managers may run, in which environment, and how long."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from lineclear.app.queue.lock_making import untrusted_doubt
from lineclear.core.words.refusals import Refusal
from lineclear.git.check_trees import outer_environment
from lineclear.host.lock_making import LockRules, PackageManagers
from lineclear.settings.env_tables import secret_values
from lineclear.wiring.checks import repo_at
from lineclear.wiring.trust import trust_of
from lineclear.wiring.worktrees import sandboxed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lineclear.app.queue.lock_making import LockMaker
    from lineclear.wiring.repo import Repo

_ANSWERS = "locks"


def lock_maker_by_hand(environ: Mapping[str, str]) -> LockMaker:
    """Makes every lock file that we know: the person who asks for it has allowed it."""
    rules = LockRules(environ=outer_environment(environ), secrets=secret_values(environ.items()))
    return PackageManagers(lambda: rules)


def lock_maker_by_settings(repo: Repo, main: Callable[[], str]) -> LockMaker:
    """Makes what the settings of `main`, a commit, allow; they are read again when it is another commit."""
    known: dict[str, LockRules] = {}

    def rules() -> LockRules:
        commit = main()
        if commit not in known:
            known.clear()
            known[commit] = _lock_rules_at(repo, commit)
        return known[commit]

    return PackageManagers(rules)


def _lock_rules_at(repo: Repo, main: str) -> LockRules:
    try:
        at_main = repo_at(repo, main)
    except Refusal:  # the checks, which need these settings too, say what is wrong with them
        return LockRules(environ={}, patterns=())
    settings = at_main.settings
    missing = (
        trust_of(at_main).missing(["merge.regenerate", "worktrees.env"]) if settings.merge_regenerate else []
    )
    environ = {**repo.environ, **settings.worktrees_env}
    rules = LockRules(
        environ=outer_environment(environ),
        secrets=secret_values(environ.items()),
        patterns=settings.merge_regenerate,
        doubt=untrusted_doubt(missing),
        main=main,
        kept=os.path.join(repo.state_directory, _ANSWERS),
        within_ms=settings.merge_regenerate_within_ms,
    )
    if settings.worktrees_sandbox != "bwrap":
        return rules
    return replace(rules, wrap=lambda room, words: sandboxed(at_main, room.path, words, tmp=room.tmp))
