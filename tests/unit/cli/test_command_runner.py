"""Arguments that are named already, filled in as the verb's own parser would have read them."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.cli.command_runner import Form
from lineclear.cli.main import load, make_parser
from lineclear.core.words.refusals import Refusal

SAME: list[tuple[str, dict[str, Any], list[str]]] = [
    ("claim", {"resources": ["a", "b"], "wait": "1m"}, ["a", "b", "--wait", "1m"]),
    ("release", {"all": True}, ["--all"]),
    ("task next", {}, []),
    ("task next", {"task": "T-3", "can": ["x"]}, ["3", "--can", "x"]),
    ("task add", {"title": "t", "priority": 2, "scope": ["a"]}, ["t", "--priority", "2", "--scope", "a"]),
    ("inbox", {"peek": True}, ["--peek"]),
    ("say", {"text": "x", "to": "bob"}, ["x", "--to", "bob"]),
    ("land", {"branch": "b"}, ["b"]),
    ("queue show", {"number": "Q-7"}, ["Q-7"]),
]


@pytest.mark.parametrize(("verb", "given", "words"), SAME)
def test_the_same_comes_out_as_from_words(verb: str, given: dict[str, Any], words: list[str]) -> None:
    parser = make_parser(verb, load(verb))
    assert vars(Form(parser).fill(given)) == vars(parser.parse_args(words))


@pytest.mark.parametrize("text", ["--", "--help", "-x", "--to=bob", "a b"])
def test_a_text_that_looks_like_an_option_is_a_text(text: str) -> None:
    parser = make_parser("say", load("say"))
    assert Form(parser).fill({"text": text}).text == text


@pytest.mark.parametrize(
    ("verb", "given", "words"),
    [
        ("claim", {"resources": []}, "resources is empty"),
        ("claim", {"resources": ["a"], "mode": "mine"}, "mode must be one of"),
        ("claim", {"resources": ["a"], "ttl": "soon"}, "--ttl: duration"),
        ("task note", {"task": "x", "text": "y"}, "TASK: task"),
        ("say", {"text": "x", "to": "bob", "topic": "t"}, "give one of to and topic"),
        ("say", {"text": "\ud800"}, "half of a surrogate pair"),
    ],
)
def test_what_the_parser_refuses_is_refused(verb: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(Refusal, match=words):
        Form(make_parser(verb, load(verb))).fill(given)


def test_defaults_of_one_call_are_not_those_of_the_next() -> None:
    parser = make_parser("task next", load("task next"))
    form = Form(parser)
    form.fill({}).can.append("x")
    assert form.fill({}).can == []
