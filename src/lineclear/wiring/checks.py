"""Builds what runs checks: the settings that a commit holds, check trees, the runner and the pool."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from lineclear.app.queue.check_runner import CheckRunner, ChecksOfMain
from lineclear.core.queue.checks import trust_places
from lineclear.core.words.computed.queue import git_failed
from lineclear.core.words.computed.settings import gate_not_in_force
from lineclear.core.words.refusals import Refusal
from lineclear.git.check_trees import CheckTrees, TreeProvisioning
from lineclear.git.committed_settings import CommittedSettings
from lineclear.git.landing import landing_ref
from lineclear.git.layout import CHECKS
from lineclear.git.object_store import ObjectStore
from lineclear.git.run import GitFailed
from lineclear.host.check_pool import ThreadedCheckPool
from lineclear.host.commands import run_in_turn
from lineclear.settings.in_force import missing_gates, not_in_force
from lineclear.settings.stated_checks import stated_checks
from lineclear.wiring.ports import check_ports
from lineclear.wiring.repo import Repo, open_repo, state_directory
from lineclear.wiring.trust import trust_of
from lineclear.wiring.worktrees import clone_worktrees, sandboxed, worktree_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from threading import Event

    from lineclear.app.queue.check_runner import CheckResult
    from lineclear.core.queue.checks import Check
    from lineclear.git.layout import Layout
    from lineclear.settings import Settings


def check_logs(repo: Repo) -> str:
    """The directory with the output of checks."""
    return os.path.join(repo.state_directory, "checks")


def committed_settings(repo: Repo, objects: ObjectStore) -> CommittedSettings:
    return _committed(repo.layout, repo.environ, objects, for_agent=repo.settings.for_agent)


def _committed(
    layout: Layout, environ: Mapping[str, str], objects: ObjectStore, *, for_agent: bool
) -> CommittedSettings:
    return CommittedSettings(
        objects, common_dir=layout.common_dir, local_dir=state_directory(layout), environ=environ,
        for_agent=for_agent,
    )  # fmt: skip


def repo_by(repo: Repo, settings: Settings) -> Repo:
    """The same repository and store, by other settings. The opener of `repo` closes it."""
    return Repo(repo.layout, settings, repo.store, repo.environ)


def repo_at(repo: Repo, commit: str) -> Repo:
    """`repo_by` the settings that a commit holds."""
    with ObjectStore(repo.layout.common_dir) as objects:
        return repo_by(repo, committed_settings(repo, objects).at(commit))


def settings_in_force(repo: Repo) -> Settings:
    """Those that the landing branch holds; before its first commit, those of the main worktree."""
    return in_force_at(repo.layout, repo.environ, repo.settings)


def in_force_at(layout: Layout, environ: Mapping[str, str], stated: Settings) -> Settings:
    """`settings_in_force` where no store is open. `stated`: the settings of the main worktree."""
    try:
        with ObjectStore(layout.common_dir) as objects:
            main = objects.commit_of(landing_ref(layout))
            known = _committed(layout, environ, objects, for_agent=stated.for_agent)
            return known.at(main) if main else stated
    except GitFailed as error:
        raise git_failed(error.command[0], error.stderr) from error


def warnings_in_force(layout: Layout, environ: Mapping[str, str], stated: Settings) -> list[str]:
    """A warning for each setting that lineclear.toml states and main has not committed."""
    main = landing_ref(layout).removeprefix("refs/heads/")
    try:
        return not_in_force(stated, in_force_at(layout, environ, stated), main)
    except Refusal as refusal:
        return [f"The settings that {main} has committed cannot be read, so nothing can land. {refusal.what}"]


def require_gates(repo: Repo, branch: str = "") -> None:
    """Refuse if lineclear.toml states a check or a review that neither main nor `branch` has committed: the
    work would land without it."""
    ref = landing_ref(repo.layout)
    missing = missing_gates(repo.settings, settings_in_force(repo))
    if missing and branch:
        with ObjectStore(repo.layout.common_dir) as objects:
            tip = objects.commit_of(f"refs/heads/{branch}")
            if tip and not missing_gates(repo.settings, committed_settings(repo, objects).at(tip)):
                return  # the branch brings the gate to main
    if missing:
        raise gate_not_in_force(missing, ref.removeprefix("refs/heads/"))


def require_trusted(at_main: Repo, checks: Iterable[Check]) -> None:
    """Refuse unless a person has seen these very commands, and what makes a tree ready for them."""
    settings = at_main.settings
    places = trust_places(
        checks, has_setup=bool(settings.worktrees_setup), has_env=bool(settings.worktrees_env)
    )
    if places:
        trust_of(at_main).require(places)


def check_trees(repo: Repo, at_main: Repo | None = None) -> CheckTrees:
    """They lie where the settings of `repo` have worktrees, and are made ready by those of `at_main`."""
    files, by_main = worktree_files(repo), at_main or repo
    files_by_main, settings = worktree_files(by_main), by_main.settings
    return CheckTrees(
        common_dir=files.common_dir,
        root=files.root,
        directory=clone_worktrees(repo).default_place(CHECKS),
        logs=check_logs(repo),
        environ=repo.environ,
        bonds=repo.bonds,
        ports=check_ports(by_main),
        require_room=lambda path: files.require_room(1, path),
        provisioning=TreeProvisioning(
            setup=settings.worktrees_setup,
            env=settings.worktrees_env,
            sandbox=settings.worktrees_sandbox,
            files=files_by_main.to_bring,
            bring=files_by_main.bring,
            run_set_up=lambda run: run_in_turn(
                settings.worktrees_setup, settings.worktrees_setup_timeout_ms / 1_000, run
            ),
            wrap=lambda tree, words, tmp: sandboxed(by_main, tree.path, words, tmp=tmp),
        ),
    )


def check_runner(at_main: Repo) -> CheckRunner:
    trees = check_trees(at_main)
    return CheckRunner(
        stated_checks(at_main.settings),
        setup_timeout_ms=at_main.settings.worktrees_setup_timeout_ms,
        require_trusted=lambda checks: require_trusted(at_main, checks),
        provisioning=trees.provisioning_digest,
        secrets=trees.secrets,
        monotonic_s=time.monotonic,
    )


def check_pool(repo: Repo, places: int, settings_at: Callable[[str], Settings]) -> ThreadedCheckPool:
    """`settings_at`: those that a commit holds."""

    def checks_at(main: str) -> ChecksOfMain:
        settings = settings_at(main)

        def run(commit: str, checks: Sequence[Check], cancel: Event) -> list[CheckResult]:
            # A store serves one thread.
            own = open_repo(repo.layout.worktree, repo.environ)
            try:
                at_main = repo_by(own, settings)
                tree = check_trees(own, at_main).hold_any(places, cancel)
                if tree is None:
                    return []
                with tree:
                    return check_runner(at_main).run(commit, tree, checks, cancel=cancel)
            finally:
                own.close()

        return ChecksOfMain(runner=check_runner(repo_by(repo, settings)), run=run)

    return ThreadedCheckPool(places, checks_at)
