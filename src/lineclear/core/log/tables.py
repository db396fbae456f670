"""The tables that every engine keeps, declared once: columns, keys, indexes, and what the audit compares.

A row is a plain object with slots; every column is an `int` or a `str`, never null, so that three
engines store the same thing. Lists of names are newline-joined text (names hold no control
characters). Rows never change in place: `changed` returns a new one.
"""

from __future__ import annotations

from _operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Generic, Self, TypeVar

    R = TypeVar("R", bound="TableRow")

    class _Of(Generic[R]):
        pass

else:
    R = None

    class _Of:
        __slots__ = ()

        def __class_getitem__(cls, _item: object) -> type:
            return cls


class TableRow:
    __slots__: tuple[str, ...] = ()

    def changed(self, **columns: int | str) -> Self:
        row = self.__class__.__new__(self.__class__)
        for name in self.__slots__:
            setattr(row, name, columns[name] if name in columns else getattr(self, name))
        return row

    def as_dict(self) -> dict[str, int | str]:
        return {name: getattr(self, name) for name in self.__slots__}


class Agent(TableRow):
    """A worker or a person. `tree` names its worktree, `session` its client's live session."""

    __slots__ = ("name", "kind", "client", "tree", "session", "state", "incarnation", "bond", "joined")

    def __init__(
        self, name: str, kind: str, client: str, tree: str, session: str, state: str, incarnation: int,
        bond: str, joined: int,
    ) -> None:  # fmt: skip
        self.name, self.kind, self.client, self.tree = name, kind, client, tree
        self.session, self.state, self.incarnation = session, state, incarnation
        self.bond, self.joined = bond, joined


class Claim(TableRow):
    """A lease on a resource. An agent has at most one claim per resource text."""

    __slots__ = (
        "agent", "resource", "node", "mode", "fence", "tree", "note", "task", "ttl_ms", "bond", "until_ns",
    )  # fmt: skip

    def __init__(
        self, agent: str, resource: str, node: str, mode: str, fence: int, tree: str, note: str, task: int,
        ttl_ms: int, bond: str, until_ns: int,
    ) -> None:  # fmt: skip
        self.agent, self.resource, self.node, self.mode = agent, resource, node, mode
        self.fence, self.tree, self.note, self.task = fence, tree, note, task
        self.ttl_ms, self.bond, self.until_ns = ttl_ms, bond, until_ns


class Fence(TableRow):
    """The newest exclusive grant ever made for a resource text; it outlives the claim."""

    __slots__ = ("node", "resource", "fence", "agent")

    def __init__(self, node: str, resource: str, fence: int, agent: str) -> None:
        self.node, self.resource, self.fence, self.agent = node, resource, fence, agent


class Wait(TableRow):
    """A place in the line for resources; `ticket` is a log position, so the order is that of arrival."""

    __slots__ = (
        "ticket", "agent", "resources", "mode", "tree", "note", "task", "ttl_ms", "bond", "until_ns",
    )  # fmt: skip

    def __init__(
        self, ticket: int, agent: str, resources: str, mode: str, tree: str, note: str, task: int,
        ttl_ms: int, bond: str, until_ns: int,
    ) -> None:  # fmt: skip
        self.ticket, self.agent, self.resources, self.mode = ticket, agent, resources, mode
        self.tree, self.note, self.task = tree, note, task
        self.ttl_ms, self.bond, self.until_ns = ttl_ms, bond, until_ns


class Task(TableRow):
    """A piece of work. `unmet` counts its dependencies that are not merged or accepted yet."""

    __slots__ = (
        "id", "title", "body", "state", "priority", "unmet", "scope", "labels", "needs", "agent", "attempt",
        "attempts_max", "branch", "reason", "same_as", "created", "ttl_ms", "until_ns", "produces",
    )  # fmt: skip

    def __init__(
        self, id: int, title: str, body: str, state: str, priority: int, unmet: int, scope: str, labels: str,
        needs: str, agent: str, attempt: int, attempts_max: int, branch: str, reason: str, same_as: int,
        created: int, ttl_ms: int, until_ns: int, produces: str = "",
    ) -> None:  # fmt: skip
        self.id, self.title, self.body, self.state = id, title, body, state
        self.priority, self.unmet, self.scope, self.labels, self.needs = priority, unmet, scope, labels, needs
        self.agent, self.attempt, self.attempts_max = agent, attempt, attempts_max
        self.branch, self.reason, self.same_as, self.created = branch, reason, same_as, created
        self.ttl_ms, self.until_ns, self.produces = ttl_ms, until_ns, produces


class TaskDep(TableRow):
    __slots__ = ("task", "dep")

    def __init__(self, task: int, dep: int) -> None:
        self.task, self.dep = task, dep


