"""Workers: who does the work of `lineclear run`, each a [workers.NAME] table. Starts nothing.

A worker that says nothing of a budget or the sandbox has what [budgets] and [worktrees] say; a later
source than the worker's own wins over the worker.
"""

from __future__ import annotations

from lineclear.core import refusals_settings as refusals
from lineclear.core.durations import DAY_MS
from lineclear.core.names import RESERVED, is_plain_name, label_name
from lineclear.core.refusals import Refusal
from lineclear.settings.sources import rank
from lineclear.settings.table import (
    CHOICE,
    COUNT,
    DEFAULT,
    DURATION,
    LIST,
    MAX_MICROS,
    MAX_TOKENS,
    MONEY,
    SANDBOXES,
    SETTINGS,
    SIZE,
    SWITCH,
    TEXT,
    TIB,
    WORD,
    WORDS,
    Setting,
)
from lineclear.settings.unknown import warn_of_unknown
from lineclear.settings.values import describe, read_value
from lineclear.settings.variables import read_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.settings.table import Settings

MAX_WORKERS = 100
CLIENTS = ("claude", "codex", "gemini", "qwen", "opencode", "copilot", "goose", "aider", "plain")
PERMISSIONS = ("edit", "full", "none")

_KEYS = (
    Setting("client", WORD, "", "one of " + ", ".join(CLIENTS) + "; without it the worker's name", most=64),
    Setting("count", COUNT, 1, "how many of this worker work at once", least=1, most=200),
    Setting("labels", LIST, (), "what it can do: it takes tasks that need no more than this", most=40),
    Setting("command", WORDS, (), "the command line that starts it; without it the client's own", most=2_000),
    Setting("model", WORD, "", "the model it is started with; empty: the client's default", most=200),
    Setting(
        "permissions",
        CHOICE,
        "edit",
        "edit: it may change its own worktree; full: it asks for nothing; none: as the client is",
        choices=PERMISSIONS,
    ),
    Setting("worktree", SWITCH, True, "false: it needs no files of its own (research, review)"),
    Setting("stream", TEXT, "", "the format of its output; empty: the client's own", most=64),
    Setting("run_time", DURATION, None, "as budgets.run_time, for this worker", most=30 * DAY_MS),
    Setting("run_tokens", COUNT, None, "as budgets.run_tokens, for this worker", most=MAX_TOKENS),
    Setting("run_money", MONEY, None, "as budgets.run_money, for this worker", most=MAX_MICROS),
    Setting("run_memory", SIZE, None, "as budgets.run_memory, for this worker", most=100 * TIB),
    Setting("sandbox", CHOICE, None, "as worktrees.sandbox, for this worker", choices=SANDBOXES),
)
WORKER_KEYS = {setting.name: setting for setting in _KEYS}
ENV = "env"
# Where a key comes from that the worker itself does not state.
_INHERITED = {
    "run_time": SETTINGS["budgets.run_time"],
    "run_tokens": SETTINGS["budgets.run_tokens"],
    "run_money": SETTINGS["budgets.run_money"],
    "run_memory": SETTINGS["budgets.run_memory"],
    "sandbox": SETTINGS["worktrees.sandbox"],
}


class Worker:
    """One kind of worker. `origin` is the last file that says something of it, `origins` says it by key."""

    __slots__ = (*(setting.attribute for setting in _KEYS), "env", "name", "origin", "origins")

    client: str
    count: int
    labels: tuple[str, ...]
    command: tuple[str, ...]
    model: str
    permissions: str
    worktree: bool
    stream: str
    run_time_ms: int
    run_tokens: int
    run_money_micros: int
    run_memory_bytes: int
    sandbox: str

    def __init__(self, settings: Settings, name: str) -> None:
        """A worker that no file says anything of: the client of this name, as it is."""
        self.name, self.origin = name, DEFAULT
        self.env: dict[str, str] = {}
        # Only what a file states for this worker and what counts; a variable is in it as "env.NAME".
        self.origins: dict[str, str] = {}
        for key, setting in WORKER_KEYS.items():
            above = _INHERITED.get(key)
            value = getattr(settings, above.attribute) if above else setting.default
            setattr(self, setting.attribute, value)
        self.client = name


def worker_named(settings: Settings, name: str) -> Worker:
    """The worker of the files, or else the client of this name as it is."""
    for worker in settings.workers:
        if worker.name == name:
            return worker
    return Worker(settings, name)


def take_workers(settings: Settings, origin: str, given: object, _folds_case: bool) -> None:
    if not isinstance(given, dict):
        raise refusals.bad_setting(origin, "workers", describe(given), "tables, [workers.NAME]")
    known = {worker.name: worker for worker in settings.workers}
    for name, table in given.items():
        if not is_plain_name(name) or name.lower() in RESERVED:
            rule = 'a name of at most 64 of A-Z a-z 0-9 "." "_" "-", a letter or digit first'
            raise refusals.bad_setting(origin, f"workers.{name}", "its name", rule)
        if not isinstance(table, dict):
            expected = f"a table, [workers.{name}]"
            raise refusals.bad_setting(origin, f"workers.{name}", describe(table), expected)
        if name not in known:
            known[name] = Worker(settings, name)
            settings.workers.append(known[name])
        _take_keys(settings, origin, known[name], table)
    if len(settings.workers) > MAX_WORKERS:
        found = f"{len(settings.workers)} of them"
        raise refusals.bad_setting(origin, "workers", found, f"at most {MAX_WORKERS} workers")


def _take_keys(settings: Settings, origin: str, worker: Worker, table: dict[str, Any]) -> None:
    worker.origin, place = origin, f"workers.{worker.name}"
    for key, given in table.items():
        name = f"{place}.{key}"
        if key == ENV:
            worker.env |= read_variables(settings, origin, name, given)
            worker.origins |= {f"{ENV}.{variable}": origin for variable in given}
        elif key not in WORKER_KEYS:
            known = tuple(f"{place}.{other}" for other in (*WORKER_KEYS, ENV))
            warn_of_unknown(settings, origin, "key", name, known)
        else:
            _take_key(settings, origin, worker, WORKER_KEYS[key], given)


def _take_key(settings: Settings, origin: str, worker: Worker, setting: Setting, given: object) -> None:
    name = f"workers.{worker.name}.{setting.name}"
    value: Any = read_value(setting, given, origin, name)
    if setting.name == "labels":
        _check_labels(origin, name, value)
    if setting.name == "client" and not value:
        value = worker.name
    above = _INHERITED.get(setting.name)
    if above is None or rank(origin) >= rank(settings.origins[above.name]):
        setattr(worker, setting.attribute, value)
        worker.origins[setting.name] = origin


def _check_labels(origin: str, name: str, labels: tuple[str, ...]) -> None:
    for label in labels:
        try:
            label_name(label)
        except Refusal:
            rule = 'labels of at most 40 of a-z 0-9 "." "_" "/" "-", a letter or digit first'
            raise refusals.bad_setting(origin, name, describe(label), rule) from None
