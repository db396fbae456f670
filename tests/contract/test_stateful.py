"""The same random commands on three engines: same answers, same refusals, same tables, same log."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.core.log.tables import ALL
from lineclear.core.words.refusals import Refusal
from tests.contract.commands import GROUPS, Command, Door, History, remember
from tests.contract.three_engines import Engine, MemoryEngine, PostgresEngine, SqliteEngine, rows_of
from tests.sampling import some
from tests.world import FakeClock, Graveyard

if TYPE_CHECKING:
    pass

# Two trees; a sub-agent; one agent that is bound to a process which may die.
AGENTS = {"ann": "main", "bob": "main", "ann/sub": "main", "cyd": "other"}
BONDS = {"bob": "bond-of-bob"}

SETTINGS = settings(
    max_examples=some(30, share=2),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Engines:
    """Memory first: what it answers, the others must answer. Each has two stores, as two processes do."""

    def __init__(self, engines: list[Engine], clock: FakeClock) -> None:
        self._engines = engines
        self.stores = [(engine.name, engine.open(clock), engine.open(clock)) for engine in engines]

    def close(self) -> None:
        for engine in self._engines:
            engine.close()


class SameOnAllEngines(RuleBasedStateMachine):
    def __init__(self, commands: dict[str, Command], make: Callable[[], list[Engine]]) -> None:
        super().__init__()
        self.commands = commands
        self.names = [name for name, command in commands.items() for _ in range(command.weight)]
        self.clock, self.liveness, self.history = FakeClock(), Graveyard(), History()
        self.engines = Engines(make(), self.clock)
        self.operations = itertools.count(1)

    # One rule only: hypothesis leaves out rules at random, and most steps should be commands.
    @rule(
        agent=st.sampled_from(sorted(AGENTS)),
        repeats=st.booleans(),
        minutes_before=st.sampled_from((0, 0, 0, 0, 0, 0, 1, 6, 20)),
        death=st.sampled_from(("", "", "", "", "dead", "alive")),
        data=st.data(),
    )
    def command(
        self, agent: str, repeats: bool, minutes_before: int, death: str, data: st.DataObject
    ) -> None:
        self.clock.advance(minutes_before * 60_000)
        if death:
            self.liveness.dead = set(BONDS.values()) if death == "dead" else set()
        name = data.draw(st.sampled_from(self.names), label="command")
        chosen = self.commands[name]
        arguments = {key: data.draw(strategy, label=key) for key, strategy in chosen.arguments.items()}
        op = f"op-{next(self.operations)}" if repeats else ""
        seen = self.engines.stores[0][1].read(lambda view: view.head)
        caller = Caller(agent, tree=AGENTS[agent], bond=BONDS.get(agent, ""), op=op, seen=seen)
        for _ in range(2 if repeats else 1):
            answer = self._same(lambda door: chosen.run(door, **arguments), caller)
            if answer[0] == "answer":
                remember(self.history, name, caller, arguments, answer[1])

    def teardown(self) -> None:
        (_, model, _), *others = self.engines.stores
        for name, store, _ in others:
            for table in ALL:
                assert rows_of(store, table) == rows_of(model, table), f"{table.name} on {name}"
            assert store.check() == []
        for name, store, _ in self.engines.stores:
            assert audit(store)["findings"] == [], name
        self.engines.close()

    def _same(self, run: Callable[[Door], Any], caller: Caller) -> tuple[str, Any]:
        found: list[tuple[str, Any]] = []
        for name, first, second in self.engines.stores:
            store = first if caller.name < "b" else second
            found.append(_outcome(run, Door(store, self.liveness, caller, self.history)))
            assert found[-1] == found[0], name
        return found[0]


def _outcome(run: Callable[[Door], Any], door: Door) -> tuple[str, Any]:
    try:
        return "answer", run(door)
    except Refusal as refusal:
        return "refusal", refusal.as_data()


@pytest.mark.postgres
@pytest.mark.timeout(900)  # a failing example is made smaller before it is shown
@pytest.mark.parametrize(
    "group",
    ["everything", *(pytest.param(name, marks=pytest.mark.slow) for name in GROUPS if name != "everything")],
)
def test_random_commands_have_the_same_outcome_on_every_engine(
    group: str, tmp_path: Path, shared_database: str
) -> None:
    numbers = itertools.count(1)

    def make() -> list[Engine]:
        directory = tmp_path / f"state-{next(numbers)}"
        return [MemoryEngine(), SqliteEngine(directory), PostgresEngine(shared_database)]

    class ThisGroup(SameOnAllEngines):
        def __init__(self) -> None:
            super().__init__(GROUPS[group], make)

    run_state_machine_as_test(ThisGroup, settings=SETTINGS)
