"""An agent that moves main itself: main is put back, and every thread of the supervisor hears of it once."""

from __future__ import annotations

from typing import Any

from lineclear.app.runs.landing import RunLanding
from lineclear.core.queue.landing_results import NeedsYou, Stray


class Main:
    """Main as one agent left it; put back at once unless a person is in the way."""

    def __init__(self, stray: Stray | None, in_the_way: str = "") -> None:
        self.stray, self.in_the_way = stray, in_the_way

    def name(self) -> str:
        return "main"

    def find_stray(self) -> Stray | None:
        return self.stray

    def restore(self, _stray: Stray) -> str | NeedsYou:
        if self.in_the_way:
            return NeedsYou(self.in_the_way)
        self.stray = None
        return "refs/kept"


def landing(main: Main, strayed: dict[str, str]) -> RunLanding:
    unused: Any = None
    return RunLanding(unused, unused, unused, main, unused, unused, lands=True, strayed=strayed)


def test_an_agent_that_moved_main_is_named_with_where_its_commits_are() -> None:
    main = Main(Stray("ada", "old", "new"))
    assert landing(main, {}).strays(["ada", "ben"]) == [
        ("ada", "main was put back, its commits are at refs/kept")
    ]
    assert main.stray is None


def test_another_thread_hears_of_it_until_the_agents_run_has_ended() -> None:
    strayed: dict[str, str] = {}
    landing(Main(Stray("ada", "old", "new")), strayed).strays(["ada"])
    other = landing(Main(None), strayed)
    assert [agent for agent, _ in other.strays(["ada"])] == ["ada"]
    assert [agent for agent, _ in other.strays(["ada"], is_end=True)] == ["ada"]
    assert other.strays(["ada"]) == []


def test_main_that_cannot_be_put_back_says_why() -> None:
    found = landing(Main(Stray("ada", "old", "new"), "its files are edited"), {}).strays(["ada"])
    assert found == [("ada", "it could not be put back: its files are edited")]


def test_an_agent_of_somebody_else_is_left_to_them() -> None:
    main = Main(Stray("zoe", "old", "new"))
    assert landing(main, {}).strays(["ada"]) == []
    assert main.stray is not None
