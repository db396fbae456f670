"""Reads [[strategy]] entries into rules. The core decides what a rule means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.agents.names import agent_name
from lineclear.core.claims.resources import parse_resource
from lineclear.core.claims.strategies import READ_ONLY, SINGLE_WRITER, STRATEGIES, Rule
from lineclear.core.queue.phases import BINDABLE
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.settings.unknown import warn_of_unknown
from lineclear.settings.values import bad_value, describe

if TYPE_CHECKING:
    from lineclear.core.claims.resources import Resource
    from lineclear.settings.table import Settings

MAX_STRATEGIES = 1_000
STRATEGY = "strategy"
STRATEGY_KEYS = {
    "match": "A path from the root of the repository, a directory (ends with a slash), a glob or another "
    "resource. Only `*`, `**` and `?` are wildcards, so app/[id]/page.tsx is a name.",
    "strategy": "One of " + ", ".join(STRATEGIES) + ".",
    "owner": f"The agent that writes it; only for {SINGLE_WRITER}. Without it: the holder of the exclusive "
    "claim.",
    "phase": f"The only phase in which it is written, {' or '.join(BINDABLE)}; before that, agents propose. "
    "Without it: every phase. In integrate the owner writes it, or the built-in integrator applies the "
    "proposals.",
}
_STRATEGY_NAMES = tuple(f"{STRATEGY}.{key}" for key in STRATEGY_KEYS)


def take_rules(settings: Settings, origin: str, given: object, folds_case: bool) -> None:
    if not isinstance(given, list):
        raise bad_value(origin, STRATEGY, describe(given), "entries that begin with [[strategy]]")
    if len(settings.rules) + len(given) > MAX_STRATEGIES:
        raise refuse("settings.strategies", origin=origin, most=MAX_STRATEGIES)
    settings.rules += [
        _read_rule(settings, origin, number, entry, folds_case) for number, entry in enumerate(given, 1)
    ]


def match_of(settings: Settings, text: str, folds_case: bool) -> Resource:
    """The resource that a `match` means; `folds_case` is the meaning of "auto". Refuses like any resource."""
    folds = folds_case if settings.paths_fold_case == "auto" else settings.paths_fold_case == "true"
    nfc, schemes = settings.paths_nfc, settings.resources_schemes
    return parse_resource(text, fold_case=folds, nfc=nfc, schemes=schemes)


def _read_rule(settings: Settings, origin: str, number: int, entry: object, folds_case: bool) -> Rule:
    if not isinstance(entry, dict):
        raise refuse(
            "settings.strategy",
            origin=origin,
            number=number,
            reason="form is wrong: an entry begins with [[strategy]]",
        )
    for key in entry:
        if key not in STRATEGY_KEYS:
            warn_of_unknown(settings, origin, "key", f"{STRATEGY}.{key}", _STRATEGY_NAMES)
    match, strategy, owner = entry.get("match"), entry.get("strategy"), entry.get("owner", "")
    phase = entry.get("phase", "")
    why = _fault_in_rule(match, strategy, owner) or _fault_in_phase(phase, strategy)
    if why:
        raise refuse("settings.strategy", origin=origin, number=number, reason=why)
    try:
        resource = match_of(settings, str(match), folds_case)
        name = agent_name(owner) if owner else ""
    except Refusal as refusal:
        raise refuse("settings.strategy", origin=origin, number=number, reason=_cause(refusal)) from None
    return Rule(resource, str(strategy), name, f"{origin}, strategy {number}", str(phase))


def _fault_in_rule(match: object, strategy: object, owner: object) -> str:
    if not isinstance(match, str):
        return "match is missing: a path, a glob or another resource, as text"
    if strategy not in STRATEGIES:
        return "strategy is not one of " + ", ".join(STRATEGIES)
    if not isinstance(owner, str):
        return "owner is not an agent's name"
    return "owner makes no sense: only single-writer has one" if owner and strategy != SINGLE_WRITER else ""


def _fault_in_phase(phase: object, strategy: object) -> str:
    if phase and phase not in BINDABLE:
        return "phase is not one of " + ", ".join(BINDABLE)
    return "phase makes no sense: read-only is never written" if phase and strategy == READ_ONLY else ""


def _cause(refusal: Refusal) -> str:
    field = "owner" if refusal.code == "input.bad" else "match"
    return f"{field} is wrong: {refusal.what.removesuffix('.')}"
