"""[[strategy]] entries that are bound to a phase."""

from __future__ import annotations

import pytest

from lineclear.core.words.refusals import Refusal
from lineclear.settings import build_settings


def entry(*lines: str) -> bytes:
    return "\n".join(["[[strategy]]", "match = 'migrations/'", *lines]).encode()


@pytest.mark.parametrize("phase", ["integrate", "test"])
@pytest.mark.parametrize("strategy", ["isolated", "single-writer", "locked", "optimistic"])
def test_every_strategy_that_lets_somebody_write_can_be_bound(phase: str, strategy: str) -> None:
    settings = build_settings(team=entry(f"strategy = '{strategy}'", f"phase = '{phase}'"), environ={})
    assert [rule.phase for rule in settings.rules] == [phase]


def test_without_a_phase_a_strategy_holds_in_all_of_them() -> None:
    assert build_settings(team=entry("strategy = 'isolated'"), environ={}).rules[0].phase == ""


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("strategy = 'isolated'", "phase = 'parallel'"), "phase is not one of integrate, test"),
        (("strategy = 'isolated'", "phase = 1"), "phase is not one of integrate, test"),
        (("strategy = 'read-only'", "phase = 'integrate'"), "read-only is never written"),
    ],
)
def test_a_phase_that_makes_no_sense_is_refused(lines: tuple[str, ...], why: str) -> None:
    with pytest.raises(Refusal, match=why) as caught:
        build_settings(team=entry(*lines), environ={})
    assert caught.value.code == "settings.strategy"
