"""The conventions block: true to the strategies, and at home in somebody else's file."""

from __future__ import annotations

import pytest

from lineclear.core.agents.conventions import (
    BROKEN,
    CURRENT,
    EDITED,
    MISSING,
    OUTDATED,
    ConventionFacts,
    plan_block,
    plan_pointer,
    plan_removal,
    state_of,
    write_conventions,
)
from lineclear.core.claims.resources import parse_resource
from lineclear.core.claims.strategies import ISOLATED, LOCKED, READ_ONLY, SINGLE_WRITER, Rule
from lineclear.core.words.refusals import Refusal

BODY = write_conventions(ConventionFacts())
OTHER = write_conventions(ConventionFacts(gate="make check"))
THEIRS = [
    "",
    "# Mine\n",
    "no end",
    "# Mine\r\n\r\ntext\r\n",
    "a\n\n\n",
    "\ufeff# Mine\n",
    "\udcff\n",
    "a\nb\r\n",
]


def put_in(text: str | None, body: str = BODY) -> str:
    new = plan_block("AGENTS.md", text, body).text
    assert new is not None
    return new


def test_the_block_names_what_is_special() -> None:
    rules = (
        Rule(parse_resource("assets/"), LOCKED),
        Rule(parse_resource("docs/architecture.md"), SINGLE_WRITER, "ada"),
        Rule(parse_resource("vendor/**"), READ_ONLY),
    )
    text = write_conventions(ConventionFacts(rules=rules, gate="make check", task_page="TASKS.md"))
    assert "claim PATH --wait 10m`: `assets/`, images, archives and other binary files." in text
    assert "`docs/architecture.md` (written by ada)" in text
    assert "never change these: `vendor/**`." in text
    assert "`make check` must pass" in text
    assert "read and edit `TASKS.md`" in text


def test_the_block_says_what_is_proposed_and_not_written() -> None:
    rules = (
        Rule(parse_resource("migrations/"), ISOLATED, phase="integrate"),
        Rule(parse_resource("schema.sql"), SINGLE_WRITER, "ada", phase="integrate"),
    )
    text = write_conventions(ConventionFacts(rules=rules))
    assert "`lineclear propose PATH --file NEWFILE`: `migrations/`, `schema.sql` (written by ada)." in text
    assert "One writer each" not in text
    assert "Written only in" not in BODY


def test_the_block_says_what_to_do_about_errors_of_others_and_how_to_finish() -> None:
    for words in ("file you did not touch", "lineclear claim PATH", "lineclear land", "lineclear who PATH"):
        assert words in BODY
    assert len(BODY) < 2_000


def test_hundreds_of_strategies_are_counted_not_listed() -> None:
    rules = tuple(Rule(parse_resource(f"vendor/{number}/"), READ_ONLY) for number in range(400))
    text = write_conventions(ConventionFacts(rules=rules))
    assert "375 more." in text
    assert len(text) < 4_000


@pytest.mark.parametrize("text", THEIRS)
def test_what_stands_outside_stays_byte_for_byte(text: str) -> None:
    new = put_in(text)
    assert new.startswith(text)
    assert state_of(new, BODY) == CURRENT
    assert plan_removal("AGENTS.md", new).text == text


@pytest.mark.parametrize("text", THEIRS)
def test_a_renewed_block_leaves_the_rest_alone(text: str) -> None:
    behind = put_in(text) + "and more\n"
    assert state_of(behind, OTHER) == OUTDATED
    renewed = plan_block("AGENTS.md", behind, OTHER).text or ""
    assert state_of(renewed, OTHER) == CURRENT
    assert plan_removal("AGENTS.md", renewed).text == text + "and more\n"


def test_a_file_that_we_made_goes_unless_somebody_wrote_to_it() -> None:
    made = put_in(None)
    assert plan_removal("AGENTS.md", made).text is None
    assert plan_removal("AGENTS.md", made + "mine\n").text == "mine\n"


def test_a_current_block_needs_nothing() -> None:
    assert not plan_block("AGENTS.md", put_in("x\n"), BODY).is_needed


def test_a_block_that_was_edited_is_refused_and_forced() -> None:
    edited = put_in("x\n").replace("Never push", "Always push")
    assert state_of(edited, BODY) == EDITED
    with pytest.raises(Refusal, match="edited by hand") as refused:
        plan_block("AGENTS.md", edited, BODY)
    assert refused.value.next == "lineclear setup conventions --force"
    with pytest.raises(Refusal, match="edited by hand") as refused:
        plan_removal("AGENTS.md", edited)
    assert refused.value.next == "lineclear setup conventions --remove --force"
    assert plan_block("AGENTS.md", edited, BODY, force=True).text == put_in("x\n")
    assert plan_removal("AGENTS.md", edited, force=True).text == "x\n"


@pytest.mark.parametrize(
    "text",
    [
        put_in("x\n").replace("<!-- lineclear:end -->\n", ""),
        put_in("x\n") + put_in("y\n"),
        "<!-- lineclear:end -->\n",
        "<!-- lineclear:begin hash=nonsense -->\n<!-- lineclear:end -->\n",
    ],
)
def test_marks_out_of_order_are_left_alone(text: str) -> None:
    assert state_of(text, BODY) == BROKEN
    with pytest.raises(Refusal, match="left unchanged"):
        plan_block("A.md", text, BODY, force=True)
    with pytest.raises(Refusal, match="left unchanged"):
        plan_removal("A.md", text)


def test_a_file_that_leads_to_agents_md_already_needs_nothing() -> None:
    assert not plan_pointer("CLAUDE.md", "See\n@AGENTS.md\n").is_needed
    assert not plan_pointer("CLAUDE.md", "@./AGENTS.md\r\n").is_needed
    pointed = plan_pointer("CLAUDE.md", "# Mine\n")
    assert pointed.is_needed
    assert "\n@AGENTS.md\n" in (pointed.text or "")
    assert not plan_pointer("CLAUDE.md", pointed.text).is_needed


def test_nothing_to_take_out_is_no_trouble() -> None:
    assert not plan_removal("AGENTS.md", None).is_needed
    assert not plan_removal("AGENTS.md", "mine\n").is_needed
    assert state_of("mine\n", BODY) == MISSING
