"""Workers: who does the work of `lineclear run`, one [workers.NAME] table each. Starts nothing.

A worker without a budget or sandbox of its own inherits it from [budgets] and [worktrees]. A source that
ranks after the worker's own wins over the worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.agents.names import RESERVED, is_plain_name, label_name
from lineclear.core.words.refusals import Refusal
from lineclear.settings.env_tables import read_variables
from lineclear.settings.setting import CHOICE, COUNT, LIST, SWITCH, TEXT, WORD, WORDS, rows_of, setting
from lineclear.settings.sources import rank
from lineclear.settings.table import DEFAULT, SETTINGS
from lineclear.settings.unknown import warn_of_unknown
from lineclear.settings.values import bad_value, describe, read_value

if TYPE_CHECKING:
    from typing import Any

    from lineclear.settings.setting import Setting
    from lineclear.settings.table import Settings

MAX_WORKERS = 100
CLIENTS = ("claude", "codex", "gemini", "qwen", "opencode", "copilot", "goose", "aider", "plain")
ENV = "env"


def _inherited(name: str) -> Any:
    """A key with the kind and the bounds of another setting, and with its value until the worker has one."""
    above = SETTINGS[name]
    return setting(
        above.kind,
        None,
        f"Like {name}, for this worker.",
        least=above.least,
        most=above.most,
        choices=above.choices,
        inherits=name,
    )


class Worker:
    """One kind of worker. `origin` is the last file that mentions it, `origins` the origin of each key."""

    client: str = setting(
        WORD,
        "",
        f"One of {', '.join(CLIENTS)}. Without it: the worker's name. Use plain for any command.",
        most=64,
    )
    count: int = setting(COUNT, 1, "How many of this worker work at the same time.", least=1, most=200)
    labels: tuple[str, ...] = setting(
        LIST, (), "Its abilities: it takes only tasks that need no other labels.", most=40
    )
    command: tuple[str, ...] = setting(
        WORDS,
        (),
        "The command line that starts it, word by word. Without it: the client's own. {prompt}, "
        "{prompt_file} and {model} are replaced.",
        most=2_000,
    )
    model: str = setting(WORD, "", "The model it uses. Without it: the client's default.", most=200)
    permissions: str = setting(
        CHOICE,
        "edit",
        'What it may do without asking. "edit": change files in its own worktree; "full": everything; '
        '"none": only what the client allows by default.',
        choices=("edit", "full", "none"),
    )
    worktree: bool = setting(SWITCH, True, "Whether it gets its own worktree. Research and review need none.")
    stream: str = setting(TEXT, "", "The format of its output. Without it: the client's own.", most=64)
    run_time_ms: int = _inherited("budgets.run_time")
    run_tokens: int = _inherited("budgets.run_tokens")
    run_money_micros: int = _inherited("budgets.run_money")
    run_memory_bytes: int = _inherited("budgets.run_memory")
    sandbox: str = _inherited("worktrees.sandbox")

    def __init__(self, settings: Settings, name: str) -> None:
        """A worker that no file mentions: the client of this name with its defaults."""
        self.name, self.origin = name, DEFAULT
        self.env: dict[str, str] = {}
        # Only keys that a file sets for this worker and that count; a variable is in it as "env.NAME".
        self.origins: dict[str, str] = {}
        for row in WORKER_KEYS.values():
            above = SETTINGS[row.inherits].attribute if row.inherits else ""
            setattr(self, row.attribute, getattr(settings, above) if above else row.default)
        self.client = name


WORKER_KEYS = {row.name: row for row in rows_of(Worker, has_sections=False)}


def worker_named(settings: Settings, name: str) -> Worker:
    """The worker that a file names, or else the client of this name with its defaults."""
    for worker in settings.workers:
        if worker.name == name:
            return worker
    return Worker(settings, name)


def take_workers(settings: Settings, origin: str, given: object, _folds_case: bool) -> None:
    if not isinstance(given, dict):
        raise bad_value(origin, "workers", describe(given), "tables, [workers.NAME]")
    known = {worker.name: worker for worker in settings.workers}
    for name, table in given.items():
        if not is_plain_name(name) or name.lower() in RESERVED:
            rule = 'a name of at most 64 of A-Z a-z 0-9 "." "_" "-", a letter or digit first'
            raise bad_value(origin, f"workers.{name}", "its name", rule)
        if not isinstance(table, dict):
            expected = f"a table, [workers.{name}]"
            raise bad_value(origin, f"workers.{name}", describe(table), expected)
        if name not in known:
            known[name] = Worker(settings, name)
            settings.workers.append(known[name])
        _take_keys(settings, origin, known[name], table)
    if len(settings.workers) > MAX_WORKERS:
        found = f"{len(settings.workers)} of them"
        raise bad_value(origin, "workers", found, f"at most {MAX_WORKERS} workers")


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


def _take_key(settings: Settings, origin: str, worker: Worker, row: Setting, given: object) -> None:
    name = f"workers.{worker.name}.{row.name}"
    value: Any = read_value(row, given, origin, name)
    if row.name == "labels":
        _check_labels(origin, name, value)
    if row.name == "client" and not value:
        value = worker.name
    if not row.inherits or rank(origin) >= rank(settings.origins[row.inherits]):
        setattr(worker, row.attribute, value)
        worker.origins[row.name] = origin


def _check_labels(origin: str, name: str, labels: tuple[str, ...]) -> None:
    for label in labels:
        try:
            label_name(label)
        except Refusal:
            rule = 'labels of at most 40 of a-z 0-9 "." "_" "/" "-", a letter or digit first'
            raise bad_value(origin, name, describe(label), rule) from None
