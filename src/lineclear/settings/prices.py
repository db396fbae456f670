"""Reads [prices]: the cost of a million tokens, for clients that report tokens but no cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.runs.money import Price
from lineclear.settings.unknown import warn_of_unknown
from lineclear.settings.values import bad_value, describe, is_text, micros_of

if TYPE_CHECKING:
    from lineclear.settings.table import Settings

MAX_PRICES, MAX_NAME_CHARS = 200, 100
LARGEST_PRICE_MICROS = 10**6 * 10**6
PRICE_KEYS = {
    "input": "US dollars for a million tokens that the model reads",
    "output": "US dollars for a million tokens that the model writes",
    "cached": "US dollars for a million tokens that the model has cached; without it: the price of input",
}
_EXPECTED = "US dollars for a million tokens, with at most six decimals, like 3.0 or 0.25"


def take_prices(settings: Settings, origin: str, given: object, _folds_case: bool) -> None:
    if not isinstance(given, dict):
        raise bad_value(origin, "prices", describe(given), "a section, [prices]")
    for name, table in given.items():
        if not name or not is_text(name, MAX_NAME_CHARS):
            rule = f"a model's or client's name of at most {MAX_NAME_CHARS} characters"
            raise bad_value(origin, f"prices.{name}", "its name", rule)
        settings.prices[name] = _read_price(settings, origin, name, table)
    if len(settings.prices) > MAX_PRICES:
        found = f"{len(settings.prices)} of them"
        raise bad_value(origin, "prices", found, f"at most {MAX_PRICES} prices")


def _read_price(settings: Settings, origin: str, name: str, table: object) -> Price:
    place = f"prices.{name}"
    if not isinstance(table, dict) or "input" not in table or "output" not in table:
        # A dot in a name without quotes makes a table in a table, where these keys are missing.
        form = '"NAME" = { input = 3.0, output = 15.0 }, the name in quotes'
        raise bad_value(origin, place, describe(table), form)
    for key in table:
        if key not in PRICE_KEYS:
            known = tuple(f"{place}.{other}" for other in PRICE_KEYS)
            warn_of_unknown(settings, origin, "key", f"{place}.{key}", known)
    found = {key: _read_micros(origin, f"{place}.{key}", table[key]) for key in PRICE_KEYS if key in table}
    return Price(name, found["input"], found["output"], found.get("cached", found["input"]), origin)


def _read_micros(origin: str, name: str, given: object) -> int:
    micros = micros_of(given)
    if micros is None or micros > LARGEST_PRICE_MICROS:
        raise bad_value(origin, name, describe(given), _EXPECTED)
    return micros
