"""Whatever JSON a person wrote, however it is laid out: what is put in comes out, and nothing else."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lineclear.app.setup import text_blocks
from lineclear.app.setup.plan import CannotSetUp, SetupChange, SetupFacts, SetupPlan
from lineclear.clients import json_settings, jsonc
from lineclear.clients.registry import setup_of

PATH = "/srv/shop/.qwen/settings.json"
OURS = {"hooks": [{"type": "command", "command": "/x/lineclear/hook qwen Stop"}]}
WHERE = ("hooks", "Stop")
SERVER = {"command": "/x/lineclear/hook", "args": ["mcp"]}
SERVERS = ("servers", "lineclear")

_keys = st.sampled_from(["a", "b", "hooks", "Stop", "PreToolUse", "é", "//"])
_leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("/* no comment */")
_values = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=12,
)
_groups = st.lists(st.just({"hooks": [{"command": "./mine.sh"}]}) | st.just({"matcher": "x"}), max_size=2)
_settings = st.dictionaries(_keys.filter(lambda key: key != "hooks"), _values, max_size=3).flatmap(
    lambda rest: st.dictionaries(st.sampled_from(["Stop", "PreToolUse"]), _groups, max_size=2).map(
        lambda hooks: rest | ({"hooks": hooks} if hooks else {})
    )
)
_gaps = st.sampled_from(["", " ", "\n", "\r\n\t", " // why\n", "/* a, b */", "\n  "])


@st.composite
def written(draw: st.DrawFn) -> str:
    """A JSON text with gaps and comments where a person may leave them, and commas at the end."""

    def write(value: Any) -> str:
        if isinstance(value, dict):
            items = [
                f"{json.dumps(key)}{draw(_gaps)}:{draw(_gaps)}{write(item)}" for key, item in value.items()
            ]
            return "{" + joined(items) + "}"
        if isinstance(value, list):
            return "[" + joined([write(item) for item in value]) + "]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    def joined(items: list[str]) -> str:
        text = ",".join(f"{draw(_gaps)}{item}{draw(_gaps)}" for item in items)
        return text + (draw(st.sampled_from(["", ","])) if items else draw(_gaps))

    return draw(_gaps) + write(draw(_settings)) + draw(_gaps)


def put_in(text: str) -> tuple[str, dict[str, Any]]:
    plan, found = SetupPlan(), SetupFacts("/srv/shop", stub="/x/lineclear/hook", files={PATH: text.encode()})
    return json_settings.install(plan, found, PATH, [(WHERE, OURS)]), plan.record


@given(written())
def test_what_is_put_in_is_there_beside_everything_else(text: str) -> None:
    after, _ = put_in(text)
    wanted = jsonc.parse(text).plain()
    wanted.setdefault("hooks", {}).setdefault("Stop", []).append(OURS)
    assert jsonc.parse(after).plain() == wanted


@given(written())
def test_out_again_is_byte_for_byte(text: str) -> None:
    after, record = put_in(text)
    assert json_settings.without_ours(after, PATH, record, []) == text


@given(written(), written())
def test_a_server_goes_in_by_its_name_and_out_again(text: str, other: str) -> None:
    """Beside hooks; and alone, also by the record of another text, where it is found by its command."""
    plan, found = SetupPlan(), SetupFacts("/srv/shop", files={PATH: text.encode()})
    entries: list[json_settings.Entry] = [(WHERE, OURS)]
    after = json_settings.install(plan, found, PATH, entries, servers=[(SERVERS, SERVER)])
    said = jsonc.parse(after).plain()
    assert said["servers"].pop("lineclear") == SERVER
    assert json_settings.without_ours(after, PATH, plan.record, []) == text
    alone = json_settings.install(SetupPlan(), found, PATH, [], servers=[(SERVERS, SERVER)])
    changed, there = SetupPlan(), SetupFacts("/srv/shop", files={PATH: other.encode()})
    json_settings.install(changed, there, PATH, [], servers=[(SERVERS, SERVER)])
    left = json_settings.without_ours(alone, PATH, changed.record, [])
    assert left is not None
    assert jsonc.parse(left).plain() == jsonc.parse(text).plain()


@given(written(), written())
def test_of_an_edited_text_only_ours_goes(text: str, other: str) -> None:
    """The record is another text's: then ours is found by its command."""
    after, _ = put_in(text)
    _, record = put_in(other)
    left = json_settings.without_ours(
        after, PATH, record | {"files": {PATH: record["files"][PATH] | {"paths": []}}}, []
    )
    assert left is not None
    wanted = jsonc.parse(text).plain()
    wanted.setdefault("hooks", {}).setdefault("Stop", [])
    found = jsonc.parse(left).plain()
    assert found == wanted or found == jsonc.parse(text).plain()


@given(st.text(max_size=60) | st.binary(max_size=60))
def test_no_text_makes_a_plan_fail_in_another_way_than_refused(content: str | bytes) -> None:
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    module = setup_of("qwen")
    try:
        plan = module.plan_install(SetupFacts("/srv/shop", stub="/x/lineclear/hook", files={PATH: data}))
    except CannotSetUp:
        return
    (change,) = plan.changes
    assert isinstance(change, SetupChange)
    found = SetupFacts("/srv/shop", files={PATH: change.after}, record=plan.record)
    (back,) = module.plan_remove(found).changes
    assert isinstance(back, SetupChange)
    assert back.after == data


@given(st.text(alphabet="ab#\n\r ", max_size=40), st.text(alphabet="ab\n", max_size=10))
def test_a_block_goes_in_and_out_of_any_text(text: str, more: str) -> None:
    text = text.replace("\r", "")
    plan = SetupPlan()
    found = SetupFacts("/srv/shop", files={"/f": text.encode()})
    after = text_blocks.install(plan, found, "/f", "kimi", ["x = 1", "y = 2"])
    assert text_blocks.without_block(after, "/f", plan.record, "kimi") == text
    if more and (text.endswith("\n") or not text):
        assert text_blocks.without_block(after + more, "/f", plan.record, "kimi") == text + more
