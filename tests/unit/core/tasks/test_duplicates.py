"""Which titles of a list are likely the same work; and that a long list costs no square of its length."""

from __future__ import annotations

from lineclear.core.tasks.duplicates import MOST_TITLES_OF_A_WORD, likely_twins, telling_words

RATES = "Show prices in other currencies: read the exchange rates of the central bank"
AGAIN = "Read exchange rates of the central bank and show prices in foreign currencies"


def test_words_that_every_task_has_tell_nothing() -> None:
    assert telling_words("Add the login form to a page, and the Form") == "login form page"


def test_the_same_work_in_other_words_is_a_likely_twin() -> None:
    assert likely_twins([(2, AGAIN)], [(1, RATES)]) == [(2, 1)]


def test_a_twin_may_stand_in_the_same_list() -> None:
    assert likely_twins([(1, RATES), (2, "Login form"), (3, AGAIN)], []) == [(3, 1)]


def test_known_tasks_are_not_compared_with_each_other() -> None:
    assert likely_twins([(3, "Login form")], [(1, RATES), (2, AGAIN)]) == []


def test_an_equal_title_is_a_twin_however_short() -> None:
    assert likely_twins([(2, "Login")], [(1, "Login")]) == [(2, 1)]


def test_a_few_shared_words_among_many_are_no_twins() -> None:
    one = "Prices page: tax column, filter, sorting by name and an export as CSV"
    other = "Prices in cents in the database instead of tax fractions of the old column"
    assert likely_twins([(2, other)], [(1, one)]) == []


def test_two_shared_words_are_too_few() -> None:
    assert likely_twins([(2, "Login page")], [(1, "Login page design")]) == []


def test_the_closest_one_is_named() -> None:
    known = [(1, "Read exchange rates of the bank"), (2, RATES)]
    assert likely_twins([(3, AGAIN)], known) == [(3, 2)]


def test_a_word_of_very_many_titles_joins_nothing() -> None:
    known = [(n, f"tidy up module {n} lint") for n in range(1, MOST_TITLES_OF_A_WORD + 2)]
    assert likely_twins([(999, "tidy module lint")], known) == []
