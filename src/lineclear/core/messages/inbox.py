"""Messages: who receives them, in which order, and how reading moves the reader's cursor."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.log.tables import Message, MessageReader

MAX_TEXT_BYTES = 8_192
EVERYONE = "all"


def audience_of(to: str, topic: str) -> str:
    if to:
        return f"agent:{to}"
    return f"topic:{topic}" if topic else EVERYONE


def audiences_for(name: str, topics: list[str]) -> list[str]:
    """The audiences of a reader: its own name, its parents' names, its topics, everyone."""
    levels = name.split("/")
    own = ["agent:" + "/".join(levels[: depth + 1]) for depth in range(len(levels))]
    return [*own, *("topic:" + topic for topic in topics), EVERYONE]


def unread(messages: list[Message], reader: MessageReader, read_ids: set[int]) -> list[Message]:
    """The messages that the reader has not read, urgent ones first, then by arrival; never its own.

    Messages to the reader's own name count from the beginning, all others (also to a parent's name) from
    when it joined.
    """
    own = f"agent:{reader.name}"
    news = [
        message
        for message in messages
        if message.id not in read_ids
        and message.id > (reader.cursor if message.audience == own else max(reader.cursor, reader.since))
        and message.author != reader.name
    ]
    return sorted(news, key=lambda message: (-message.urgent, message.id))


def next_cursor(cursor: int, all_unread: list[Message], taken: set[int]) -> int:
    """The highest position below which nothing is left unread."""
    left = [message.id for message in all_unread if message.id not in taken]
    return max(cursor, min(left) - 1 if left else max(taken, default=cursor))
