"""How a row and its facts become words: alternatives, shown facts, bounds. The rows themselves are compared
with docs/reference/refusals.md, and with every place that gives one (tests/architecture/test_refusals.py)."""

from __future__ import annotations

import shlex
import string
from typing import Any

import pytest

from lineclear.core.claims.granting import EXCLUSIVE, Blocker, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.instants import Instant
from lineclear.core.log.tables import Claim
from lineclear.core.words import sentences
from lineclear.core.words.computed.agents import token_name_taken, token_none, token_revoked
from lineclear.core.words.computed.claims import (
    claim_deadlock,
    claim_held,
    claim_not_held,
    other_phase,
    write_held,
)
from lineclear.core.words.computed.queue import git_failed, not_integrated, undo_conflicts
from lineclear.core.words.computed.runs import nothing_to_run, supervisor_running
from lineclear.core.words.computed.tasks import no_task, task_cycle
from lineclear.core.words.computed.worktrees import sync_conflicts
from lineclear.core.words.refusals import Refusal, quote, refuse, say, shorten

NOW = Instant(0, "boot", 1_767_268_800 * 1_000_000_000)  # 2026-01-01 12:00 UTC
HELD = Claim(
    "codex-2", "file:src/auth/", "file:/src/auth", EXCLUSIVE, 17, "main", "login form", 41, 1_800_000, "",
    NOW.in_ms(12 * 60_000),
)  # fmt: skip


def blocker(ticket: int = 0) -> Blocker:
    return Blocker(parse_resource("src/auth/login.py"), HELD, HELD.resource, ticket)


def request() -> Request:
    return Request("ada", "main", EXCLUSIVE, [parse_resource("src/auth/login.py")], ttl_ms=60_000)


# -- from a row to words --------------------------------------------------------------------------


def test_a_refusal_says_what_who_and_the_next_action_and_has_the_facts_as_data() -> None:
    refusal = refuse("worktree.in_use", name="login", holder="codex-2")
    assert str(refusal) == (
        'The worktree "login" is in use.\nA run of codex-2 is using it.\nNext: run `lineclear stop codex-2`.'
    )
    assert refusal.exit_code == 3
    assert refusal.as_data() == {
        "code": "worktree.in_use",
        "message": 'The worktree "login" is in use. A run of codex-2 is using it.',
        "next": "lineclear stop codex-2",
        "name": "login",
        "holder": "codex-2",
    }


def test_facts_that_only_the_sentences_need_are_not_part_of_the_data() -> None:
    assert "why" not in refuse("resource.bad", resource="../x", why="it climbs").facts


def test_a_row_of_another_variant_has_the_same_code() -> None:
    assert nothing_to_run([], 2).code == refuse("run.nothing", reasons=["x"], all_reasons="x").code


def test_the_first_alternative_whose_facts_are_known_is_said() -> None:
    alternatives = ("{agent} did it: {why}.", "{agent} did it.", "It was done.")
    assert say(alternatives, {"agent": "ada", "why": "late"}) == "ada did it: late."
    assert say(alternatives, {"agent": "ada", "why": ""}) == "ada did it."
    assert say(alternatives, {"agent": None, "why": "late"}) == "It was done."
    assert say(("{agent} did it.",), {"agent": ""}) == ""


def test_a_fact_that_a_sentence_asks_for_must_be_given() -> None:
    with pytest.raises(KeyError):
        refuse("worktree.in_use", name="login")


@pytest.mark.parametrize(
    ("template", "fact", "shown"),
    [
        ("{x}", "a\nb", "a\ufffdb"),
        ("{x}", "y" * 80, "y" * 57 + "..."),
        ("{x:10}", "y" * 80, "y" * 7 + "..."),
        ("{x}", ["a", "b"], "a, b"),
        ("{x:NAME}", "it's", "'it'\"'\"'s'"),
        ("{x:NAME}", "y" * 80, "NAME"),
        ("{x:proposal}", "file:src/a.py", "file:src/a.py --file PATH"),
        ("{x:proposal}", "value:limits", "value:limits JSON"),
        ("{x:path}", "/long" * 40, "..." + ("/long" * 40)[-77:]),
        ("{x:few}", ["a.py"], "a.py"),
        ("{x:few}", ["a.py", "b.py", "c.py"], "a.py and 2 more"),
        ("{x:duration}", 90_000, "1 min 30 s"),
        ("{x:MiB}", 3 << 20, "3 MiB"),
        ("{x:commit}", 1, "1 commit"),
        ("{x:commit}", 2, "2 commits"),
        ("[{x:?}]", "", "[]"),
    ],
)
def test_how_a_fact_is_shown(template: str, fact: object, shown: str) -> None:
    assert say((template,), {"x": fact}) == shown