class Worktree(TableRow):
    """A working directory of one agent. `name` is git's name for it; its ports start at `port_first`."""

    __slots__ = (
        "name", "path", "branch", "base", "agent", "task", "origin", "port_first", "port_count", "made",
    )  # fmt: skip

    def __init__(
        self, name: str, path: str, branch: str, base: str, agent: str, task: int, origin: str,
        port_first: int, port_count: int, made: int,
    ) -> None:  # fmt: skip
        self.name, self.path, self.branch, self.base = name, path, branch, base
        self.agent, self.task, self.origin = agent, task, origin
        self.port_first, self.port_count, self.made = port_first, port_count, made


class Run(TableRow):
    """A client at work on a task, from its start to its end. Numbers that nobody reported are -1."""

    __slots__ = (
        "id", "agent", "task", "attempt", "client", "model", "tree", "branch", "base", "bond", "token_hash",
        "session", "state", "asked", "how", "reason", "exit_code", "tokens_in", "tokens_out", "cost_micros",
        "snapshot", "started_ns", "ended_ns",
    )  # fmt: skip

    def __init__(
        self, id: int, agent: str, task: int, attempt: int, client: str, model: str, tree: str, branch: str,
        base: str, bond: str, token_hash: str, session: str, state: str, asked: str, how: str, reason: str,
        exit_code: int, tokens_in: int, tokens_out: int, cost_micros: int, snapshot: str, started_ns: int,
        ended_ns: int,
    ) -> None:  # fmt: skip
        self.id, self.agent, self.task, self.attempt = id, agent, task, attempt
        self.client, self.model, self.tree, self.branch, self.base = client, model, tree, branch, base
        self.bond, self.token_hash, self.session, self.state, self.asked = (
            bond, token_hash, session, state, asked,
        )  # fmt: skip
        self.how, self.reason, self.exit_code = how, reason, exit_code
        self.tokens_in, self.tokens_out, self.cost_micros = tokens_in, tokens_out, cost_micros
        self.snapshot, self.started_ns, self.ended_ns = snapshot, started_ns, ended_ns


class Token(TableRow):
    """Proves a name. Only the hash of its secret is stored; `expires_ns` 0 means never."""

    __slots__ = (
        "id", "name", "kind", "hash", "note", "issuer", "made", "made_ns", "expires_ns", "revoker",
        "revoked_ns",
    )  # fmt: skip

    def __init__(
        self, id: str, name: str, kind: str, hash: str, note: str, issuer: str, made: int, made_ns: int,
        expires_ns: int, revoker: str, revoked_ns: int,
    ) -> None:  # fmt: skip
        self.id, self.name, self.kind, self.hash, self.note = id, name, kind, hash, note
        self.issuer, self.made, self.made_ns, self.expires_ns = issuer, made, made_ns, expires_ns
        self.revoker, self.revoked_ns = revoker, revoked_ns


class Candidate(TableRow):
    """A branch on its way to main, pinned to a commit. `rank` is the place a person gave it, 0 for none."""

    __slots__ = (
        "id", "branch", "tip", "base", "agent", "task", "attempt", "priority", "rank", "after", "state",
        "reason", "kind", "others", "review", "reviewer", "commit", "submitted", "submitted_ns", "ended_ns",
    )  # fmt: skip

    def __init__(
        self, id: int, branch: str, tip: str, base: str, agent: str, task: int, attempt: int, priority: int,
        rank: int, after: str, state: str, reason: str, kind: str, others: str, review: str, reviewer: str,
        commit: str, submitted: int, submitted_ns: int, ended_ns: int,
    ) -> None:  # fmt: skip
        self.id, self.branch, self.tip, self.base, self.agent = id, branch, tip, base, agent
        self.task, self.attempt, self.priority, self.rank, self.after = task, attempt, priority, rank, after
        self.state, self.reason, self.kind, self.others = state, reason, kind, others
        self.review, self.reviewer, self.commit = review, reviewer, commit
        self.submitted, self.submitted_ns, self.ended_ns = submitted, submitted_ns, ended_ns


class Landing(TableRow):
    """A move of main in progress: written before, deleted after. The next queue run finishes one that a kill
    interrupted."""

    __slots__ = ("id", "old", "new", "ids", "commits", "hows")

    def __init__(self, id: int, old: str, new: str, ids: str, commits: str, hows: str) -> None:
        self.id, self.old, self.new = id, old, new
        self.ids, self.commits, self.hows = ids, commits, hows


class Verdict(TableRow):
    """A check that passed: `key` stands for the tree, the command and what its worktree was set up with."""

    __slots__ = ("key", "tree", "position")

    def __init__(self, key: str, tree: str, position: int) -> None:
        self.key, self.tree, self.position = key, tree, position


