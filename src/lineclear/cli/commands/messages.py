"""say, inbox, topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app import messages
from lineclear.app.radar import findings, telling
from lineclear.app.waiting_for_news import await_messages
from lineclear.cli.command import Command, Context
from lineclear.cli.inputs import given_text
from lineclear.cli.parser import duration, whole_number
from lineclear.cli.render import quoted
from lineclear.core.agents.names import agent_name, topic_name
from lineclear.core.words.findings import words_for
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

DAY_MS = 24 * 3_600_000
MOST_SHOWN = 1_000


def _declare_say(parser: ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="the text; - reads it from stdin")
    audience = parser.add_mutually_exclusive_group()
    audience.add_argument("--to", type=agent_name, metavar="AGENT", help="one agent and its sub-agents")
    audience.add_argument(
        "--topic", type=topic_name, metavar="TOPIC", help="everybody who listens to a topic"
    )
    audience.add_argument("--all", action="store_true", help="everyone (default)")
    parser.add_argument("--urgent", action="store_true", help="deliver it before all other messages")


def say(context: Context, args: Namespace) -> None:
    text = given_text(args.text)
    to, topic = args.to or "", args.topic or ""
    answer = messages.say(context.store, context.caller, text, to=to, topic=topic, urgent=args.urgent)
    lines = [f"Message {answer['id']} was sent to {_show_audience(answer['audience'])}."]
    if not answer["is_known"]:
        lines.append(f"Nobody named {to} has been here yet; the message is kept until then.")
    context.out.data(answer, *lines)


def _show_audience(audience: str) -> str:
    return "everyone" if audience == "all" else audience.replace(":", " ", 1)


def _declare_inbox(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--wait", type=duration(0, DAY_MS), default=0, help="wait this long for a message (0)"
    )
    parser.add_argument("--peek", action="store_true", help="keep all messages unread")
    parser.add_argument("--limit", type=whole_number(1, MOST_SHOWN), default=50, help="how many at most (50)")


def inbox(context: Context, args: Namespace) -> int | None:
    """Show the messages, then mark them as read: a caller that dies in between gets them again.

    With an operation id both happen at once: a caller that loses the answer repeats the command.
    """
    store, caller = context.store, context.caller
    is_taken = bool(context.key) and not args.peek

    def look() -> dict[str, Any]:
        if is_taken:
            return messages.take_messages(store, caller, args.limit)
        return store.read(lambda view: messages.inbox(view, caller.name, args.limit))

    found = await_messages(store, args.wait, look) if args.wait else look()
    rows = store.read(lambda view: telling.findings_for(view, caller.name))
    found["findings"] = [findings.show(row, caller.name) for row in rows]
    context.out.data(found, *_lines(found, [words_for(row, caller.name) for row in rows]))
    context.out.flush()
    context.delivered(found["position"])
    if not args.peek:
        telling.mark_told(store, caller, [row.id for row in rows])
    return None if is_taken or args.peek else _mark(context, found["messages"])


def _lines(found: dict[str, Any], told: list[str]) -> list[str]:
    lines = [f"The radar found: {words}" for words in told]
    for message in found["messages"]:
        urgent = ", urgent" if message["urgent"] else ""
        to = _show_audience(message["to"])
        lines += [
            f"{message['id']} from {message['from']} to {to} at {message['at']}{urgent}:",
            quoted(message["text"]),
        ]
    if found["more"]:
        lines.append(f"{found['more']} more unread.")
    return lines or ["Nothing unread."]


def _mark(context: Context, found: list[dict[str, Any]]) -> int | None:
    """Mark them as read. The answer is already printed, so a refusal becomes a hint beside it."""
    if not found:
        return None
    try:
        messages.mark_read(context.store, context.caller, [message["id"] for message in found])
    except Refusal as refusal:
        context.out.hint(f"The messages stay unread. {refusal}")
        return refusal.exit_code
    return None


def _declare_topic(parser: ArgumentParser) -> None:
    parser.add_argument("name", type=topic_name, metavar="NAME", help="the topic")
    parser.add_argument("--leave", action="store_true", help="stop listening")


def topic(context: Context, args: Namespace) -> None:
    change = messages.leave_topic if args.leave else messages.join_topic
    answer = change(context.store, context.caller, args.name)
    topics = ", ".join(answer["topics"])
    context.out.data(answer, f"You listen to {topics}." if topics else "You do not listen to any topic.")


COMMANDS = {
    "say": Command(say, _declare_say, is_write=True),
    "inbox": Command(inbox, _declare_inbox, is_write=True),
    "topic": Command(topic, _declare_topic, is_write=True),
}
