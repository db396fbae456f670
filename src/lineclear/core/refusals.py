"""Every refusal we can give, with its words: what, who and until when, the one next action.

A refusal is an expected answer, read by a model and by a person. Nothing here decides anything.
"""

from __future__ import annotations

from lineclear.core.instants import show_duration, show_wall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.core.claims.rules import Blocker, Request
    from lineclear.core.instants import Instant
    from lineclear.core.log.tables import Claim

# Exit codes of the command line (design, section 13).
FAILED, USAGE, HELD, NOT_ALLOWED, NOT_FOUND, FINDINGS, STALE, TIMED_OUT, BUDGET = 1, 2, 3, 4, 5, 6, 7, 8, 9


class Refusal(Exception):
    """A clear no: a stable code, up to three lines of words, and the facts as data."""

    __slots__ = ("code", "exit_code", "facts", "next", "next_is", "what", "who")

    def __init__(
        self,
        code: str,
        what: str,
        *,
        who: str = "",
        next_: str = "",
        next_is: str = "run",
        exit_code: int = FAILED,
        **facts: Any,
    ) -> None:
        """`next_is`: what one does with `next_`, which is a command unless said otherwise."""
        super().__init__(what)
        self.code = code
        self.what = what
        self.who = who
        self.next, self.next_is = next_, next_is
        self.exit_code = exit_code
        self.facts = facts

    def __str__(self) -> str:
        lines = [self.what]
        if self.who:
            lines.append(self.who)
        if self.next:
            lines.append(following(self.next, self.next_is))
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        message = self.what if not self.who else f"{self.what} {self.who}"
        return {"code": self.code, "message": message, "next": self.next, **self.facts}


def following(next_: str, next_is: str = "run") -> str:
    """The line that names the next action."""
    return f"Next: {next_is} `{next_}`."


_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/:@%+=,")


def quote(text: str) -> str:
    """For a shell, so that the next action can be pasted as it stands."""
    if text and all(ch in _PLAIN for ch in text):
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


def pasted(text: str, stand_in: str = "RESOURCE") -> str:
    """A name inside a next action; one too long to paste is stood in for."""
    return quote(text) if len(text) <= 60 else stand_in


def proposing(resource: str) -> str:
    """The next action of whoever may not write: a file is proposed as a file, all else as JSON."""
    form = "--file PATH" if resource.startswith("file:") else "JSON"
    return f"lineclear propose {pasted(resource)} {form}"


def named(agent: str) -> str:
    """An agent's name inside a sentence; those of sub-agents can be long."""
    return shorten(agent, 32)


def shorten(text: str, limit: int = 60) -> str:
    """Quote somebody's words inside our own: one line, bounded, control characters shown."""
    shown = "".join(ch if ch.isprintable() else "\ufffd" for ch in text)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


# -- input ----------------------------------------------------------------------------------------


def bad_resource(text: str, why: str) -> Refusal:
    return Refusal(
        "resource.bad",
        f'"{shorten(text)}" is not a resource: {why}.',
        next_="lineclear claim --help",
        exit_code=USAGE,
        resource=shorten(text, 200),
    )


def unknown_scheme(text: str, scheme: str, known: list[str]) -> Refusal:
    return Refusal(
        "resource.scheme",
        f'"{shorten(text)}" has the unknown scheme "{shorten(scheme, 20)}".',
        who=f"Known: {shorten(', '.join(known), 80)}. "
        "Others are declared in lineclear.toml, [resources] schemes.",
        next_="lineclear config show",
        exit_code=USAGE,
        scheme=shorten(scheme, 40),
        known=known,
    )


def outside_repo(text: str, root: str) -> Refusal:
    return Refusal(
        "resource.outside",
        f'"{shorten(text)}" is outside this repository.',
        who=f"The repository is {shorten(root, 80)}; "
        "declare what lies outside it as memory:NAME or api:NAME.",
        next_="lineclear claim memory:NAME",
        exit_code=NOT_ALLOWED,
        resource=shorten(text, 200),
    )


