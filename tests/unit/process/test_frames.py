"""Frames: however the bytes come, what was put in comes out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.process.frames import BEAT, CODE, ERR, OUT, Frames, frame

KINDS = st.sampled_from([OUT, ERR, BEAT, CODE])


@given(st.lists(st.tuples(KINDS, st.binary(max_size=40))), st.lists(st.integers(0, 400)))
def test_frames_come_out_whole_however_they_are_cut(said: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    data = b"".join(frame(kind, text) for kind, text in said)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    frames, found = Frames(), []
    for begin, end in pairwise(places):
        found += frames.feed(data[begin:end])
    assert found == said


def test_half_a_frame_is_kept_for_the_rest() -> None:
    frames = Frames()
    assert frames.feed(frame(OUT, b"hello")[:-1]) == []
    assert frames.feed(b"o") == [(OUT, b"hello")]


@pytest.mark.parametrize("data", [b"1 many\nx", b"1 -\n", b"x" * 100, b"\n"])
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Frames().feed(data)
