"""Where histories parted, compared with what the definition says, on random histories."""

from __future__ import annotations

import random

import pytest

from lineclear.git.ancestry import part

History = dict[str, tuple[list[str], int]]


def ancestors(history: History, commit: str) -> set[str]:
    """With the commit itself."""
    found, waiting = {commit}, [commit]
    while waiting:
        fresh = [parent for parent in history[waiting.pop()][0] if parent not in found]
        found.update(fresh)
        waiting += fresh
    return found


def parted(history: History, left: str, right: str) -> tuple[set[str], set[str]]:
    ours, theirs = ancestors(history, left), ancestors(history, right)
    common = ours & theirs
    lower = {below for commit in common for below in ancestors(history, commit) - {commit}}
    return common - lower, theirs - ours


def random_history(dice: random.Random, clock: str) -> History:
    history: History = {}
    for number in range(dice.randint(2, 24)):
        known = list(history)[-6:]
        parents = dice.sample(known, min(len(known), dice.choice([0, 1, 1, 1, 2, 2, 2, 3])))
        oldest_s = max((history[parent][1] for parent in parents), default=0)
        at_s = {"true": oldest_s + dice.randint(0, 3), "still": 5, "wrong": dice.randint(0, 30)}[clock]
        history[f"c{number}"] = (parents, at_s)
    return history


@pytest.mark.parametrize("clock", ["true", "still", "wrong"])
def test_histories_part_where_the_definition_says(clock: str) -> None:
    dice = random.Random(clock)
    crossed = 0
    for _ in range(2_000):
        history = random_history(dice, clock)
        left, right = dice.choices(list(history)[-5:], k=2)
        bases, own = part(history.__getitem__, left, right)
        expected, expected_own = parted(history, left, right)
        assert (len(bases), set(bases)) == (len(expected), expected), (history, left, right)
        if clock != "wrong":
            assert (len(own), set(own)) == (len(expected_own), expected_own), (history, left, right)
        crossed += len(bases) > 1
    assert crossed > 50


def test_what_only_one_side_holds_comes_newest_first() -> None:
    history: History = {
        "root": ([], 1),
        "a": (["root"], 2),
        "b": (["a"], 3),
        "c": (["b"], 3),
        "main": (["root"], 9),
    }
    assert part(history.__getitem__, "main", "c") == (["root"], ["c", "b", "a"])


def test_only_what_lies_above_the_parting_is_asked_for() -> None:
    history: History = {f"m{n}": ([f"m{n - 1}"] if n else [], n) for n in range(1_000)}
    history |= {"tip": (["m990"], 1_001)}
    asked: set[str] = set()

    def links(commit: str) -> tuple[list[str], int]:
        asked.add(commit)
        return history[commit]

    assert part(links, "m999", "tip") == (["m990"], ["tip"])
    assert len(asked) < 15
