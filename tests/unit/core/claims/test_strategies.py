"""How a resource is shared: defaults, the last rule that covers it, and what lies inside."""

from __future__ import annotations

import pytest

from lineclear.core.claims.resources import parse_resource
from lineclear.core.claims.strategies import Rule, rules_inside, strategy_for


def rule(text: str, strategy: str, owner: str = "") -> Rule:
    return Rule(parse_resource(text), strategy, owner, "lineclear.toml")


RULES = [
    rule("src/", "locked"),
    rule("src/gen/", "read-only"),
    rule("**/*.sql", "single-writer", "ann"),
    rule("src/gen/keep.py", "isolated"),
    rule("row:users/*", "optimistic"),
]


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("src/a.py", "isolated"),
        ("src/", "isolated"),
        ("symbol:src/a.py#Login", "isolated"),
        ("value:plan", "optimistic"),
        ("row:users/42", "locked"),
        ("api:stripe", "locked"),
        ("port:3000", "locked"),
        ("logo.png", "locked"),
        ("docs/Logo.PNG", "locked"),
        ("png", "isolated"),
        ("docs/pdf", "isolated"),
        ("notes.pdf/readme.md", "isolated"),
        ("logo.png/", "isolated"),
    ],
)
def test_what_holds_without_a_rule(text: str, strategy: str) -> None:
    sharing = strategy_for(parse_resource(text), [])
    assert (sharing.strategy, sharing.owner, sharing.origin.partition(":")[0]) == (strategy, "", "default")


@pytest.mark.parametrize(
    ("text", "strategy", "owner"),
    [
        ("src/a.py", "locked", ""),
        ("symbol:src/a.py#Login", "locked", ""),
        ("src/", "locked", ""),
        ("src/gen/a.py", "read-only", ""),
        ("src/gen/keep.py", "isolated", ""),
        ("src/gen/up.sql", "single-writer", "ann"),
        ("db/up.sql", "single-writer", "ann"),
        ("**/*.sql", "single-writer", "ann"),
        ("row:users/42", "optimistic", ""),
        ("row:teams/42", "locked", ""),
        ("docs/", "isolated", ""),
        ("./", "isolated", ""),
    ],
)
def test_the_last_rule_that_covers_all_of_it_counts(text: str, strategy: str, owner: str) -> None:
    sharing = strategy_for(parse_resource(text), RULES)
    assert (sharing.strategy, sharing.owner) == (strategy, owner)


def test_rules_for_parts_of_a_directory_are_found() -> None:
    inside = rules_inside(parse_resource("src/gen/"), RULES)
    assert [found.resource.text for found in inside] == [
        "file:src/",
        "file:src/gen/",
        "file:**/*.sql",
        "file:src/gen/keep.py",
    ]
