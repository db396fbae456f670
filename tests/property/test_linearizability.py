"""The checker of histories against the definition itself: every order of every choice of operations."""

from __future__ import annotations

from itertools import chain, combinations, permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.linearizability import ABSENT, NEVER, Operation, State, is_linearizable, versioned_register


def is_linearizable_by_definition(history: list[Operation]) -> bool:
    known = [operation for operation in history if not operation.is_unknown]
    unknown = [operation for operation in history if operation.is_unknown]
    chosen = chain.from_iterable(combinations(unknown, count) for count in range(len(unknown) + 1))
    return any(explains(order) for happened in chosen for order in permutations([*known, *happened]))


def explains(order: tuple[Operation, ...]) -> bool:
    """No operation stands before one that had returned when it was called, and every answer is right."""
    for earlier, later in combinations(order, 2):
        if later.returned_ns < earlier.called_ns:
            return False
    state: State = ABSENT
    for operation in order:
        following = list(versioned_register(state, operation))
        if not following:
            return False
        (state,) = following
    return True


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    called_ns, took_ns = draw(st.integers(0, 12)), draw(st.integers(1, 8))
    returned_ns = NEVER if draw(st.integers(0, 5)) == 0 else called_ns + took_ns
    if draw(st.booleans()):
        found = draw(st.sampled_from([ABSENT, (1, 7), (1, 8), (2, 7), (2, 8)]))
        return Operation("x", "get", "a", None, found, called_ns, returned_ns)
    expected, value = draw(st.integers(0, 2)), draw(st.sampled_from([7, 8]))
    version = draw(st.sampled_from([None, expected + 1, expected + 1]))
    return Operation("x", "put", "a", (expected, value), version, called_ns, returned_ns)


@settings(max_examples=400)
@given(st.lists(operations(), max_size=5))
def test_the_checker_agrees_with_the_definition(history: list[Operation]) -> None:
    expected = is_linearizable_by_definition(history)
    assert is_linearizable(history, ABSENT, versioned_register) is expected
