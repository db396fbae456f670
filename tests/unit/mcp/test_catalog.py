"""The list of tools: short enough for every request of a model, and true to the verbs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from lineclear.cli.command_runner import Form
from lineclear.cli.index import INDEX
from lineclear.cli.main import load, make_parser
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.mcp.calls import Reply
from lineclear.mcp.catalog import READ, TOOLS, Tool, offered
from lineclear.mcp.prompts import PROMPTS, prompt_text

MOST_TOKENS = 1_500
DEFAULT = (
    "status", "claim", "release", "who", "task_next", "task_note", "task_done", "task_add", "say", "inbox",
    "radar", "value_get", "value_put", "propose", "check", "land",
)  # fmt: skip


def test_the_default_tools_are_these() -> None:
    assert tuple(offered(is_all=False)) == DEFAULT
    assert set(offered(is_all=True)) > set(DEFAULT)


def test_names_descriptions_and_input_schemas_of_the_default_tools_are_short() -> None:
    told = [
        {"name": tool.name, "description": tool.words, "inputSchema": tool.input_schema()}
        for tool in offered(is_all=False).values()
    ]
    size_bytes = len(json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode())
    assert size_bytes / 4 <= MOST_TOKENS


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_a_tool_is_a_verb_and_its_arguments_are_the_verbs(tool: Tool) -> None:
    assert tool.verb in INDEX
    command = load(tool.verb)
    known = {action.dest for action in make_parser(tool.verb, command)._actions}
    own = {tool.calls.get(name, name) for name in tool.takes if name != "key"} | set(tool.fixed)
    assert own <= known
    assert tool.is_keyed == ("key" in tool.takes)
    assert not tool.is_keyed or command.is_write
    assert not (command.is_write and tool.effect == READ)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_nobody_can_be_named_to_act_as(tool: Tool) -> None:
    assert not {"as", "given", "cwd", "take_over", "agent"} & set(tool.takes)


def test_what_the_verb_calls_otherwise_is_renamed() -> None:
    given, key = TOOLS["value_put"].read({"name": "v", "value": {"a": None}, "version": 3, "key": "op-1"})
    assert given == {"key": "v", "json_text": '{"a": null}', "version": 3}
    assert key == "op-1"


def test_null_is_a_value_where_any_json_is_one_and_nothing_elsewhere() -> None:
    assert TOOLS["value_put"].read({"name": "v", "value": None})[0]["json_text"] == "null"
    assert TOOLS["task_next"].read({"task": None, "wait": None}) == ({}, "")


def test_a_task_may_be_a_number() -> None:
    assert TOOLS["task_done"].read({"task": 12})[0] == {"task": "12"}


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("claim", {}, "resources is missing"),
        ("claim", {"resources": "a"}, "resources must be a list of texts"),
        ("claim", {"resources": [["a"]]}, "resources must be a list of texts"),
        ("claim", {"resources": ["a"], "note": 1.5}, "note must be a text"),
        ("claim", {"resources": ["a"], "as": "bob"}, "there is no argument as"),
        ("claim", {"resources": ["a"], "wait": "11m"}, "the maximum is 10 min"),
        ("say", {"text": "hi", "urgent": "yes"}, "urgent must be true or false"),
        ("say", {"text": "-"}, "text cannot be a single dash"),
        ("task_add", {"title": "x", "priority": True}, "priority must be a whole number"),
        ("status", {"x": 1}, "there are none"),
    ],
)
def test_what_is_wrong_is_said(tool: str, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(Refusal, match=re.escape(words)):
        TOOLS[tool].read(arguments)


@pytest.mark.parametrize(
    ("tool", "arguments", "given"),
    [
        ("task_add", {"title": "x", "priority": "1"}, {"title": "x", "priority": 1}),
        ("task_add", {"title": "x", "priority": 1.0}, {"title": "x", "priority": 1}),
        ("say", {"text": "x", "urgent": "true"}, {"text": "x", "urgent": True}),
        ("say", {"text": "true", "urgent": "false"}, {"text": "true", "urgent": False}),
        ("say", {"text": 7}, {"text": "7"}),
    ],
)
def test_what_can_only_mean_one_thing_is_taken_as_meant(
    tool: str, arguments: dict[str, Any], given: dict[str, Any]
) -> None:
    assert TOOLS[tool].read(arguments)[0] == given


@pytest.mark.parametrize(
    "value", ["one", "2.5", "-", "", "9" * 5_000, "\u0663", 1.5, float("inf"), [1], None]
)
def test_what_is_no_whole_number_is_refused(value: Any) -> None:
    with pytest.raises(Refusal, match="number must be a whole number"):
        TOOLS["proposal_accept"].read({"number": value})


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_the_example_of_a_call_is_a_call_that_the_verb_takes(tool: Tool) -> None:
    """The verb's own parser has the last word, so that nobody is sent from one refusal into the next."""
    for names in ((), tuple(tool.takes)):
        name, _, arguments = tool.example(*names).partition(" ")
        given, _key = tool.read(json.loads(arguments))
        assert name == tool.name
        Form(make_parser(tool.verb, load(tool.verb))).fill(given)


def test_whoever_calls_wrongly_is_shown_a_call_with_the_argument_that_was_wrong() -> None:
    with pytest.raises(Refusal) as caught:
        TOOLS["task_add"].read({"title": "x", "priority": "high"})
    assert caught.value.next == 'task_add {"title": "...", "priority": 5}'
    assert str(caught.value).endswith('Next: call `task_add {"title": "...", "priority": 5}`.')


def test_a_refusal_that_names_the_help_of_the_verb_names_a_call_instead() -> None:
    refusal = refuse("usage", command="lineclear claim", message="mode must be one of shared, intent")
    reply = Reply({"error": refusal.as_data()}, str(refusal), is_refused=True)
    told = TOOLS["claim"].with_example(reply, {"resources": ["a"], "mode": "mine"})
    example = 'claim {"resources": ["login.py"], "mode": "intent"}'
    assert told.content["error"]["next"] == example
    assert told.text == f"lineclear claim: mode must be one of shared, intent.\nNext: call `{example}`."
    assert told.is_refused


@pytest.mark.parametrize("error", [{}, {"error": {"code": "claim.held", "next": "lineclear who a"}}])
def test_every_other_answer_stays_as_it_is(error: dict[str, Any]) -> None:
    reply = Reply(error, "words")
    assert TOOLS["claim"].with_example(reply, ()) is reply


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_names_tools_that_are_there(name: str) -> None:
    named = re.findall(r"[Cc]all (\w+)", prompt_text(name, ""))
    assert named
    assert [tool for tool in named if tool not in offered(is_all=False)] == []
    assert "T-7" in prompt_text(name, "T-7")
    assert "{" not in prompt_text(name, "")
