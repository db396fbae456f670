"""A planned set-up carried out: the one place that changes clients' files, git's settings and our records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lineclear.app.setup.planning import MERGE_DRIVER, plan_install, plan_remove
from lineclear.app.setup.ports import FileChangedMeanwhile
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from lineclear.app.setup.clone import SetupClone
    from lineclear.app.setup.planning import PlannedSetup


def apply_setup(planned: PlannedSetup) -> None:
    """First what is remembered, then the files: killed between, `--remove` still knows what to look for.

    Git is pointed to our hooks after they are written, and away from them before they are removed.
    """
    clone = planned.clone
    try:
        if planned.is_removal:
            _set_git(planned)
        if planned.changes or planned.record is not None or clone.record(planned.name):
            _change_files(planned)
        if not planned.is_removal:
            _set_git(planned)
    except FileChangedMeanwhile as error:
        raise refuse("setup.moved", path=error.path, client=planned.name) from None
    except OSError as error:
        path = error.filename or clone.state
        raise refuse("setup.not_written", path=path, why=error.strerror or str(error)) from None


def _change_files(planned: PlannedSetup) -> None:
    files = planned.clone.files
    with files.alone():
        if planned.record is not None:
            _remember(planned)
        files.apply(planned.changes)
        if planned.record is None:
            files.remove_record(planned.clone.record_path(planned.name))
            files.remove_directories(planned.directories)


def _set_git(planned: PlannedSetup) -> None:
    for name, value in planned.git_settings.items():
        planned.clone.git.set_setting(name, value)


def _remember(planned: PlannedSetup) -> None:
    files, path = planned.clone.files, planned.clone.record_path(planned.name)
    data = (json.dumps(planned.record, ensure_ascii=False, indent=1) + "\n").encode()
    if files.read(path) != data:
        files.write_record(path, data)


def equip_worktree(clone: SetupClone, root: str) -> None:
    """A worktree that was just made gets what this repository's clients read in it."""
    for name in clone.installed_clients():
        if clone.clients.module(name).IN_WORKTREES:
            planned = plan_install(clone, name, [root])
            if planned.changes:
                apply_setup(planned)


def remove_all(clone: SetupClone) -> None:
    """For `uninstall`: all that was set up here is taken out again."""
    for name in clone.installed_clients():
        apply_setup(plan_remove(clone, name))
    # Known by git's settings alone: it has no record, and may be there without a store.
    apply_setup(plan_remove(clone, MERGE_DRIVER))
