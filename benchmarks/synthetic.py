"""A long log whose live state stays small: a fixed crew on fixed files, values and tasks, round after round.

The events are those that the use cases append, in the order in which they append them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.codec import encode_body
from lineclear.core.log.tables import LogEntry

AGENTS, FILES, VALUES = 40, 2_000, 200
STEPS = 9  # of a round
NOON_NS = 1_767_268_800 * 1_000_000_000
TTL_MS = 1_800_000


class Writer:
    """Numbers the events; remembers of each agent what it was last told, as presence does."""

    def __init__(self) -> None:
        self.position = 0
        self._seen: dict[str, int] = {}
        self._versions: dict[str, int] = {}

    def entry(self, actor: str, kind: str, subject: str, /, **body: Any) -> LogEntry:
        self.position += 1
        seen = self._seen.get(actor, 0)
        at_ns = NOON_NS + self.position * 1_000_000
        return LogEntry(self.position, at_ns, actor, kind, subject, seen, "", encode_body(body))

    def tell(self, actor: str) -> None:
        self._seen[actor] = self.position

    def granted(self, actor: str, text: str, mode: str) -> LogEntry:
        resource = parse_resource(text)
        return self.entry(
            actor, "ClaimGranted", resource.text, resource=resource.text, node=resource.node, mode=mode,
            tree=f"tree-{actor}", note="working on it", task=0, ttl_ms=TTL_MS, bond="",
            until_ns=(self.position + TTL_MS) * 1_000_000,
        )  # fmt: skip

    def released(self, actor: str, text: str) -> LogEntry:
        name = parse_resource(text).text
        return self.entry(actor, "ClaimReleased", name, agent=actor, resource=name, why="released")

    def put(self, actor: str, key: str) -> LogEntry:
        base = self._versions.get(key, 0)
        self._versions[key] = base + 1
        json = f'{{"round":{self.position},"state":"working"}}'
        return self.entry(actor, "ValuePut", f"value:{key}", key=key, version=base + 1, base=base, json=json)


def make_log(count: int) -> Iterator[LogEntry]:
    """`count` events: the crew joins, then all work at once, one event of each in turn."""
    writer = Writer()
    yield writer.entry("agent-0", "EpochBegan", "epoch", boot="synthetic")
    for number in range(AGENTS):
        yield from _joining(writer, number)
    crew = [_shifts(writer, number) for number in range(AGENTS)]
    while True:
        for agent in crew:
            if writer.position >= count:
                return
            yield next(agent)


def _shifts(writer: Writer, number: int) -> Iterator[LogEntry]:
    """Endless. Not all begin at once, so that at every moment some hold claims and some do not."""
    name, task = f"agent-{number}", number + 1
    for _ in range(number % STEPS):
        yield writer.entry(name, "TaskNoted", f"T-{task}", id=task, text="Waiting for the others.")
    for turn in itertools.count():
        yield from _round(writer, name, task, turn)


def _joining(writer: Writer, number: int) -> Iterator[LogEntry]:
    name, task = f"agent-{number}", number + 1
    yield writer.entry(
        name, "AgentJoined", f"agent:{name}", kind="agent", client="codex", tree=f"tree-{name}",
        session=f"session-{number}", bond="", incarnation=1,
    )  # fmt: skip
    yield writer.entry(
        name, "TaskAdded", f"T-{task}", id=task, title=f"Work of {name}", body="As agreed.", priority=5,
        scope=f"file:src/area{task}/", labels="bench", needs="", attempts_max=100, after=[],
    )  # fmt: skip


def _round(writer: Writer, name: str, task: int, turn: int) -> Iterator[LogEntry]:
    """Take the task, announce, claim a file, share values, note progress, give everything back."""
    one = turn % (FILES // AGENTS)
    area, file = f"src/area{task}/", f"src/area{task}/part{one % 7}/file{one}.py"
    yield writer.entry(
        name, "TaskTaken", f"T-{task}", id=task, agent=name, attempt=1, ttl_ms=TTL_MS, until_ns=0
    )
    yield writer.granted(name, area, "intent")
    yield writer.granted(name, file, "exclusive")
    yield writer.put(name, f"progress/{name}")
    yield writer.entry(name, "TaskNoted", f"T-{task}", id=task, text="Half of it is done; tests are next.")
    yield writer.put(name, f"shared/{(turn + task) % VALUES}")
    yield writer.released(name, file)
    yield writer.released(name, area)
    yield writer.entry(name, "TaskReturned", f"T-{task}", id=task, why="for the next shift")
    writer.tell(name)
