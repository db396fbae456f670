"""Money in whole micros (millionths of a US dollar), and prices of tokens. Exact: no floating point.

A price of one dollar for a million tokens is one micro for one token.
"""

from __future__ import annotations

from dataclasses import dataclass

from lineclear.core.words.refusals import refuse

MICROS = 1_000_000
LARGEST_MICROS = 10**9 * MICROS

_MAX_CHARS = 32
_DECIMALS = 6
_DIGITS = frozenset("0123456789")
_FORM = "write US dollars like 2, 2.50 or 0.000125"


def parse_money(text: str, *, least_micros: int = 0, most_micros: int = LARGEST_MICROS) -> int:
    """Micros, from dollars with at most six decimals."""
    micros = _read(text.strip().removeprefix("$"))
    if micros is None:
        raise refuse("input.bad", name="amount", given=text, why=_FORM)
    if micros < least_micros:
        raise refuse(
            "input.bad", name="amount", given=text, why=f"the minimum is {write_money(least_micros)}"
        )
    if micros > most_micros:
        raise refuse("input.bad", name="amount", given=text, why=f"the maximum is {write_money(most_micros)}")
    return micros


def _read(written: str) -> int | None:
    whole, point, fraction = written.partition(".")
    is_number = whole and (fraction or not point) and _DIGITS.issuperset(whole + fraction)
    if not is_number or len(written) > _MAX_CHARS or len(fraction) > _DECIMALS:
        return None
    return int(whole + fraction.ljust(_DECIMALS, "0"))


def micros_of_float(dollars: float) -> int | None:
    """The micros of a float such as 0.3; None if it has more than six decimals."""
    written = f"{dollars:.{_DECIMALS}f}"
    return _read(written) if float(written) == dollars else None


def write_money(micros: int) -> str:
    """Dollars, exact, with at least two decimals."""
    whole, part = divmod(micros, MICROS)
    decimals = f"{part:0{_DECIMALS}d}".rstrip("0").ljust(2, "0")
    return f"{whole}.{decimals}"


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost, in micros; `cached` is for input tokens that the model's server had
    cached."""

    name: str
    input_micros: int
    output_micros: int
    cached_micros: int
    origin: str = "default"

    def cost_micros(self, *, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> int:
        """The cost, rounded up so that a budget is not exceeded. `tokens_in` excludes the cached ones."""
        total = (
            tokens_in * self.input_micros
            + tokens_out * self.output_micros
            + tokens_cached * self.cached_micros
        )
        return -(-total // 1_000_000)
