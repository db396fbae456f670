"""The run of checks on a place that only pretends: order, repeats, set-up, trust, and what is reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Event

import pytest

from lineclear.app.queue.check_runner import CheckRunner, CommandEnd
from lineclear.core.queue.checks import CANCELLED, Check
from lineclear.core.words.refusals import Refusal, refuse


class PretendedPlace:
    """`ends`: the exit codes of each command, one for each time it runs."""

    def __init__(self, ends: Mapping[str, Sequence[int]], *, set_up: int = 0, key: str = "") -> None:
        self.ends: dict[str, Iterator[int]] = {name: iter(codes) for name, codes in ends.items()}
        self.set_up_code, self.key = set_up, key
        self.done: list[str] = []
        self.env: Mapping[str, str] = {}

    def prepare(self, commit: str) -> str:
        self.done.append(f"prepare {commit}")
        return self.key

    def set_up(self, key: str, cancel: Event) -> tuple[str, CommandEnd] | None:
        self.done.append(f"set up {key}")
        return ("install", CommandEnd(code=self.set_up_code, tail="", log="")) if self.set_up_code else None

    def run(self, command: str, *, timeout_s: float, cancel: Event, env: Mapping[str, str]) -> CommandEnd:
        self.done.append(command)
        self.env = env
        return CommandEnd(code=next(self.ends[command]), tail=f"{command} says s3cret\n", log="1.log")

    def end_strays(self) -> bool:
        self.done.append("end strays")
        return True


def no_trust(_checks: Sequence[Check]) -> None:
    raise refuse("phase.no_check")


def runner(*, is_trusted: bool = True) -> CheckRunner:
    return CheckRunner(
        [],
        setup_timeout_ms=1_000,
        require_trusted=(lambda _: None) if is_trusted else no_trust,
        provisioning=lambda: "digest",
        secrets=lambda: ["s3cret"],
        monotonic_s=lambda: 0.0,
    )


def check(command: str, retries: int = 0) -> Check:
    return Check(command, timeout_ms=1_000, retries=retries)


def test_checks_run_one_after_the_other_up_to_the_first_that_fails() -> None:
    place = PretendedPlace({"lint": [0], "test": [1], "build": [0]})
    found = runner().run("c1", place, [check("lint"), check("test"), check("build")], cancel=Event())
    assert [(one.command, one.is_green) for one in found] == [("lint", True), ("test", False)]
    assert place.done == ["prepare c1", "lint", "test", "end strays"]


def test_a_repeat_gets_a_tree_that_is_made_ready_again() -> None:
    place = PretendedPlace({"test": [1, 0]})
    (found,) = runner().run("c1", place, [check("test", retries=2)], cancel=Event())
    assert (found.is_green, found.is_flaky, found.tries) == (True, True, 2)
    assert place.done == ["prepare c1", "test", "prepare c1", "test", "end strays"]


def test_a_set_up_that_fails_is_reported_and_no_check_runs() -> None:
    place = PretendedPlace({"test": [0]}, set_up=3, key="key")
    (found,) = runner().run("c1", place, [check("test")], cancel=Event())
    assert (found.is_set_up, found.command, found.code) == (True, "install", 3)
    assert place.done == ["prepare c1", "set up key", "end strays"]


@pytest.mark.parametrize("set_up", [0, CANCELLED])
def test_checks_that_are_cancelled_report_nothing(set_up: int) -> None:
    place = PretendedPlace({"test": [CANCELLED]}, set_up=set_up, key="key")
    assert runner().run("c1", place, [check("test")], cancel=Event()) == []
    assert place.done[-1] == "end strays"


def test_nothing_is_touched_for_checks_that_nobody_trusts() -> None:
    place = PretendedPlace({"test": [0]})
    with pytest.raises(Refusal):
        runner(is_trusted=False).run("c1", place, [check("test")], cancel=Event())
    assert place.done == []


def test_what_is_shown_holds_no_secret() -> None:
    place = PretendedPlace({"test": [1]})
    (found,) = runner().run("c1", place, [check("test")], cancel=Event())
    assert "test says" in found.tail
    assert "s3cret" not in found.tail + found.words


def test_the_variables_of_the_check_and_of_the_caller_are_added() -> None:
    place = PretendedPlace({"test": [0]})
    one = Check("test", timeout_ms=1_000, env={"A": "1", "B": "1"})
    runner().run("c1", place, [one], cancel=Event(), env={"B": "2"})
    assert place.env == {"A": "1", "B": "2"}
