"""Use cases for messages: send them, read them, join topics."""

from __future__ import annotations

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.free_text import check_words
from lineclear.app.operations import once
from lineclear.core.instants import show_wall
from lineclear.core.log.events import Draft
from lineclear.core.log.queries import any_of, by_index, by_key
from lineclear.core.log.tables import AGENT, LOG, MESSAGE, OPERATION, READ, READER, MessageReader, split_names
from lineclear.core.messages.inbox import MAX_TEXT_BYTES, audience_of, audiences_for, next_cursor, unread
from lineclear.core.words.refusals import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.core.log.queries import Question
    from lineclear.core.log.tables import Message

MOST_AT_ONCE = 50


def say(
    store: Store, caller: Caller, text: str, *, to: str = "", topic: str = "", urgent: bool = False
) -> dict[str, Any]:
    """Send a message to an agent, a topic or everyone. An agent that has not joined yet gets it when it
    joins."""
    check_words("message", text, MAX_TEXT_BYTES, least_chars=1)
    size = len(text.encode())
    if size > MAX_TEXT_BYTES:
        raise refuse(
            "input.bad",
            name="message",
            given=text,
            why=f"a message has 1 to {MAX_TEXT_BYTES} bytes, this one has {size}",
        )

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        audience = audience_of(to, topic)
        sent = tx.append(Draft("MessageSent", audience, audience=audience, urgent=int(urgent), text=text))
        is_known = not to or tx.get(AGENT, (to,)) is not None
        return {"id": sent.position, "audience": audience, "is_known": is_known}

    arguments = {"text": text, "to": to, "topic": topic, "urgent": urgent}
    return once(store, caller, "say", arguments, work, near=[by_key(AGENT, to)] if to else ())


def inbox(view: View, name: str, limit: int = MOST_AT_ONCE) -> dict[str, Any]:
    """The reader's unread messages, urgent ones first. They stay unread until `mark_read`."""
    news = _unread(view, name)
    view.prefetch(*(by_key(LOG, message.id) for message in news[:limit]))
    shown = [_show(view, message) for message in news[:limit]]
    return {"messages": shown, "more": max(0, len(news) - limit), "position": view.head}


def mark_read(store: Store, caller: Caller, ids: list[int]) -> int:
    """Mark messages as read, because they have reached their reader; returns how many were unread."""
    return store.transact(caller, lambda tx: mark_read_in(tx, caller, ids), near_reader(caller.name))


def take_messages(store: Store, caller: Caller, limit: int = MOST_AT_ONCE) -> dict[str, Any]:
    """The inbox, marked as read in the same step. For a caller with an operation id: if the answer is lost, a
    repeat with the same id returns the same messages."""

    def look(view: View) -> tuple[dict[str, Any], bool]:
        return inbox(view, caller.name, limit), view.get(OPERATION, (caller.op,)) is not None

    def work(tx: Tx) -> dict[str, Any]:
        found = inbox(tx, caller.name, limit)
        mark_read_in(tx, caller, [message["id"] for message in found["messages"]])
        return found

    found, is_repeat = store.read(look)
    if not found["messages"] and not is_repeat:
        return found  # nothing to mark, so no write transaction
    return once(store, caller, "inbox", {"limit": limit}, work, near=near_reader(caller.name))


def mark_read_in(tx: Tx, caller: Caller, ids: list[int]) -> int:
    """`mark_read` inside another transaction."""
    ensure_agent(tx, caller)
    news = _unread(tx, caller.name)
    taken = {message.id for message in news} & set(ids)
    if not taken:
        return 0
    reader = _reader(tx, caller.name)
    cursor = next_cursor(reader.cursor, news, taken)
    marks = sorted(message for message in taken if message > cursor)
    tx.append(Draft("MessagesRead", f"agent:{caller.name}", cursor=cursor, ids=marks))
    return len(taken)


def join_topic(store: Store, caller: Caller, topic: str) -> dict[str, Any]:
    return _change_topics(store, caller, "TopicJoined", topic)


def leave_topic(store: Store, caller: Caller, topic: str) -> dict[str, Any]:
    return _change_topics(store, caller, "TopicLeft", topic)


def _change_topics(store: Store, caller: Caller, kind: str, topic: str) -> dict[str, Any]:
    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        has_it = topic in split_names(_reader(tx, caller.name).topics)
        if has_it != (kind == "TopicJoined"):
            tx.append(Draft(kind, f"agent:{caller.name}", topic=topic))
        return {"topics": split_names(_reader(tx, caller.name).topics)}

    return once(store, caller, kind, {"topic": topic}, work)


def _reader(view: View, name: str) -> MessageReader:
    # A new reader gets earlier messages to itself, but not those to everyone.
    return view.get(READER, (name,)) or MessageReader(name, 0, view.head, "")


def near_reader(name: str) -> list[Question]:
    """The questions about a reader, to prefetch. Its unread messages can only be asked for afterwards."""
    return [by_key(READER, name), any_of(READ, "key", name)]


def _unread(view: View, name: str) -> list[Message]:
    view.prefetch(*near_reader(name))
    reader = _reader(view, name)
    found: list[Message] = []
    audiences = audiences_for(name, split_names(reader.topics))
    view.prefetch(*(by_index(MESSAGE, "audience", audience, low=reader.cursor) for audience in audiences))
    for audience in audiences:
        found.extend(view.scan(MESSAGE, "audience", (audience,), low=reader.cursor))
    read_ids = {mark.message for mark in view.pick(READ, "key", (name,))}
    return unread(found, reader, read_ids)


def _show(view: View, message: Message) -> dict[str, Any]:
    entry = view.get(LOG, (message.id,))
    return {
        "id": message.id,
        "from": message.author,
        "to": message.audience,
        "urgent": bool(message.urgent),
        "text": message.text,
        "at": show_wall(entry.at_ns) if entry is not None else "",
    }
