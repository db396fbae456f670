"""Every function that makes a refusal, wherever its words are kept."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

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


def functions_of(*modules: ModuleType) -> dict[str, Callable[..., Refusal]]:
    """By name, every function of these modules that is theirs and meant for others."""
    return {
        name: function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }


def said(refusal: Refusal) -> tuple[str, str]:
    """Its code with the exit code, and its text."""
    return f"{refusal.code} {refusal.exit_code}", str(refusal)


def hostile_text(function: Callable[..., Refusal], particular: Mapping[str, Any]) -> str:
    """What it says when it is given long texts, or for a parameter named here something else."""
    parameters = inspect.signature(function).parameters
    return str(function(*(particular.get(name, "it's " + "y" * 5_000) for name in parameters)))


def refusing_functions() -> dict[str, Callable[..., Refusal]]:
    found = functions_of(*MODULES)
    return {name: one for name, one in found.items() if one.__annotations__["return"] == "Refusal"}


words = SimpleNamespace(**refusing_functions())
