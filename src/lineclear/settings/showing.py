"""The rows of `config show`: each setting with its value and its origin, without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.runs.money import write_money
from lineclear.settings.checks import CHECK_PATHS
from lineclear.settings.env_tables import show_variables
from lineclear.settings.strategies import STRATEGY
from lineclear.settings.table import ALL
from lineclear.settings.values import write_value
from lineclear.settings.workers import ENV, WORKER_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.core.claims.strategies import Rule
    from lineclear.core.runs.money import Price
    from lineclear.settings.checks import CheckPath
    from lineclear.settings.setting import Setting
    from lineclear.settings.table import Settings
    from lineclear.settings.workers import Worker

    Shown = dict[str, object]


def show(settings: Settings) -> list[Shown]:
    """Every setting, then the tables whose keys a file chooses; strategies last, in their order."""
    shown = [
        _entry(
            setting.name,
            _show_value(setting, getattr(settings, setting.attribute)),
            settings.origins[setting.name],
            setting.about,
        )
        for setting in ALL
    ]
    shown += _show_worktree_variables(settings)
    for worker in settings.workers:
        shown += _show_worker(worker)
    shown += [_show_price(price) for price in settings.prices.values()]
    shown += [_show_check(check) for check in settings.check_paths]
    return shown + [_show_rule(rule) for rule in settings.rules]


def _entry(name: str, value: object, origin: str, about: str) -> Shown:
    return {"name": name, "value": value, "origin": origin, "about": about}


def _show_value(setting: Setting, value: object) -> object:
    return redact(str(value)) if setting.is_secret else write_value(setting, value)


def show_for_trust(setting: Setting, value: object) -> str:
    """A value as `lineclear trust` shows and records it."""
    shown = _show_value(setting, value)
    if isinstance(shown, list):
        return ", ".join(map(str, shown))
    return str(shown).lower() if isinstance(shown, bool) else str(shown)


def _show_worktree_variables(settings: Settings) -> Iterator[Shown]:
    for variable, value in show_variables(settings.worktrees_env).items():
        name = f"worktrees.env.{variable}"
        yield _entry(name, value, settings.origins[name], "A variable for commands in a worktree")


def _show_worker(worker: Worker) -> Iterator[Shown]:
    """Its client, and the keys that a file sets for it."""
    for key, setting in WORKER_KEYS.items():
        if key == "client" or key in worker.origins:
            value = write_value(setting, getattr(worker, setting.attribute))
            origin = worker.origins.get(key, worker.origin)
            yield _entry(f"workers.{worker.name}.{key}", value, origin, setting.about)
    for variable, value in show_variables(worker.env).items():
        name, origin = f"workers.{worker.name}.env.{variable}", worker.origins[f"{ENV}.{variable}"]
        yield _entry(name, value, origin, "A variable for this worker")


def _show_price(price: Price) -> Shown:
    parts = (("input", price.input_micros), ("output", price.output_micros), ("cached", price.cached_micros))
    value = ", ".join(f"{key} {write_money(micros)}" for key, micros in parts)
    return _entry(f"prices.{price.name}", value, price.origin, "US dollars for a million tokens")


def _show_check(check: CheckPath) -> Shown:
    about = "The check for files that match"
    return _entry(f"{CHECK_PATHS} {check.resource.text}", check.command, check.origin, about)


def _show_rule(rule: Rule) -> Shown:
    words = f"{rule.strategy}, owner {rule.owner}" if rule.owner else rule.strategy
    return _entry(
        f"{STRATEGY} {rule.resource.text}",
        f"{words}, phase {rule.phase}" if rule.phase else words,
        rule.origin,
        "How it is shared; the last strategy that matches counts",
    )


def redact(url: str) -> str:
    """The URL without its password. If the URL is malformed, this hides too much rather than too little."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return "***" if "password" in url.lower() or "@" in url else url
    # The last "@" of all, since people forget to write "@", "/" or "?" in a password as %40, %2F, %3F.
    credentials, at, place = rest.rpartition("@")
    user, colon, _ = credentials.partition(":")
    place, question, query = place.partition("?")
    parts = [_redact_part(part) for part in query.split("&")]
    return f"{scheme}://{user}{colon and ':***'}{at}{place}{question}{'&'.join(parts)}"


def _redact_part(part: str) -> str:
    key, equals, _ = part.partition("=")
    return f"{key}=***" if equals and key.lower().endswith("password") else part
