"""Names, words and limits of snapshots."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.worktrees.snapshots import (
    _FEW,
    Kept,
    LeftOut,
    SnapshotLimits,
    message,
    read_message,
    ref_prefix,
    split_ref,
    thin,
)


@pytest.mark.parametrize(
    ("path", "patterns", "secret"),
    [
        (".env", (".env",), True),
        ("conf/.ENV.local", (".env.*",), True),
        ("keys/server.pem/readme", ("*.pem",), True),
        ("src/environment.py", (".env",), False),
        ("deploy/secrets/a.txt", ("deploy/secrets/*",), True),
        ("other/deploy/secrets/a.txt", ("deploy/secrets/*",), False),
        ("a.txt", (), False),
    ],
)
def test_secret_names(path: str, patterns: tuple[str, ...], secret: bool) -> None:
    assert SnapshotLimits(secret_names=patterns).is_secret(path) is secret


@given(
    pattern=st.text(alphabet="ab.*/[]?", min_size=1, max_size=6),
    names=st.lists(st.text(alphabet="ab.", min_size=1, max_size=6), min_size=1, max_size=4),
)
def test_the_first_questions_are_answered_like_all_others(pattern: str, names: list[str]) -> None:
    limits = SnapshotLimits(secret_names=[pattern])
    early = [limits.is_secret(name) for name in names]
    for number in range(_FEW):
        limits.is_secret(f"x{number}")
    assert early == [limits.is_secret(name) for name in names]
    if "/" not in pattern:
        assert early == [fnmatchcase(name, pattern) for name in names]


def test_a_file_of_the_limits_own_size_goes_in() -> None:
    limits = SnapshotLimits(largest_file_bytes=10)
    assert (limits.reason("a", 10), limits.reason("a", 11)) == ("", "too large")
    assert SnapshotLimits().reason("a", 1 << 60) == ""


@pytest.mark.parametrize(
    ("agent", "ref"),
    [
        ("ada", "refs/lineclear/snapshots/ada/"),
        ("ada/sub/x", "refs/lineclear/snapshots/ada+sub+x/"),
        ("v1..2", "refs/lineclear/snapshots/v1==2/"),
        ("a.lock", "refs/lineclear/snapshots/a=lock/"),
        ("dot.", "refs/lineclear/snapshots/dot=/"),
        ("dots...", "refs/lineclear/snapshots/dots===/"),
    ],
)
def test_where_an_agents_snapshots_are(agent: str, ref: str) -> None:
    assert ref_prefix(agent) == ref
    assert split_ref(f"{ref}12") == (agent, 12)


@pytest.mark.parametrize(
    "ref", ["refs/heads/main", "refs/lineclear/snapshots/ada/x", "refs/lineclear/snapshots/7"]
)
def test_other_refs_are_no_snapshots(ref: str) -> None:
    assert split_ref(ref) is None


def test_a_message_says_it_all_and_is_read_again() -> None:
    left_out = [LeftOut("caf\udce9\n.env", "secret name"), LeftOut("b.bin", "too large")]
    text = message(agent="ada", task=3, tree="w", why="at work", left_out=left_out)
    text.encode("utf-8")
    assert text.startswith("snapshot of ada: at work\n\nAgent: ada\nTask: 3\n")
    assert read_message(text)["Left-out"] == ["caf\\udce9\\n.env (secret name)", "b.bin (too large)"]
    kept = Kept("refs/lineclear/snapshots/ada/4", "c", "t", "p", 5, text)
    assert (kept.agent, kept.number, kept.task, kept.worktree, kept.why) == ("ada", 4, 3, "w", "at work")
    assert kept.is_rolling


def test_a_message_names_a_bounded_number_of_files() -> None:
    left_out = [LeftOut(f"f{number}", "too large") for number in range(80)]
    facts = read_message(message(agent="ada", task=0, tree="w", why="x", left_out=left_out))
    assert (len(facts["Left-out"]), facts["Left-out-more"]) == (50, ["30"])


def test_a_message_that_is_not_ours_has_no_facts() -> None:
    kept = Kept("refs/lineclear/snapshots/ada/4", "c", "t", "p", 5, "Fix it")
    assert (kept.task, kept.why, kept.left_out) == (0, "", ())


def test_the_last_minutes_stay_one_by_one_and_the_rest_is_spread() -> None:
    ages = [4 * place for place in range(900)]  # an hour, every four seconds
    left = list(range(len(ages)))
    gone = thin(ages, [True] * len(ages), keep=20, keep_for_s=10**6)
    left = [ages[place] for place in left if place not in gone]
    assert left[:10] == [0, 4, 8, 12, 16, 20, 24, 28, 32, 36]
    assert left[-1] == 3_596
    wide = [older / newer for newer, older in pairwise(left[10:])]
    assert max(wide) < 3
