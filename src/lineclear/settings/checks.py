"""Reads [[checks.paths]] entries: separate checks for parts of the repository. Runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import Refusal
from lineclear.settings.setting import COMMAND, COUNT, Setting
from lineclear.settings.strategies import match_of
from lineclear.settings.unknown import warn_of_unknown
from lineclear.settings.values import bad_value, describe, read_value

if TYPE_CHECKING:
    from lineclear.core.claims.resources import Resource
    from lineclear.settings.table import Settings

MAX_CHECK_PATHS = 200
CHECK_PATHS = "checks.paths"
CHECK_PATH_KEYS = {
    "match": "a path, a directory (ends with a slash) or a glob, from the root of the repository",
    "command": "the command that must succeed when a file that matches has changed",
    "retries": "how many times it is repeated when it fails; without it: checks.retries",
}
_COMMAND = Setting(COMMAND, "", CHECK_PATH_KEYS["command"], most=2_000)
_RETRIES = Setting(COUNT, 0, CHECK_PATH_KEYS["retries"], most=10)
_NAMES = tuple(f"{CHECK_PATHS}.{key}" for key in CHECK_PATH_KEYS)


@dataclass(frozen=True, slots=True)
class CheckPath:
    """A command and the paths it checks. `number` is the entry's place in its file, `origin`, from 1 on.

    `retries` is -1 if the entry has none.
    """

    resource: Resource
    command: str
    origin: str
    number: int
    retries: int = -1


def take_check_paths(settings: Settings, origin: str, given: object, folds_case: bool) -> None:
    if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given):
        expected = "entries that begin with [[checks.paths]]"
        raise bad_value(origin, CHECK_PATHS, describe(given), expected)
    if len(settings.check_paths) + len(given) > MAX_CHECK_PATHS:
        expected = f"at most {MAX_CHECK_PATHS} entries in all files together"
        raise bad_value(origin, CHECK_PATHS, f"{len(given)} entries", expected)
    for number, entry in enumerate(given, 1):
        for key in entry:
            if key not in CHECK_PATH_KEYS:
                warn_of_unknown(settings, origin, "key", f"{CHECK_PATHS}.{key}", _NAMES)
        settings.check_paths.append(_read_entry(settings, origin, number, entry, folds_case))


def _read_entry(
    settings: Settings, origin: str, number: int, entry: dict[str, object], folds_case: bool
) -> CheckPath:
    name = f"{CHECK_PATHS} number {number}"
    match = entry.get("match")
    try:
        resource = match_of(settings, match, folds_case) if isinstance(match, str) else None
    except Refusal as refusal:
        raise bad_value(origin, f"{name}, match", describe(match), refusal.what) from None
    if resource is None or resource.scheme != "file":
        found = "missing" if match is None else describe(match)
        raise bad_value(origin, f"{name}, match", found, CHECK_PATH_KEYS["match"])
    command = read_value(_COMMAND, entry.get("command", ""), origin, f"{name}, command")
    if not command:
        raise bad_value(origin, f"{name}, command", "missing", CHECK_PATH_KEYS["command"])
    retries = -1
    if "retries" in entry:
        retries = int(str(read_value(_RETRIES, entry["retries"], origin, f"{name}, retries")))
    return CheckPath(resource, str(command), origin, number, retries)
