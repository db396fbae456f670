"""Frames on the wire: what was sent is what is read, and nothing else is taken for it."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.host.command_frames import CODE, ERR, OUT, frame, read_frames


@given(st.lists(st.tuples(st.sampled_from([OUT, ERR, CODE]), st.binary(max_size=40))))
def test_what_was_sent_is_read(sent: list[tuple[bytes, bytes]]) -> None:
    stream = BytesIO(b"".join(frame(kind, data) for kind, data in sent))
    assert list(read_frames(stream)) == sent


@pytest.mark.parametrize("text", [b"1 5\nhell", b"1 5", b"nonsense\n", b"x" * 100, b"1 -1\n"])
def test_anything_else_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        list(read_frames(BytesIO(text)))
