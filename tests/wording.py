"""Every function that makes a refusal, wherever its words are kept."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace

from lineclear.core import (
    refusals,
    refusals_budgets,
    refusals_landing,
    refusals_mirror,
    refusals_store,
    refusals_tasks,
    refusals_trust,
    refusals_values,
)
from lineclear.core.refusals import Refusal

MODULES = (
    refusals,
    refusals_budgets,
    refusals_landing,
    refusals_mirror,
    refusals_store,
    refusals_tasks,
    refusals_trust,
    refusals_values,
)


def refusing_functions() -> dict[str, Callable[..., Refusal]]:
    return {
        name: function
        for module in MODULES
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and function.__annotations__["return"] == "Refusal"
    }


words = SimpleNamespace(**refusing_functions())
