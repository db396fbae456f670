"""Git's status as text in and changes out."""

from __future__ import annotations

import pytest

from lineclear.git.status import DELETED, FROM_DISK, FROM_INDEX, SUBMODULE, UNTRACKED, parse_status

A, B, C = "a" * 40, "b" * 40, "c" * 40


def one(row: str) -> tuple[str, bytes, str, str]:
    (change,) = parse_status(row.encode() + b"\0")[1]
    return change.kind, change.path, change.mode, change.oid


@pytest.mark.parametrize(
    ("row", "change"),
    [
        (f"1 .M N... 100644 100644 100755 {A} {A} f", (FROM_DISK, b"f", "100755", "")),
        (f"1 M. N... 100644 100644 100644 {A} {B} f", (FROM_INDEX, b"f", "100644", B)),
        (f"1 MM N... 100644 100644 100644 {A} {B} f", (FROM_DISK, b"f", "100644", "")),
        (f"1 .D N... 100644 100644 000000 {A} {A} f", (DELETED, b"f", "", "")),
        (f"1 D. N... 100644 000000 000000 {A} {B} f", (DELETED, b"f", "", "")),
        (f"1 AD N... 000000 100644 000000 {A} {B} f", (DELETED, b"f", "", "")),
        (f"1 .A N... 000000 000000 100644 {A} {B} f", (UNTRACKED, b"f", "", "")),
        (f"1 .T N... 100644 100644 120000 {A} {A} f", (FROM_DISK, b"f", "120000", "")),
        (f"1 .M SC.. 160000 160000 160000 {A} {A} sub", (SUBMODULE, b"sub", "160000", A)),
        (f"1 A. S... 000000 160000 160000 {A} {B} sub", (FROM_INDEX, b"sub", "160000", B)),
        (f"u UU N... 100644 100644 100644 100644 {A} {B} {C} f", (FROM_DISK, b"f", "100644", "")),
        (f"u DU N... 100644 000000 100644 000000 {A} {B} {C} f", (DELETED, b"f", "", "")),
        ("? new file\nwith a newline", (UNTRACKED, b"new file\nwith a newline", "", "")),
        ("? inner/", (UNTRACKED, b"inner/", "", "")),
    ],
)
def test_each_kind_of_row(row: str, change: tuple[str, bytes, str, str]) -> None:
    assert one(row) == change


def test_where_head_is() -> None:
    assert parse_status(f"# branch.oid {A}\0# branch.head main\0".encode()) == (A, [])
    assert parse_status(b"# branch.oid (initial)\0") == ("", [])
    assert parse_status(b"") == ("", [])
