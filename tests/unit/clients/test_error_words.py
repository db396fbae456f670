"""Limits, outages and logins, told apart from all the other things that go wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.clients.error_words import (
    LIMITED,
    LOGIN,
    LONGEST_WAIT_S,
    OTHER,
    kind_of_status,
    kind_of_trouble,
    retry_after_s,
)

TEXTS = {
    "API Error: Request rejected (429) · slow down": LIMITED,
    "exceeded retry limit, last status: 429 Too Many Requests": LIMITED,
    "You've hit your usage limit. Upgrade or try again in 3 hours.": LIMITED,
    "You've hit your limit · resets 3pm": LIMITED,
    "Claude AI usage limit reached": LIMITED,
    "API Error: 529 overloaded": LIMITED,
    '{"error":{"code":503,"message":"The model is overloaded."}}': LIMITED,
    "Quota exceeded for metric: generate_requests": LIMITED,
    "Connection refused (ECONNREFUSED)": LIMITED,
    "error sending request for url": LIMITED,
    "Your credit balance is too low to access the API": LIMITED,
    "Not logged in · Please run /login": LOGIN,
    "OAuth token has expired. Please obtain a new token": LOGIN,
    "unexpected status 401 Unauthorized: no": LOGIN,
    "API key not valid. Please pass a valid API key.": LOGIN,
    "Please set an Auth method in your settings.json": LOGIN,
    "litellm.AuthenticationError: no": LOGIN,
    "Missing environment variable: `OPENAI_API_KEY`.": LOGIN,
    "401 lines of code were deleted": OTHER,
    "line 429: syntax error": OTHER,
    "took 500 ms": OTHER,
    "No such file or directory": OTHER,
    "API Error: 400 prompt is too long": OTHER,
    "": OTHER,
}


@pytest.mark.parametrize(("text", "kind"), TEXTS.items())
def test_what_a_text_is_about(text: str, kind: str) -> None:
    assert kind_of_trouble(text) == kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, LOGIN), (429, LIMITED), (500, LIMITED), (529, LIMITED), (400, OTHER), (403, OTHER), (0, OTHER)],
)
def test_what_a_status_is_about(status: int, kind: str) -> None:
    assert kind_of_status(status) == kind


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please try again in 1.2s.", 2),
        ("Retry after 30 seconds", 30),
        ("try again in 250ms", 1),
        ("retry-after: 5", 5),
        ("Try again in 3 hours", 10_800),
        ("resets in 5 min", 300),
        ("try again in 900 days", LONGEST_WAIT_S),
        ("try again later", -1),
        ("in 5 minutes", -1),
    ],
)
def test_how_long_a_text_asks_to_wait(text: str, seconds: int) -> None:
    assert retry_after_s(text) == seconds


@given(st.text(max_size=300))
def test_any_text_is_taken(text: str) -> None:
    assert kind_of_trouble(text) in (LIMITED, LOGIN, OTHER)
    assert -1 <= retry_after_s(text) <= LONGEST_WAIT_S