def bad_value(name: str, text: str, why: str) -> Refusal:
    return Refusal(
        "input.bad",
        f'{name} "{shorten(text)}" is not usable: {why}.',
        next_="lineclear --help",
        exit_code=USAGE,
        name=name,
        given=shorten(text, 200),
    )


# -- claims ---------------------------------------------------------------------------------------


def until(until_ns: int, now: Instant) -> str:
    """When a lease ends, by the clock and from now."""
    left_ms = now.ms_until(until_ns)
    clock = show_wall(now.wall_of(until_ns))[11:16]
    return f"until {clock} UTC (in {show_duration(left_ms)})"


def claim_held(blocker: Blocker, request: Request, now: Instant, count: int) -> Refusal:
    wanted, mode = blocker.wanted.text, request.mode
    every = " ".join(quote(resource.text) for resource in request.resources)
    verb = "waits for" if blocker.ticket else "holds"
    note = f', "{shorten(blocker.note, 20)}"' if blocker.note else ""
    task = f" for T-{blocker.task}" if blocker.task else ""
    until_when = "and comes first" if blocker.ticket else until(blocker.until_ns, now)
    return Refusal(
        "claim.waiting" if blocker.ticket else "claim.held",
        f"{shorten(wanted, 36)} is not yours to take ({mode}).",
        who=f"{named(blocker.agent)} {verb} {shorten(blocker.resource, 36)} ({blocker.mode}) "
        f"{until_when}{task}{note}.",
        next_=f"lineclear claim {every if len(every) <= 80 else pasted(wanted)} --mode {mode} --wait 10m",
        exit_code=HELD,
        resource=wanted,
        holder=blocker.agent,
        held=blocker.resource,
        mode=blocker.mode,
        expires_at=show_wall(now.wall_of(blocker.until_ns)),
        task=f"T-{blocker.task}" if blocker.task else "",
        note=blocker.note,
        blockers=count,
    )


def claim_deadlock(agent: str, wanted: str, cycle: list[Blocker]) -> Refusal:
    waiting = [agent, *(blocker.agent for blocker in cycle)]
    chain = "; ".join(
        f"{named(who)} would wait for {named(blocker.agent)} ({shorten(blocker.wanted.text, 40)})"
        for who, blocker in zip(waiting, cycle, strict=False)
    )
    return Refusal(
        "claim.deadlock",
        f"Waiting for {shorten(wanted)} would never end.",
        who=shorten(chain, 150) + ".",
        next_="lineclear release --all",
        exit_code=HELD,
        resource=wanted,
        cycle=[agent, *(blocker.agent for blocker in cycle)],
        chain=chain,
    )


def claim_timed_out(wanted: str, waited_ms: int, holder: str, until_at: str) -> Refusal:
    return Refusal(
        "claim.timeout",
        f"{shorten(wanted)} did not come free within {show_duration(waited_ms)}.",
        who=f"{named(holder)} still has it, until {until_at[11:16]} UTC.",
        next_="lineclear task next",
        exit_code=TIMED_OUT,
        resource=wanted,
        holder=holder,
        expires_at=until_at,
    )


def claim_not_yours(resource: str, claim: Claim, now: Instant) -> Refusal:
    words = quote(f"please release {shorten(resource, 28)}")
    return Refusal(
        "claim.not_yours",
        f"{shorten(resource)} is not yours to release.",
        who=f"{named(claim.agent)} holds {shorten(claim.resource)} {until(claim.until_ns, now)}.",
        next_=f"lineclear say --to {pasted(claim.agent, 'AGENT')} {words}",
        exit_code=HELD,
        resource=resource,
        holder=claim.agent,
        expires_at=show_wall(now.wall_of(claim.until_ns)),
    )