def test_long_facts_are_cut_as_data_too() -> None:
    refusal = refuse("sync.staged", files=["x" * 5_000] * 500)
    assert len(refusal.facts["files"]) == 200
    assert len(refusal.facts["files"][0]) == 2_000


@pytest.mark.parametrize("code", sorted(sentences.ROWS))
def test_hostile_facts_do_not_make_a_long_refusal(code: str) -> None:
    row = sentences.ROWS[code]
    text = str(refuse(code, **{name: hostile(name, how) for name, how in facts_of(row)}))
    assert len(text) <= 300
    assert len(text.splitlines()) <= 3


def facts_of(row: Any) -> list[tuple[str, str]]:
    fields = [
        field
        for part in (row.what, row.who, row.next)
        for one in part
        for field in string.Formatter().parse(one)
    ]
    return [(name, how or "") for _, name, how, _ in fields if name]


# Facts that are words of our own, or that we cut before.
OURS = {
    "about": " for T-1",
    "asked": "exclusive",
    "chain": "x" * 5_000,
    "every": "y" * 80,
    "flag": " --person",
}


def hostile(name: str, how: str) -> object:
    if how in ("duration", "MiB") or (how.islower() and how not in ("path", "few", "proposal")):
        return 10**14
    if how == "few":
        return ["it's " + "y" * 5_000] * 50
    if how == "" and name in NUMBERS:
        return 10**9
    return OURS.get(name, "word" if how == "" and name in WORDS else "it's " + "y" * 5_000)


NUMBERS = {
    "age_minutes",
    "agents",
    "at_line",
    "base",
    "count",
    "fence",
    "first",
    "found",
    "given",
    "known",
    "last",
    "limit_s",
    "line",
    "more",
    "most",
    "most_kib",
    "needed",
    "newer_fence",
    "number",
    "pid",
    "port",
    "process",
    "proposal",
    "seconds",
    "ticket",
    "version",
    "waited_s",
    "waiting",
}
WORDS = {
    "asked",
    "before",
    "bound",
    "by",
    "candidate",
    "clock",
    "close",
    "command",
    "expired_at",
    "file_system",
    "following",
    "how",
    "kind",
    "limited",
    "mode",
    "of",
    "origin",
    "other",
    "owner",
    "phase",
    "revoked_at",
    "same_as",
    "setting",
    "short",
    "since",
    "state",
    "task",
    "tool",
    "until",
    "verb",
    "wanted",
    "what",
}


