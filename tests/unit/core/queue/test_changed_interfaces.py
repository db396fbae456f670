"""Changed interfaces in the queue: who should land first, and which findings explain a failing check."""

from __future__ import annotations

from lineclear.core.log.tables import Candidate
from lineclear.core.queue.changed_interfaces import explaining, landing_pairs, uses_of
from tests.finding_rows import finding_row


def candidate(number: int, *, agent: str = "", task: int = 0) -> Candidate:
    return Candidate(
        number, f"b{number}", "tip", "base", agent, task, 0, 5, 0, "", "waiting", "", "", "", "", "", "",
        number, number, 0,
    )  # fmt: skip


ADA, BEN, CAT = candidate(1, agent="ada"), candidate(2, agent="ben"), candidate(3, agent="cat", task=7)


def test_the_side_that_changed_the_interface_comes_before_each_that_uses_it() -> None:
    finding = finding_row(agents=("ben", "ada", "cat"))
    assert landing_pairs([finding], [ADA, BEN, CAT]) == [(2, 1), (2, 3)]


def test_a_branch_without_an_agent_goes_by_its_name() -> None:
    assert landing_pairs([finding_row(agents=("b2", "ada"))], [ADA, candidate(2)]) == [(2, 1)]


def test_of_an_agents_candidates_only_the_one_of_the_task_is_meant() -> None:
    other = candidate(4, agent="cat", task=8)
    assert landing_pairs([finding_row(agents=("cat", "ada"), task=7)], [ADA, CAT, other]) == [(3, 1)]


def test_other_findings_and_sides_that_do_not_wait_order_nothing() -> None:
    assert landing_pairs([finding_row(kind="same-symbol", agents=("ben", "ada"))], [ADA, BEN]) == []
    assert landing_pairs([finding_row(agents=("main", "ada"))], [ADA, BEN]) == []
    assert landing_pairs([finding_row(agents=("zoe", "ada"))], [ADA, BEN]) == []


def test_what_main_changed_explains_the_failure_of_its_users() -> None:
    against_main = finding_row(agents=("main", "ada"))
    assert explaining([against_main], ADA, None, ()) == [against_main]
    assert explaining([against_main], BEN, None, ()) == []
    assert explaining([finding_row(kind="conflict", agents=("main", "ada"))], ADA, None, ()) == []


def test_what_has_just_landed_explains_it_too() -> None:
    finding = finding_row(agents=("ben", "ada"), task=7)
    assert explaining([finding], ADA, BEN, ()) == [finding]
    assert explaining([finding], ADA, None, {7}) == [finding]
    assert explaining([finding], ADA, CAT, {8}) == []


def test_the_files_to_change_are_those_that_use_it() -> None:
    assert uses_of(finding_row(files=("a.py", "b.py", "c.py"))) == ["b.py", "c.py"]
    assert uses_of(finding_row(files=("a.py",))) == ["a.py"]
