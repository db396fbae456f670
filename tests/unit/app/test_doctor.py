"""The doctor's checks, each over facts: what is said of them, and that no check raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from lineclear.app import doctor
from lineclear.app.doctor import NOTE, OK, PROBLEM, StorePlace
from lineclear.core.words.refusals import refuse

PLACE = StorePlace(
    common_dir="/r/.git", state_directory="/r/.git/lineclear", network="", free_bytes=1 << 30, is_open=False,
    is_writable=True, branch="main",
)  # fmt: skip


@dataclass
class FakeDoor:
    url: str = "http://127.0.0.1:1"
    pid: int = 7
    version: str = "1.0"


def test_a_check_that_fails_is_a_finding_and_the_others_answer() -> None:
    def failing(error: Exception) -> Callable[[], Iterator[tuple[str, str]]]:
        def check() -> Iterator[tuple[str, str]]:
            yield OK, "said before the failure"
            raise error

        return check

    checks = (
        ("store", failing(refuse("store.missing", path="/r"))),
        ("place", failing(OSError("disk"))),
        ("git", lambda: iter([(OK, "fine")])),
    )
    found = doctor.examine(checks, (OSError,))
    assert [(one["state"], one["what"]) for one in found] == [
        (PROBLEM, "store"),
        (PROBLEM, "place"),
        (OK, "git"),
    ]
    assert found[1]["text"] == "OSError: disk"
    assert "\n" not in found[0]["text"]


@pytest.mark.parametrize(("version", "state"), [("2.37.1", PROBLEM), ("2.38.0", OK), ("3.0", OK)])
def test_an_old_git_is_a_problem(version: str, state: str) -> None:
    assert [found for found, _ in doctor.check_git(f"git version {version}")] == [state]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"network": "nfs4"}, "/r/.git is on nfs4"),
        ({"free_bytes": 1024}, "0 MiB free"),
        ({"is_writable": False}, "/r/.git cannot be written"),
        ({"is_open": True}, "/r/.git/lineclear can be read by others"),
    ],
)
def test_a_place_that_cannot_hold_a_store_is_a_problem(changed: dict[str, object], said: str) -> None:
    assert all(state == OK for state, _ in doctor.check_place(PLACE))
    problems = [text for state, text in doctor.check_place(replace(PLACE, **changed)) if state == PROBLEM]  # type: ignore[arg-type]
    assert len(problems) == 1
    assert problems[0].startswith(said)


@pytest.mark.parametrize(
    ("door", "is_running", "is_supervised", "said"),
    [
        (FakeDoor(), True, False, [(OK, "served at http://127.0.0.1:1 (process 7)")]),
        (
            FakeDoor(version="0.9"),
            True,
            False,
            [(NOTE, "the server is version 0.9, this is 1.0")],
        ),
        (None, True, False, [(OK, "a server is starting or ending")]),
        (FakeDoor(), False, True, [(OK, "`lineclear run` answers hooks (process 7)")]),
        (FakeDoor(), False, False, [(NOTE, "the last server was killed")]),
        (None, False, False, []),
    ],
)
def test_a_server_is_told_as_it_is(
    door: FakeDoor | None, is_running: bool, is_supervised: bool, said: list[tuple[str, str]]
) -> None:
    found = list(
        doctor.check_server(
            door, version="1.0", is_running=is_running, is_supervised=is_supervised, error_log=""
        )
    )
    assert [state for state, _ in found] == [state for state, _ in said]
    assert all(text.startswith(words) for (_, text), (_, words) in zip(found, said, strict=True))


def test_errors_of_hooks_are_noted_and_forgotten_only_when_that_is_wanted() -> None:
    forgotten: list[bool] = []
    errors = ["first", "last"]
    (noted,) = doctor.check_hooks(errors, lambda: forgotten.append(True), fix=False)
    assert noted[0] == NOTE
    assert noted[1].endswith("2 times and let their calls pass; the last: last")
    assert forgotten == []
    (fixed,) = doctor.check_hooks(errors, lambda: forgotten.append(True), fix=True)
    assert (fixed[0], forgotten) == (OK, [True])
    assert list(doctor.check_hooks(None, lambda: forgotten.append(True), fix=True)) == []
    assert forgotten == [True]
