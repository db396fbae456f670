"""What must hold of every handler: no input stops it, and one side's work alone comes out as it is."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.merge import merge_texts
from lineclear.merge.registry import HANDLERS, handlers_for
from lineclear.merge.result import Labels

CASES = Path(__file__).parents[1] / "merge_cases"
PATHS = {"ignore-list": ".gitignore", "python": "shop.py"}


def all_texts() -> list[tuple[str, str]]:
    found = []
    for path in sorted(CASES.glob("*/*/*")):
        kind = PATHS.get(path.parent.parent.name, path.parent.parent.name)
        if path.name in ("base", "left", "right") and handlers_for(kind):
            found.append((kind, path.read_bytes().decode("utf-8", "replace")))
    return found


TEXTS = all_texts()
KINDS = sorted({kind for kind, _ in TEXTS})


@st.composite
def damaged(draw: st.DrawFn, kind: str) -> str:
    """A text of this kind, cut off somewhere, with a piece of another one in it."""
    text = draw(st.sampled_from([text for name, text in TEXTS if name == kind]))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, len(text)))
    piece = draw(st.sampled_from(["", "{", "]", '"', "\n", "#", "<a>", "\t", "- x\n", "[[", "=", ":", "\\"]))
    return text[:start] + piece + text[end:]


@settings(max_examples=300)
@given(st.data())
def test_damaged_texts_are_merged_or_left_as_conflicts(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS))
    base, left, right = (data.draw(damaged(kind)) for _ in range(3))
    result = merge_texts(kind, base, left, right)
    assert isinstance(result.text, str)
    assert result.is_clean or "<<<<<<<" in result.text


@settings(max_examples=300)
@given(st.data())
def test_a_handler_gives_one_side_alone_as_it_is_or_refuses(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS))
    base, side = (data.draw(damaged(kind)) for _ in range(2))
    for handler in handlers_for(kind):
        for sides in ((side, base), (base, side), (side, side)):
            result = handler.merge(kind, base, *sides, Labels())
            assert result is None or not result.is_clean or result.text == side


def test_every_handler_has_cases() -> None:
    modules = {handler.__name__.rpartition(".")[2] for kind in KINDS for handler in handlers_for(kind)}  # type: ignore[attr-defined]
    assert modules == {name for _, name in HANDLERS}
