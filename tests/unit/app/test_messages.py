"""Messages: who hears what, in which order, at least once, and a cursor that never skips an unread one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.app import messages
from lineclear.app.ports import Caller
from lineclear.core.log.tables import READ, READER, Message
from lineclear.core.messages.inbox import MAX_TEXT_BYTES, audience_of, audiences_for, next_cursor
from tests.world import World, refused


@pytest.fixture
def world() -> World:
    return World()


def join(world: World, *names: str) -> None:
    """An agent is here from its first act on."""
    for name in names:
        messages.join_topic(world.store, Caller(name), f"topic-of-{name.replace('/', '-')}")


def say(world: World, author: str, text: str, **how: Any) -> int:
    number: int = messages.say(world.store, Caller(author), text, **how)["id"]
    return number


def unread(world: World, name: str) -> list[str]:
    shown = world.store.read(lambda view: messages.inbox(view, name))["messages"]
    return [message["text"] for message in shown]


def ids(world: World, name: str) -> list[int]:
    shown = world.store.read(lambda view: messages.inbox(view, name))["messages"]
    return [message["id"] for message in shown]


def mark(world: World, name: str, *numbers: int) -> int:
    return messages.mark_read(world.store, Caller(name), list(numbers))


# -- whom -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("to", "topic", "audience"), [("ann", "", "agent:ann"), ("", "ui", "topic:ui"), ("", "", "all")]
)
def test_a_message_has_one_audience(to: str, topic: str, audience: str) -> None:
    assert audience_of(to, topic) == audience


def test_a_reader_listens_to_itself_those_above_it_its_topics_and_everyone() -> None:
    assert audiences_for("ann/one/deep", ["ui"]) == [
        "agent:ann",
        "agent:ann/one",
        "agent:ann/one/deep",
        "topic:ui",
        "all",
    ]


def test_each_hears_what_concerns_it(world: World) -> None:
    join(world, "ann", "bob", "cat")
    messages.join_topic(world.store, Caller("cat"), "ui")
    say(world, "pat", "to ann", to="ann")
    say(world, "pat", "about ui", topic="ui")
    say(world, "pat", "to all")
    assert unread(world, "ann") == ["to ann", "to all"]
    assert unread(world, "bob") == ["to all"]
    assert unread(world, "cat") == ["about ui", "to all"]


def test_everything_about_a_message_is_shown(world: World) -> None:
    number = say(world, "bob", "hello", to="ann", urgent=True)
    (shown,) = world.store.read(lambda view: messages.inbox(view, "ann"))["messages"]
    assert shown == {
        "id": number,
        "from": "bob",
        "to": "agent:ann",
        "urgent": True,
        "text": "hello",
        "at": "2026-01-01T12:00:00Z",
    }


def test_ones_own_words_are_not_news(world: World) -> None:
    join(world, "ann", "bob")
    say(world, "ann", "to all")
    say(world, "ann", "to myself", to="ann")
    assert (unread(world, "ann"), unread(world, "bob")) == ([], ["to all"])


def test_messages_to_a_name_arrive_when_it_joins_and_announcements_of_the_past_do_not(world: World) -> None:
    answer = messages.say(world.store, Caller("bob"), "for you", to="ann")
    assert answer["is_known"] is False
    say(world, "bob", "to all, before")
    join(world, "ann")
    say(world, "bob", "to all, after")
    assert unread(world, "ann") == ["for you", "to all, after"]
    assert messages.say(world.store, Caller("bob"), "again", to="ann")["is_known"] is True


def test_a_sub_agent_hears_what_its_parent_is_told_from_when_it_joined(world: World) -> None:
    say(world, "bob", "before", to="ann")
    say(world, "bob", "meant for one", to="ann/one")
    join(world, "ann", "ann/one", "ann/two")
    say(world, "bob", "after", to="ann")
    assert unread(world, "ann") == ["before", "after"]
    assert unread(world, "ann/one") == ["meant for one", "after"]
    assert unread(world, "ann/two") == ["after"]


def test_a_topic_is_heard_while_one_listens(world: World) -> None:
    join(world, "ann")
    assert messages.join_topic(world.store, Caller("ann"), "ui")["topics"] == ["topic-of-ann", "ui"]
    messages.join_topic(world.store, Caller("ann"), "ui")
    say(world, "bob", "one", topic="ui")
    assert unread(world, "ann") == ["one"]
    assert messages.leave_topic(world.store, Caller("ann"), "ui")["topics"] == ["topic-of-ann"]
    messages.leave_topic(world.store, Caller("ann"), "ui")
    assert unread(world, "ann") == []
    assert [kind for kind, _ in world.events("TopicJoined", "TopicLeft")] == ["TopicJoined"] * 2 + [
        "TopicLeft"
    ]


@pytest.mark.parametrize(
    "text", ["", "x" * (MAX_TEXT_BYTES + 1), "é" * (MAX_TEXT_BYTES // 2 + 1), "\udcff", "a\0b"]
)
def test_what_cannot_be_said_is_refused(world: World, text: str) -> None:
    with refused("input.bad"):
        say(world, "ann", text)
    assert world.events() == []


def test_a_repeated_message_is_sent_once(world: World) -> None:
    once = Caller("bob", op="op-1")
    first = messages.say(world.store, once, "hello", to="ann")
    assert messages.say(world.store, once, "hello", to="ann") == first | {"replayed": True}
    assert unread(world, "ann") == ["hello"]


# -- in which order, and once -----------------------------------------------------------------


def test_urgent_ones_come_first_and_each_kind_in_the_order_it_was_sent(world: World) -> None:
    join(world, "ann")
    for text, urgent in (("a", False), ("B", True), ("c", False), ("D", True)):
        say(world, "bob", text, to="ann", urgent=urgent)
    assert unread(world, "ann") == ["B", "D", "a", "c"]


def test_looking_is_not_reading(world: World) -> None:
    say(world, "bob", "hello", to="ann")
    assert unread(world, "ann") == unread(world, "ann") == ["hello"]


def test_what_was_read_is_not_given_again(world: World) -> None:
    join(world, "ann")
    say(world, "bob", "one", to="ann")
    urgent = say(world, "bob", "two", to="ann", urgent=True)
    assert mark(world, "ann", urgent) == 1
    assert unread(world, "ann") == ["one"]
    assert mark(world, "ann", *ids(world, "ann")) == 1
    assert (unread(world, "ann"), mark(world, "ann", urgent)) == ([], 0)
    assert world.findings() == []


def test_what_is_not_in_ones_inbox_cannot_be_marked(world: World) -> None:
    join(world, "ann", "bob")
    number = say(world, "bob", "one", to="ann")
    before = world.events()
    assert mark(world, "bob", number, number + 50) == 0
    assert world.events() == before
    assert unread(world, "ann") == ["one"]


def test_only_a_few_are_shown_at_once_and_the_rest_is_counted(world: World) -> None:
    join(world, "ann")
    for number in range(messages.MOST_AT_ONCE + 3):
        say(world, "bob", str(number), to="ann")
    answer = world.store.read(lambda view: messages.inbox(view, "ann"))
    assert (len(answer["messages"]), answer["more"]) == (messages.MOST_AT_ONCE, 3)
    assert world.store.read(lambda view: messages.inbox(view, "ann", 2))["more"] == messages.MOST_AT_ONCE + 1


def test_marks_of_what_was_read_ahead_do_not_pile_up(world: World) -> None:
    join(world, "ann")
    numbers = [say(world, "bob", str(number), to="ann") for number in range(6)]
    mark(world, "ann", *numbers[3:])
    assert len(world.store.read(lambda view: view.pick(READ, "key", ("ann",)))) == 3
    mark(world, "ann", *numbers[:3])
    last = say(world, "bob", "last", to="ann")
    mark(world, "ann", last)
    reader = world.store.read(lambda view: view.get(READER, ("ann",)))
    assert reader is not None
    assert reader.cursor == last
    assert world.store.read(lambda view: view.pick(READ, "key", ("ann",))) == []


def note(number: int) -> Message:
    return Message(number, "bob", "all", 0, "")


@pytest.mark.parametrize(
    ("cursor", "unread_ids", "taken", "expected"),
    [
        (0, [3, 5, 9], {3}, 4),
        (0, [3, 5, 9], {5, 9}, 2),
        (0, [3, 5, 9], {3, 5, 9}, 9),
        (4, [5, 9], {9}, 4),
        (7, [], set(), 7),
    ],
)
def test_the_cursor_stops_before_the_first_that_is_left(
    cursor: int, unread_ids: list[int], taken: set[int], expected: int
) -> None:
    assert next_cursor(cursor, [note(number) for number in unread_ids], taken) == expected


# -- what must always hold --------------------------------------------------------------------

NAMES = ("ann", "ann/one", "bob")
SENDING = st.tuples(
    st.just("say"),
    st.sampled_from(("pat", *NAMES)),
    st.sampled_from([{"to": "ann"}, {"to": "ann/one"}, {"to": "bob"}, {"topic": "ui"}, {}]),
    st.booleans(),
)
READING = st.tuples(st.just("read"), st.sampled_from(NAMES), st.sets(st.integers(0, 9)), st.just(False))


def concerns(name: str, sent: dict[str, Any]) -> bool:
    """A second opinion on who hears a message that is sent after everybody joined."""
    if sent["author"] == name:
        return False
    if "to" in sent:
        return name == sent["to"] or name.startswith(sent["to"] + "/")
    return "topic" not in sent or name != "bob"


def in_order(waiting: dict[int, bool]) -> list[int]:
    urgent = [number for number in sorted(waiting) if waiting[number]]
    return urgent + [number for number in sorted(waiting) if not waiting[number]]


@given(st.lists(st.one_of(SENDING, READING), max_size=40))
def test_every_message_is_unread_until_it_is_read_and_never_again(steps: list[Any]) -> None:
    world = World()
    join(world, *NAMES)
    for name in NAMES[:2]:
        messages.join_topic(world.store, Caller(name), "ui")
    waiting: dict[str, dict[int, bool]] = {name: {} for name in NAMES}
    for verb, who, what, urgent in steps:
        if verb == "say":
            number = say(world, who, "text", urgent=urgent, **what)
            for name in NAMES:
                if concerns(name, {"author": who, **what}):
                    waiting[name][number] = urgent
        else:
            chosen = [number for place, number in enumerate(ids(world, who)) if place in what]
            assert mark(world, who, *chosen) == len(chosen)
            for number in chosen:
                del waiting[who][number]
        for name in NAMES:
            assert ids(world, name) == in_order(waiting[name])
    assert world.findings() == []


def test_messages_taken_under_an_id_are_given_again_to_who_lost_the_answer(world: World) -> None:
    join(world, "ada")
    say(world, "eve", "hello", to="ada")
    caller = Caller("ada", op="op-1")
    first = messages.take_messages(world.store, caller)
    assert [message["text"] for message in first["messages"]] == ["hello"]
    assert unread(world, "ada") == []
    say(world, "eve", "later", to="ada")
    again = messages.take_messages(world.store, caller)
    assert again.pop("replayed") is True
    assert again == first
    assert unread(world, "ada") == ["later"]


def test_an_empty_inbox_is_read_without_a_write_and_its_id_stays_free(world: World) -> None:
    join(world, "ada")
    before = world.store.read(lambda view: view.head)
    caller = Caller("ada", op="op-1")
    assert messages.take_messages(world.store, caller)["messages"] == []
    assert world.store.read(lambda view: view.head) == before
    say(world, "eve", "hello", to="ada")
    assert len(messages.take_messages(world.store, caller)["messages"]) == 1
