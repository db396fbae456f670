"""Settings: files, environment and flags, read once into one value. Decides nothing with them.

The hook's path loads only the table and the loader. The names in `_LATER`, which check, explain or show
a value, load their module at the first use.
"""

from __future__ import annotations

from lineclear.settings.loading import (
    MAX_DOTS_IN_LINE,
    MAX_FILE_BYTES,
    build_settings,
    load_settings,
)
from lineclear.settings.setting import (
    CHOICE,
    COMMAND,
    COMMANDS,
    COUNT,
    DURATION,
    FOLD,
    IN_WORKTREE,
    LIST,
    MONEY,
    ON_MAIN,
    PREFIX,
    SCHEMES,
    SIZE,
    SWITCH,
    TEXT,
    WORD,
    WORDS,
    Setting,
)
from lineclear.settings.table import (
    LOCAL_FILE,
    OTHER_VARIABLES,
    SECTIONS,
    SETTINGS,
    TEAM_FILE,
    VARIABLES,
    Settings,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.settings.checks import CHECK_PATH_KEYS, CheckPath
    from lineclear.settings.prices import PRICE_KEYS
    from lineclear.settings.showing import redact, show
    from lineclear.settings.strategies import MAX_STRATEGIES, STRATEGY, STRATEGY_KEYS
    from lineclear.settings.unknown import MAX_WARNINGS
    from lineclear.settings.values import MAX_SCHEMES, expected, write_duration, write_value
    from lineclear.settings.workers import CLIENTS, WORKER_KEYS, Worker, worker_named

_LATER = {
    "CHECK_PATH_KEYS": "checks", "CheckPath": "checks", "PRICE_KEYS": "prices",
    "redact": "showing", "show": "showing",
    "MAX_STRATEGIES": "strategies", "STRATEGY": "strategies", "STRATEGY_KEYS": "strategies",
    "MAX_WARNINGS": "unknown",
    "MAX_SCHEMES": "values", "expected": "values", "write_duration": "values", "write_value": "values",
    "CLIENTS": "workers", "WORKER_KEYS": "workers", "Worker": "workers", "worker_named": "workers",
}  # fmt: skip

__all__ = [
    "CHECK_PATH_KEYS", "CHOICE", "CLIENTS", "COMMAND", "COMMANDS", "COUNT", "DURATION", "FOLD", "IN_WORKTREE",
    "LIST", "LOCAL_FILE", "MAX_DOTS_IN_LINE", "MAX_FILE_BYTES", "MAX_SCHEMES", "MAX_STRATEGIES",
    "MAX_WARNINGS", "MONEY", "ON_MAIN", "OTHER_VARIABLES", "PREFIX", "PRICE_KEYS", "SCHEMES", "SECTIONS",
    "SETTINGS", "SIZE", "STRATEGY", "STRATEGY_KEYS", "SWITCH", "TEAM_FILE", "TEXT", "VARIABLES", "WORD",
    "WORDS", "WORKER_KEYS", "CheckPath", "Setting", "Settings", "Worker", "build_settings", "expected",
    "load_settings", "redact", "show", "worker_named", "write_duration", "write_value",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value