class CheckRecord(TableRow):
    """The record of a check command: how often it ran, failed, failed and then passed, and how long."""

    __slots__ = ("command", "runs", "reds", "flakes", "took_ms", "last_ms")

    def __init__(self, command: str, runs: int, reds: int, flakes: int, took_ms: int, last_ms: int) -> None:
        self.command, self.runs, self.reds, self.flakes = command, runs, reds, flakes
        self.took_ms, self.last_ms = took_ms, last_ms


class Mode(TableRow):
    """The current state of the queue or the phase: `name` is "queue" or "phase", `since` a log position."""

    __slots__ = ("name", "value", "note", "agent", "since")

    def __init__(self, name: str, value: str, note: str, agent: str, since: int) -> None:
        self.name, self.value, self.note, self.agent, self.since = name, value, note, agent, since


class Value(TableRow):
    """A versioned shared fact; a deleted one keeps its version so that versions only grow."""

    __slots__ = ("key", "version", "json", "deleted", "agent", "position")

    def __init__(self, key: str, version: int, json: str, deleted: int, agent: str, position: int) -> None:
        self.key, self.version, self.json = key, version, json
        self.deleted, self.agent, self.position = deleted, agent, position


class Copy(TableRow):
    """One value inside a named, isolated copy: its content when it was copied, and now."""

    __slots__ = ("copy", "key", "agent", "base_version", "base_json", "json", "deleted")

    def __init__(
        self, copy: str, key: str, agent: str, base_version: int, base_json: str, json: str, deleted: int
    ) -> None:
        self.copy, self.key, self.agent = copy, key, agent
        self.base_version, self.base_json = base_version, base_json
        self.json, self.deleted = json, deleted


class Proposal(TableRow):
    """A change request to the owner of a single-writer resource; `id` is its log position."""

    __slots__ = (
        "id",
        "resource",
        "author",
        "base_version",
        "payload",
        "note",
        "state",
        "decided_by",
        "reason",
    )

    def __init__(
        self, id: int, resource: str, author: str, base_version: int, payload: str, note: str, state: str,
        decided_by: str, reason: str,
    ) -> None:  # fmt: skip
        self.id, self.resource, self.author, self.base_version = id, resource, author, base_version
        self.payload, self.note, self.state = payload, note, state
        self.decided_by, self.reason = decided_by, reason


class Message(TableRow):
    """`audience` is `agent:NAME`, `topic:NAME` or `all`; `id` is its log position."""

    __slots__ = ("id", "author", "audience", "urgent", "text")

    def __init__(self, id: int, author: str, audience: str, urgent: int, text: str) -> None:
        self.id, self.author, self.audience, self.urgent, self.text = id, author, audience, urgent, text


class MessageReader(TableRow):
    """Everything up to `cursor` is read; the reader gets messages to topics and to all from `since` on."""

    __slots__ = ("name", "cursor", "since", "topics")

    def __init__(self, name: str, cursor: int, since: int, topics: str) -> None:
        self.name, self.cursor, self.since, self.topics = name, cursor, since, topics


class Read(TableRow):
    """A message beyond the cursor that was read out of order (an urgent one)."""

    __slots__ = ("reader", "message")

    def __init__(self, reader: str, message: int) -> None:
        self.reader, self.message = reader, message


class FindingRow(TableRow):
    """What the radar found between sides and what still holds. `key` is the same in every pass; `told`: the
    agents that have heard of it; `since_ns`: the wall time at which it was found."""

    __slots__ = (
        "id", "key", "kind", "agents", "files", "symbol", "old", "new", "detail", "confidence", "interrupts",
        "task", "since_ns", "told",
    )  # fmt: skip

    def __init__(
        self, id: int, key: str, kind: str, agents: str, files: str, symbol: str, old: str, new: str,
        detail: str, confidence: str, interrupts: int, task: int, since_ns: int, told: str,
    ) -> None:  # fmt: skip
        self.id, self.key, self.kind, self.agents, self.files = id, key, kind, agents, files
        self.symbol, self.old, self.new, self.detail = symbol, old, new, detail
        self.confidence, self.interrupts, self.task = confidence, interrupts, task
        self.since_ns, self.told = since_ns, told


class Mute(TableRow):
    """Findings of this kind at or below the path are not recorded; `agent` said so, at `position`."""

    __slots__ = ("kind", "path", "agent", "position")

    def __init__(self, kind: str, path: str, agent: str, position: int) -> None:
        self.kind, self.path, self.agent, self.position = kind, path, agent, position


class Operation(TableRow):
    """The stored answer to a command that carried an operation id."""

    __slots__ = ("key", "digest", "result", "at_ns", "position")

    def __init__(self, key: str, digest: str, result: str, at_ns: int, position: int) -> None:
        self.key, self.digest, self.result, self.at_ns, self.position = key, digest, result, at_ns, position