def claim_not_held(resource: str, inside: list[str]) -> Refusal:
    hint = f"You hold {shorten(', '.join(inside), 100)}, named differently." if inside else "Nobody holds it."
    next_ = f"lineclear release {pasted(inside[0])}" if inside else f"lineclear who {pasted(resource)}"
    return Refusal(
        "claim.not_held",
        f"{shorten(resource)} is not claimed by you.",
        who=hint,
        next_=next_,
        exit_code=NOT_FOUND,
        resource=resource,
        inside=inside,
    )


def ticket_lost(ticket: int) -> Refusal:
    return Refusal(
        "claim.ticket",
        f"Ticket {ticket} is no longer in the line.",
        who="Its waiter was silent for too long, or it left.",
        next_="lineclear",
        exit_code=TIMED_OUT,
        ticket=ticket,
    )


def fence_stale(resource: str, fence: int, other: str, newer: int) -> Refusal:
    return Refusal(
        "fence.stale",
        f"Fence {fence} no longer covers {shorten(resource)}.",
        who=f"{named(other)} was granted it later, under fence {newer}.",
        next_=f"lineclear who {pasted(resource)}",
        exit_code=STALE,
        resource=resource,
        fence=fence,
        holder=other,
        newer_fence=newer,
    )


# -- people, operations, things that are not there ------------------------------------------------


def person_only(what: str, agent: str) -> Refusal:
    return Refusal(
        "person.only",
        f"Only a person may {what}.",
        who=f"You are the agent {named(agent)}.",
        next_="lineclear say --all --urgent TEXT",
        exit_code=NOT_ALLOWED,
        agent=agent,
    )


def operation_differs(key: str) -> Refusal:
    return Refusal(
        "operation.differs",
        f'The operation id "{shorten(key, 60)}" was used before with other arguments.',
        who="A repeat must be word for word; a new command needs a new id.",
        next_="lineclear log",
        exit_code=USAGE,
        key=key,
    )


def not_found(kind: str, name: str, next_: str) -> Refusal:
    what = f'There is no {kind} "{shorten(name)}".'
    return Refusal(f"{kind}.unknown", what, next_=next_, exit_code=NOT_FOUND, name=name)


# -- the command line -----------------------------------------------------------------------------


def bad_usage(command: str, message: str) -> Refusal:
    what = f"{command}: {shorten(message, 160)}."
    return Refusal("usage", what, next_=f"{command} --help", exit_code=USAGE, command=command)


def bad_arguments(tool: str, message: str, example: str) -> Refusal:
    """For a tool, whose arguments have other names than the options of its verb."""
    what = f"{tool}: {shorten(message, 160)}."
    return Refusal("usage", what, next_=example, next_is="call", exit_code=USAGE, command=tool)


def unknown_verb(typed: str, close: str) -> Refusal:
    return Refusal(
        "usage.verb",
        f'There is no verb "{shorten(typed, 60)}".',
        who=f'Did you mean "{close}"?' if close else "",
        next_=f"lineclear {close} --help" if close else "lineclear --help",
        exit_code=USAGE,
        typed=shorten(typed, 200),
        close=close,
    )


def our_bug(error: str, place: str) -> Refusal:
    return Refusal(
        "bug",
        "This is a bug in lineclear; your command was not carried out, or its outcome is unknown.",
        who=f"{shorten(error, 120)} ({place}); LINECLEAR_DEBUG=1 shows more.",
        next_="lineclear audit",
        error=shorten(error, 500),
        place=place,
    )


def no_commit(path: str) -> Refusal:
    return Refusal(
        "repo.empty",
        f"{shorten(path, 100)} has no commit yet, so its clones share nothing to be known by.",
        next_="git commit --allow-empty -m 'first commit'",
        exit_code=NOT_FOUND,
        path=path,
    )


def team_store_unknown(repo_id: str) -> Refusal:
    return Refusal(
        "store.team",
        "This repository is coordinated by a team's store, which this clone does not know yet.",
        who=f'lineclear.toml calls it "{shorten(repo_id, 60)}"; ask a colleague for the URL.',
        next_="lineclear init --store postgresql://HOST/DATABASE",
        exit_code=NOT_FOUND,
        repo_id=repo_id,
    )
