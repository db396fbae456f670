"""Who races for what: each racer returns what it won, and what it was told when it did not."""

from __future__ import annotations

from collections import Counter
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

from tests.ears import poll_every, watch_waits
from tests.racing import Rounds
from tests.verbs import Desk

if TYPE_CHECKING:
    from lineclear.app.ports import Listener

Result = tuple[dict[int, int], Counter[str]]


def for_one_resource(desk: Desk, number: int, rounds: Rounds, _extra: Any) -> Result:
    """{round: fence} of the rounds won; the winner gives the resource back when all have tried."""
    name, won, lost = f"racer-{number}", dict[int, int](), Counter[str]()
    for round_ in rounds:
        said = desk.do("claim", name, "file:src/app.py")
        if "answer" in said:
            won[round_] = said["answer"]["fence"]
        else:
            lost[said["refusal"]] += 1
        rounds.meet()
        if round_ in won:
            desk.release(name, "file:src/app.py")
    return won, lost


def for_one_task(desk: Desk, number: int, rounds: Rounds, _extra: Any) -> Result:
    """{round: task} of the rounds won; the winner ends the task and adds the one for the next round."""
    name, won, lost = f"racer-{number}", dict[int, int](), Counter[str]()
    for round_ in rounds:
        # By its number, or as whatever is next: both ways lead to one task.
        said = desk.do("take_task", name, round_ + 1 if round_ % 2 else 0)
        if "answer" in said:
            won[round_] = int(said["answer"]["task"]["id"].removeprefix("T-"))
        else:
            lost[said["refusal"]] += 1
        rounds.meet()
        if round_ in won:
            desk.finish_task(name, won[round_])
            desk.add_task(name, f"task for round {round_ + 1}")
    return won, lost


def for_one_version(desk: Desk, number: int, rounds: Rounds, _extra: Any) -> Result:
    """{round: version} of the rounds won; all have read the same version and write on it."""
    name, won, lost = f"racer-{number}", dict[int, int](), Counter[str]()
    for round_ in rounds:
        said = desk.do("put", name, "counter", str(round_ + 1), version=round_)
        if "answer" in said:
            won[round_] = said["answer"]["version"]
        else:
            lost[f"{said['refusal']} {said['exit_code']}"] += 1
        rounds.meet()
    return won, lost


def handing_over(desk: Desk, number: int, rounds: Rounds, turns: int) -> tuple[list[int], list[int], int]:
    """Two players, one ball: (when it was given away, when it was had, how often the bell was not heard).

    Nobody looks without a bell: a ring that is lost is a wait that runs into its time limit.
    """
    poll_every(30.0)
    given_at, had_at, lost = list[int](), list[int](), [0]

    def count_lost(listener: Listener, timeout_s: float) -> bool:
        rung = listener.wait(timeout_s)
        lost[0] += not rung
        return rung

    watch_waits(desk.store, count_lost)
    me, other = f"player-{number}", f"player-{1 - number}"
    with desk.store.listen() as ear:
        for turn in range(turns):
            if turn == 0 and number == 1:
                rounds.meet()
            desk.claim(me, "api:ball", wait_ms=60_000)
            had_at.append(monotonic_ns())
            if turn == 0 and number == 0:
                rounds.meet()
            is_last = turn == turns - 1 and number == 1
            while not is_last and desk.tickets() != [other]:
                ear.wait(30.0)
            given_at.append(monotonic_ns())
            desk.release(me, "api:ball")
    return given_at, had_at, lost[0]
