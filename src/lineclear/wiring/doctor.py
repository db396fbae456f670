"""The doctor's checks, each put together with what it looks at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear import __version__
from lineclear.app import doctor
from lineclear.app.queue.lock_making import idle_patterns
from lineclear.core.words.refusals import Refusal
from lineclear.git.layout import find_layout, landing_branch
from lineclear.git.run import GitFailed, git
from lineclear.host import server_address
from lineclear.host.bonds import SUPERVISOR
from lineclear.host.files import free_bytes, is_network_fs, is_open_to_others
from lineclear.host.logs import ErrorLines
from lineclear.wiring.checks import warnings_in_force
from lineclear.wiring.repo import open_repo, state_directory
from lineclear.wiring.setup import clone_of
from lineclear.wiring.trust import trust_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lineclear.app.doctor import Answers, Finding
    from lineclear.wiring.repo import Repo

_FAILURES = (OSError, GitFailed)


def examine(cwd: str, environ: Mapping[str, str], *, fix: bool) -> list[Finding]:
    outside = (
        ("git", lambda: doctor.check_git(git(["--version"], cwd).decode().strip())),
        ("place", lambda: _place(cwd, environ)),
    )
    found = doctor.examine(outside, _FAILURES)
    try:
        repo = open_repo(cwd, environ)
    except Refusal as refusal:
        return [*found, doctor.refused("store", refusal)]
    store, settings = repo.store, repo.settings
    inside = (
        (
            "settings",
            lambda: doctor.check_settings(
                settings.warnings,
                len(settings.rules),
                _idle_settings(repo),
                warnings_in_force(repo.layout, environ, settings),
            ),
        ),
        ("trust", lambda: doctor.check_trust(trust_of(repo))),
        ("store", lambda: doctor.check_store(store, *_in_the_way(repo))),
        ("log", lambda: doctor.check_log(store)),
        (
            "tokens",
            lambda: doctor.check_tokens(store, environ.get("LINECLEAR_TOKEN", ""), repo.clock.now().wall_ns),
        ),
        ("serve", lambda: _server(repo)),
        (
            "leftovers",
            lambda: doctor.check_leftovers(store, repo.liveness, repo.bonds, repo.caller, fix=fix),
        ),
        ("hooks", lambda: _hooks(repo, fix=fix)),
        ("clients", lambda: doctor.check_clients(clone_of(repo.layout, repo.environ))),
    )
    try:
        return found + doctor.examine(inside, _FAILURES)
    finally:
        repo.close()


def _place(cwd: str, environ: Mapping[str, str]) -> Answers:
    layout = find_layout(cwd, environ)
    directory = state_directory(layout)
    place = doctor.StorePlace(
        common_dir=layout.common_dir,
        state_directory=directory,
        network=is_network_fs(layout.common_dir) or "",
        free_bytes=free_bytes(layout.common_dir),
        is_open=is_open_to_others(directory),
        is_writable=os.access(layout.common_dir, os.W_OK),
        branch=landing_branch(layout.common_dir) or "",
    )
    return doctor.check_place(place)


def _idle_settings(repo: Repo) -> Iterable[str]:
    settings = repo.settings
    if not settings.merge_regenerate:
        return ()
    names = git(["ls-files", "-z", "--full-name"], repo.layout.worktree, timeout_s=600)
    return idle_patterns(
        settings.merge_regenerate,
        settings.origins["merge.regenerate"],
        names.decode("utf-8", "surrogateescape").split("\0"),
    )


def _in_the_way(repo: Repo) -> tuple[str, str]:
    """(the process that keeps everybody from writing, why we can never write); "" for neither."""
    if repo.settings.store_url:
        from lineclear.store.postgres.engine import PostgresStore

        assert isinstance(repo.store, PostgresStore)
        return "", repo.store.why_unwritable()
    from lineclear.store.sqlite.writer_lock import stuck_holder

    try:
        return stuck_holder(os.path.join(repo.state_directory, "state.lock"), limit_s=1.0), ""
    except Refusal as refusal:
        return "", str(refusal.facts["reason"])


def _server(repo: Repo) -> Answers:
    directory = repo.state_directory
    log = f"{server_address.directory_of(directory)}/{server_address.LOG}"
    return doctor.check_server(
        server_address.read_address(directory),
        version=__version__,
        is_running=server_address.is_held(directory),
        is_supervised=repo.bonds.is_held(SUPERVISOR),
        error_log="" if ErrorLines(log).is_empty() else log,
    )


def _hooks(repo: Repo, *, fix: bool) -> Answers:
    log = ErrorLines(os.path.join(repo.state_directory, "hook-errors.log"))
    return doctor.check_hooks(log.read(), log.forget, fix=fix)
