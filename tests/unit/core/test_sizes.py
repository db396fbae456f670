"""Sizes as people write them, and the exact way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.sizes import LARGEST_BYTES, parse_size, write_size
from lineclear.core.words.refusals import Refusal


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        *(("0", 0), ("4096", 4_096), ("1B", 1), ("1kB", 1_000), ("1KiB", 1_024), (" 10 MiB ", 10 << 20)),
        *(
            ("500mb", 500_000_000),
            ("1.5GiB", 3 << 29),
            ("0.5KiB", 512),
            ("1.0001KiB", 1_024),
            ("2TiB", 2 << 40),
        ),
    ],
)
def test_a_size_is_read(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize(
    "text", ["", "MiB", "1.", ".5MiB", "1 2", "-1", "1PB", "1e3", "1,5MB", "٣MB", "1" * 40]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="write it like"):
        parse_size(text)


def test_a_size_out_of_its_bounds_is_refused_with_the_bound() -> None:
    with pytest.raises(Refusal, match="the minimum is 1KiB"):
        parse_size("1023", least_bytes=1_024)
    with pytest.raises(Refusal, match="the maximum is 1MiB"):
        parse_size("1048577", most_bytes=1 << 20)


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0"),
        (1, "1"),
        (1_023, "1023"),
        (1_024, "1KiB"),
        (1_000, "1kB"),
        (2_000_000_000, "2GB"),
        (5 << 30, "5GiB"),
    ],
)
def test_a_size_is_written_short(size_bytes: int, text: str) -> None:
    assert write_size(size_bytes) == text


@given(st.integers(0, LARGEST_BYTES))
def test_a_written_size_reads_back_as_the_same(size_bytes: int) -> None:
    assert parse_size(write_size(size_bytes)) == size_bytes