# -- refusals that are put together ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("refusal", "text"),
    [
        (
            claim_held(blocker(), request(), NOW, 1),
            "Cannot claim file:src/auth/login.py (exclusive).\n"
            'codex-2 holds file:src/auth/ (exclusive) until 12:12 UTC (in 12 min) for T-41, "login form".\n'
            "Next: run `lineclear claim file:src/auth/login.py --mode exclusive --wait 10m`.",
        ),
        (
            claim_held(blocker(ticket=3), request(), NOW, 1),
            "Cannot claim file:src/auth/login.py (exclusive).\n"
            'codex-2 is ahead of you, waiting for file:src/auth/ (exclusive) for T-41, "login form".\n'
            "Next: run `lineclear claim file:src/auth/login.py --mode exclusive --wait 10m`.",
        ),
        (
            claim_deadlock("ada", "file:a", [blocker()]),
            "Waiting for file:a would cause a deadlock.\n"
            "ada would wait for codex-2 (file:src/auth/login.py).\n"
            "Next: run `lineclear release --all`.",
        ),
        (
            claim_not_held("file:a", ["file:src/"]),
            "Cannot release file:a: you have not claimed it.\nOverlapping claims of yours: file:src/.\n"
            "Next: run `lineclear release file:src/`.",
        ),
        (
            claim_not_held("file:a", []),
            "Cannot release file:a: you have not claimed it.\nNobody holds it.\n"
            "Next: run `lineclear who file:a`.",
        ),
        (
            write_held("value:limits", HELD, NOW),
            "Cannot write value:limits: another agent holds it.\n"
            "codex-2 holds file:src/auth/ until 12:12 UTC (in 12 min).\n"
            "Next: run `lineclear propose value:limits JSON`.",
        ),
        (
            other_phase("file:a", "integrate", "parallel", ""),
            "Cannot write file:a in the parallel phase.\nOnce a person starts the integrate phase, the "
            "integrator writes it; until then, propose changes.\n"
            "Next: run `lineclear propose file:a --file PATH`.",
        ),
        (
            git_failed("fetch", "one\nfatal: no such remote\n"),
            "git fetch failed: no such remote\nNext: run `git fsck --connectivity-only`.",
        ),
        (
            not_integrated(3, 2),
            "Integration is not finished: 3 undecided proposals.\nIn the queue: 2.\n"
            "Next: run `lineclear queue run --once`.",
        ),
        (
            undo_conflicts("Q-7", [{"path": "a.py", "kind": "both changed"}] * 2),
            "Cannot undo Q-7 on its own: later landings build on it.\n"
            "a.py: both changed and 1 more.\nNext: run `git revert --help`.",
        ),
        (
            supervisor_running(0, "", 0),
            "A supervisor is already running here; a second one would do the work twice.\n"
            "It has just started. It picks up new tasks.\nNext: run `lineclear run --join`.",
        ),
        (
            nothing_to_run(["T-1 waits for T-2"], 0),
            "No task can be started.\nT-1 waits for T-2\nNext: run `lineclear task list`.",
        ),
        (
            no_task(1, 2, 0),
            "There is no task for you now.\nUnfinished tasks: 1 for skills you have not named, 2 waiting for "
            "other tasks.\nNext: run `lineclear task list`.",
        ),
        (
            task_cycle([1, 2, 1]),
            "T-1 cannot come after T-2: they would wait for each other.\nThe cycle is T-1 -> T-2 -> T-1.\n"
            "Next: run `lineclear task show T-2`.",
        ),
        (
            token_revoked("sam", "person", "kim", "2026-01-01"),
            "The token of the person sam was revoked.\nkim revoked it at 2026-01-01; a person can create a "
            "new one.\n"
            "Next: run `lineclear token add sam --person`.",
        ),
        (
            token_name_taken("ada", "agent"),
            "Cannot create a token named ada for a person.\nAn agent already has that name here.\n"
            "Next: run `lineclear token list`.",
        ),
        (
            token_none("lc_12_secret"),
            'No token has the id "lc_...", and nobody with that name has a token.\n'
            'Next: run `lineclear token list`.',
        ),
        (
            sync_conflicts("ada/x", "main", [{"path": "a.py"}, {"path": "b.py"}]),
            "ada/x and main conflict in a.py and 1 more.\nNothing was changed. The next command leaves "
            "the merge "
            "here, for you to resolve and commit.\nNext: run `lineclear sync --keep-conflicts`.",
        ),
    ],
)  # fmt: skip
def test_what_is_said(refusal: Refusal, text: str) -> None:
    assert str(refusal) == text


# -- what sentences are made of -------------------------------------------------------------------


@pytest.mark.parametrize("text", ["plain.py", "two words", "it's", "", "$HOME", "a\nb", "\u00e9"])
def test_a_quoted_word_is_one_word_for_a_shell(text: str) -> None:
    assert shlex.split(quote(text)) == [text]


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [("short", 60, "short"), ("a\nb\x1b[1m", 60, "a\ufffdb\ufffd[1m"), ("x" * 61, 60, "x" * 57 + "...")],
)
def test_somebodys_words_are_shown_on_one_bounded_line(text: str, limit: int, shown: str) -> None:
    assert shorten(text, limit) == shown