class LogEntry(TableRow):
    """One event as the log stores it; `body` is JSON text."""

    __slots__ = ("position", "at_ns", "actor", "kind", "subject", "seen", "op", "body")

    def __init__(
        self, position: int, at_ns: int, actor: str, kind: str, subject: str, seen: int, op: str, body: str
    ) -> None:
        self.position, self.at_ns, self.actor, self.kind = position, at_ns, actor, kind
        self.subject, self.seen, self.op, self.body = subject, seen, op, body


class Table(_Of[R]):
    """How a kind of row is stored. `quiet` columns change without an event, so the audit skips them."""

    __slots__ = ("name", "row", "columns", "key", "indexes", "quiet", "values", "key_of", "entry_of")

    def __init__(
        self,
        name: str,
        row: type[R],
        key: tuple[str, ...],
        indexes: dict[str, tuple[str, ...]] | None = None,
        quiet: tuple[str, ...] = (),
    ) -> None:
        self.name, self.row, self.key, self.quiet = name, row, key, quiet
        self.columns: tuple[str, ...] = row.__slots__
        self.indexes = {"key": key, **(indexes or {})}
        self.values: Callable[[R], tuple[int | str, ...]] = attrgetter(*self.columns)
        self.key_of: Callable[[Any], tuple[int | str, ...]] = _key_getter(key)
        # index -> (its columns, then the key): the sort key of a row in that index.
        self.entry_of: dict[str, Callable[[Any], tuple[int | str, ...]]] = {
            index: attrgetter(*columns, *key) for index, columns in self.indexes.items()
        }


def _key_getter(key: tuple[str, ...]) -> Callable[[Any], tuple[int | str, ...]]:
    if len(key) == 1:
        only = attrgetter(key[0])
        return lambda row: (only(row),)
    return attrgetter(*key)


AGENT = Table("agent", Agent, ("name",), {"session": ("session",), "tree": ("tree",)})
CLAIM = Table("claim", Claim, ("agent", "resource"), {"node": ("node",)}, quiet=("until_ns", "ttl_ms"))
FENCE = Table("fence", Fence, ("node", "resource"))
WAIT = Table("wait", Wait, ("ticket",), quiet=("until_ns",))
TASK = Table("task", Task, ("id",), {"ready": ("state", "unmet", "priority", "id")}, quiet=("until_ns",))
TASK_DEP = Table("task_dep", TaskDep, ("task", "dep"), {"dep": ("dep",)})
WORKTREE = Table("worktree", Worktree, ("name",), {"agent": ("agent",)})
RUN = Table("run", Run, ("id",), {"state": ("state", "id"), "task": ("task", "id")})
TOKEN = Table("token", Token, ("id",), {"name": ("name", "id")})
CANDIDATE = Table(
    "candidate",
    Candidate,
    ("id",),
    {"state": ("state", "id"), "branch": ("branch", "id"), "task": ("task", "id")},
)
LANDING = Table("landing", Landing, ("id",))
VERDICT = Table("verdict", Verdict, ("key",))
CHECK_RECORD = Table("check_record", CheckRecord, ("command",))
MODE = Table("mode", Mode, ("name",))
VALUE = Table("value", Value, ("key",))
COPY = Table("copy", Copy, ("copy", "key"))
PROPOSAL = Table("proposal", Proposal, ("id",), {"resource": ("resource", "id")})
MESSAGE = Table("message", Message, ("id",), {"audience": ("audience", "id")})
READER = Table("reader", MessageReader, ("name",))
READ = Table("read", Read, ("reader", "message"))
FINDING = Table("finding", FindingRow, ("id",))
MUTE = Table("mute", Mute, ("kind", "path"))
OPERATION = Table("operation", Operation, ("key",), {"age": ("at_ns",)})
LOG = Table("log", LogEntry, ("position",), {"subject": ("subject", "position")})

# A replay of the log must give exactly these; operations are answers kept for a time, not facts.
PROJECTED: tuple[Table[Any], ...] = (
    AGENT, CLAIM, FENCE, WAIT, TASK, TASK_DEP, WORKTREE, RUN, TOKEN, CANDIDATE, LANDING, VERDICT,
    CHECK_RECORD, MODE, VALUE, COPY, PROPOSAL, MESSAGE, READER, READ, FINDING, MUTE,
)  # fmt: skip
ALL: tuple[Table[Any], ...] = (*PROJECTED, OPERATION, LOG)


def split_ids(text: str) -> list[int]:
    return [int(word) for word in text.split("\n")] if text else []


def join_ids(ids: Iterable[int]) -> str:
    return "\n".join(map(str, ids))


def split_names(text: str) -> list[str]:
    return text.split("\n") if text else []


def join_names(names: list[str]) -> str:
    return "\n".join(names)
