"""The list that `lineclear trust` is about: what the team's file asks to run or to allow.

Only values that come from lineclear.toml and count, or would count after trust: this clone's own file,
variables and flags belong to the person.
"""

from __future__ import annotations

from shlex import join
from typing import TYPE_CHECKING

from lineclear.core.trust import Stated
from lineclear.settings.checks import CHECK_PATHS
from lineclear.settings.setting import TO_COUNT
from lineclear.settings.showing import show_for_trust
from lineclear.settings.table import ALL, TEAM_FILE
from lineclear.settings.workers import ENV

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.settings.table import Settings
    from lineclear.settings.workers import Worker


def commands_of(settings: Settings) -> list[Stated]:
    """In the order of the table of settings, each at the place where the file states it."""
    stated = [*_of_settings(settings), *_of_variables(settings), *_of_check_paths(settings)]
    for worker in settings.workers:
        stated += _of_worker(worker)
    return stated


def _of_settings(settings: Settings) -> Iterator[Stated]:
    for setting in ALL:
        value = getattr(settings, setting.attribute)
        if setting.name in settings.held:
            yield Stated(setting.name, settings.held[setting.name])
        elif settings.origins[setting.name] != TEAM_FILE or not setting.needs_trust(value, settings.root):
            continue
        elif setting.trust == TO_COUNT:
            yield Stated(setting.name, show_for_trust(setting, value))
        elif isinstance(value, str):
            yield Stated(setting.name, value)
        else:
            for place, text in enumerate(value):
                yield Stated(f"{setting.name}[{place}]", text)


def _of_variables(settings: Settings) -> Iterator[Stated]:
    """Variables count: PATH or a preloaded library decides what a harmless command does."""
    for variable, value in settings.worktrees_env.items():
        where = f"worktrees.env.{variable}"
        if settings.origins[where] == TEAM_FILE:
            yield Stated(where, f"{variable}={value}")


def _of_check_paths(settings: Settings) -> Iterator[Stated]:
    for check in settings.check_paths:
        if check.origin == TEAM_FILE:
            yield Stated(f"{CHECK_PATHS}[{check.number - 1}].command", check.command)


def _of_worker(worker: Worker) -> Iterator[Stated]:
    place = f"workers.{worker.name}"
    if worker.command and worker.origins.get("command") == TEAM_FILE:
        yield Stated(f"{place}.command", join(worker.command))
    if worker.permissions == "full" and worker.origins.get("permissions") == TEAM_FILE:
        yield Stated(f"{place}.permissions", worker.permissions)
    if worker.sandbox == "off" and worker.origins.get("sandbox") == TEAM_FILE:
        yield Stated(f"{place}.sandbox", worker.sandbox)
    for variable, value in worker.env.items():
        if worker.origins[f"{ENV}.{variable}"] == TEAM_FILE:
            yield Stated(f"{place}.{ENV}.{variable}", f"{variable}={value}")
