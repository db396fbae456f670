"""Every refusal we can give, with its words: what, who and until when, the one next action.

A refusal is an expected answer, read by a model and by a person. Nothing here decides anything.
"""

from __future__ import annotations

from lineclear.core.instants import show_duration, show_wall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.core.claims import Blocker, Request
    from lineclear.core.instants import Instant
    from lineclear.core.tables import Claim

# Exit codes of the command line (design, section 13).
FAILED, USAGE, HELD, NOT_ALLOWED, NOT_FOUND, FINDINGS, STALE, TIMED_OUT, BUDGET = 1, 2, 3, 4, 5, 6, 7, 8, 9


class Refusal(Exception):
    """A clear no: a stable code, up to three lines of words, and the facts as data."""

    __slots__ = ("code", "exit_code", "facts", "next", "what", "who")

    def __init__(
        self,
        code: str,
        what: str,
        *,
        who: str = "",
        next_: str = "",
        exit_code: int = FAILED,
        **facts: Any,
    ) -> None:
        super().__init__(what)
        self.code = code
        self.what = what
        self.who = who
        self.next = next_
        self.exit_code = exit_code
        self.facts = facts

    def __str__(self) -> str:
        lines = [self.what]
        if self.who:
            lines.append(self.who)
        if self.next:
            lines.append(f"Next: run `{self.next}`.")
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        message = self.what if not self.who else f"{self.what} {self.who}"
        return {"code": self.code, "message": message, "next": self.next, **self.facts}


_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/:@%+=,")


def quote(text: str) -> str:
    """For a shell, so that the next action can be pasted as it stands."""
    if text and all(ch in _PLAIN for ch in text):
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


def shorten(text: str, limit: int = 80) -> str:
    """Quote somebody's words inside our own: one line, bounded, control characters shown."""
    shown = "".join(ch if ch.isprintable() else "\ufffd" for ch in text)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


# -- input ------------------------------------------------------------------------------------


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
        who=f"Known: {', '.join(known)}. Others are declared in lineclear.toml, [resources] schemes.",
        next_="lineclear config show",
        exit_code=USAGE,
        scheme=shorten(scheme, 40),
        known=known,
    )


def outside_repo(text: str, root: str) -> Refusal:
    return Refusal(
        "resource.outside",
        f'"{shorten(text)}" is outside this repository.',
        who=f"The repository is {shorten(root, 100)}; declare what lies outside it as memory:NAME or api:NAME.",
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


# -- the store --------------------------------------------------------------------------------


def _store(code: str, what: str, path: str, why: str, next_: str, exit_code: int = FAILED) -> Refusal:
    return Refusal(code, what, who=shorten(why, 160), next_=next_, exit_code=exit_code, path=path, reason=why)


def store_missing(path: str) -> Refusal:
    what = "This repository has no lineclear store yet."
    return Refusal("store.missing", what, next_="lineclear init", exit_code=NOT_FOUND, path=path)


def store_busy(path: str, holder: str, limit_s: float) -> Refusal:
    return Refusal(
        "store.busy",
        f"The store could not be written within {limit_s:g} s.",
        who=f"{holder} holds its gate; if it is stopped, continue or end it.",
        next_="lineclear doctor",
        exit_code=TIMED_OUT,
        path=path,
        holder=holder,
    )


def store_locked(path: str, why: str) -> Refusal:
    what = "The store is locked by a program that is not lineclear."
    return _store("store.locked", what, path, why, "lineclear doctor", TIMED_OUT)


def store_full(path: str, why: str) -> Refusal:
    what = "The disk of the store is full; nothing was written."
    return _store("store.full", what, path, why, "lineclear doctor")


def store_read_only(path: str, why: str) -> Refusal:
    what = "The store cannot be written from here; nothing was changed."
    return _store("store.read_only", what, path, why, "lineclear doctor", NOT_ALLOWED)


def store_unreadable(path: str, why: str) -> Refusal:
    return _store("store.unreadable", "The store cannot be opened.", path, why, "lineclear doctor")


def store_damaged(path: str, why: str) -> Refusal:
    what = "The store is damaged or is not a lineclear store."
    return _store("store.damaged", what, path, why, "lineclear doctor")


def store_failed(path: str, why: str) -> Refusal:
    what = "The store failed; whether the last write happened is unknown."
    return _store("store.failed", what, path, why, "lineclear audit")


def store_older(path: str, found: int, needed: int) -> Refusal:
    what = f"The store has schema {found}; this program needs {needed}."
    return Refusal("store.older", what, next_="lineclear init", path=path, found=found, needed=needed)


def store_newer(path: str, found: int, known: int) -> Refusal:
    return Refusal(
        "store.newer",
        f"The store has schema {found}; this program knows up to {known}.",
        who="A newer lineclear has been here.",
        next_="pip install --upgrade lineclear",
        exit_code=NOT_ALLOWED,
        path=path,
        found=found,
        known=known,
    )


def store_not_empty(path: str) -> Refusal:
    what = "The target store is not empty; nothing was copied."
    return Refusal("store.not_empty", what, next_="lineclear db info", exit_code=NOT_ALLOWED, path=path)


def store_on_network(path: str, file_system: str) -> Refusal:
    return Refusal(
        "store.network",
        f"The store would lie on a network file system ({file_system}), which SQLite is not safe on.",
        next_="lineclear init --store postgresql://HOST/DATABASE",
        exit_code=NOT_ALLOWED,
        path=path,
        file_system=file_system,
    )


# -- claims -----------------------------------------------------------------------------------


def _until(until_ns: int, now: Instant) -> str:
    left_ms = now.ms_until(until_ns)
    clock = show_wall(now.wall_of(until_ns))[11:16]
    return f"until {clock} UTC (in {show_duration(left_ms)})"


def claim_held(blocker: Blocker, request: Request, now: Instant, count: int) -> Refusal:
    wanted, mode = blocker.wanted.text, request.mode
    every = " ".join(quote(resource.text) for resource in request.resources)
    verb = "waits for" if blocker.ticket else "holds"
    note = f', "{shorten(blocker.note, 40)}"' if blocker.note else ""
    task = f" for T-{blocker.task}" if blocker.task else ""
    return Refusal(
        "claim.waiting" if blocker.ticket else "claim.held",
        f"{shorten(wanted)} is not yours to take ({mode}).",
        who=f"{blocker.agent} {verb} {shorten(blocker.resource)} ({blocker.mode}) "
        f"{_until(blocker.until_ns, now)}{task}{note}.",
        next_=f"lineclear claim {every if len(every) <= 120 else quote(wanted)} --mode {mode} --wait 10m",
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
    steps = [(agent, cycle[0].wanted.text), *((b.agent, n.wanted.text) for b, n in zip(cycle, cycle[1:], strict=False))]
    chain = "; ".join(
        f"{who} would wait for {blocker.agent} ({shorten(what, 40)})"
        for (who, what), blocker in zip(steps, cycle, strict=True)
    )
    return Refusal(
        "claim.deadlock",
        f"Waiting for {shorten(wanted)} would never end.",
        who=shorten(chain, 160) + ".",
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
        who=f"{holder} still has it, until {until_at[11:16]} UTC.",
        next_="lineclear task next",
        exit_code=TIMED_OUT,
        resource=wanted,
        holder=holder,
        expires_at=until_at,
    )


def claim_not_yours(resource: str, claim: Claim, now: Instant) -> Refusal:
    return Refusal(
        "claim.not_yours",
        f"{shorten(resource)} is not yours to release.",
        who=f"{claim.agent} holds {shorten(claim.resource)} {_until(claim.until_ns, now)}.",
        next_=f"lineclear say --to {claim.agent} 'please release {resource}'",
        exit_code=HELD,
        resource=resource,
        holder=claim.agent,
        expires_at=show_wall(now.wall_of(claim.until_ns)),
    )


def claim_not_held(resource: str, inside: list[str]) -> Refusal:
    hint = f"You hold {shorten(', '.join(inside), 100)}, named differently." if inside else "Nobody holds it."
    next_ = f"lineclear release {quote(inside[0])}" if inside else f"lineclear who {quote(resource)}"
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
        who=f"{other} was granted it later, under fence {newer}.",
        next_=f"lineclear who {quote(resource)}",
        exit_code=STALE,
        resource=resource,
        fence=fence,
        holder=other,
        newer_fence=newer,
    )


# -- people, operations, things that are not there --------------------------------------------


def person_only(what: str, agent: str) -> Refusal:
    return Refusal(
        "person.only",
        f"Only a person may {what}.",
        who=f"You are the agent {agent}.",
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


# -- tasks ------------------------------------------------------------------------------------


def task_taken(task: str, agent: str, until_ns: int, now: Instant) -> Refusal:
    return Refusal(
        "task.taken",
        f"{task} is taken.",
        who=f"{agent} works on it {_until(until_ns, now)}.",
        next_="lineclear task next",
        exit_code=HELD,
        task=task,
        holder=agent,
        expires_at=show_wall(now.wall_of(until_ns)),
    )


def task_not_yours(task: str, agent: str, until_ns: int, now: Instant) -> Refusal:
    return Refusal(
        "task.not_yours",
        f"{task} is not yours to end.",
        who=f"{agent} works on it {_until(until_ns, now)}.",
        next_=f"lineclear say --to {agent} TEXT",
        exit_code=HELD,
        task=task,
        holder=agent,
        expires_at=show_wall(now.wall_of(until_ns)),
    )


def task_wrong_state(task: str, state: str, verb: str) -> Refusal:
    return Refusal(
        "task.state",
        f'{task} is {state}; "{verb}" does not apply to it.',
        next_=f"lineclear task show {task}",
        exit_code=STALE,
        task=task,
        state=state,
    )


def task_not_ready(task: str, waits_for: list[str]) -> Refusal:
    return Refusal(
        "task.not_ready",
        f"{task} cannot be taken yet.",
        who=f"It comes after {shorten(', '.join(waits_for), 120)}.",
        next_="lineclear task next",
        exit_code=HELD,
        task=task,
        waits_for=waits_for,
    )


def task_cycle(cycle: list[int]) -> Refusal:
    chain = [f"T-{number}" for number in cycle]
    return Refusal(
        "task.cycle",
        f"{chain[0]} cannot come after {chain[1]}: none of them would ever be ready.",
        who=f"The circle is {shorten(' -> '.join(chain), 140)}.",
        next_=f"lineclear task show {chain[1]}",
        exit_code=USAGE,
        cycle=chain,
    )


def import_cycle(refs: list[str]) -> Refusal:
    return Refusal(
        "task.cycle",
        "The list cannot be imported: some tasks wait for each other.",
        who=f"The circle is {shorten(' -> '.join(refs), 140)}.",
        next_="lineclear task import --help",
        exit_code=USAGE,
        cycle=refs,
    )


def task_is_same(task: str, other: str) -> Refusal:
    return Refusal(
        "task.same",
        f"{task} is itself the same as {other}.",
        next_=f"lineclear task show {other}",
        exit_code=USAGE,
        task=task,
        same_as=other,
    )


def no_task(ready: int, waiting: int, busy: int) -> Refusal:
    why = [f"{ready} need skills you have not named"] if ready else []
    why += [f"{waiting} wait for others"] if waiting else []
    why += [f"{busy} are being worked on"] if busy else []
    return Refusal(
        "task.none",
        "There is no task for you now.",
        who=f"Of the open ones {', '.join(why)}." if why else "The list is empty.",
        next_="lineclear task list",
        exit_code=NOT_FOUND,
        ready=ready,
        waiting=waiting,
        busy=busy,
    )


def task_needs(task: str, missing: list[str]) -> Refusal:
    return Refusal(
        "task.needs",
        f"{task} needs what you have not said you are.",
        who=f"Missing: {shorten(', '.join(missing), 120)}.",
        next_=f"lineclear task next {task} --can {quote(missing[0])}",
        exit_code=NOT_ALLOWED,
        task=task,
        missing=missing,
    )


# -- values and proposals ---------------------------------------------------------------------


def value_stale(key: str, given: int | None, newest: int, agent: str) -> Refusal:
    by = f", written by {agent}" if agent else ""
    if given is None:
        what = f'The value "{shorten(key)}" is not yours alone; say which version you read.'
    else:
        what = f'The value "{shorten(key)}" has moved on from version {given}; nothing was written.'
    return Refusal(
        "value.stale",
        what,
        who=f"Version {newest} is current{by}.",
        next_=f"lineclear value get {quote(key)}" if key else "lineclear value list",
        exit_code=STALE,
        key=key,
        given=given,
        version=newest,
        holder=agent,
    )


def value_exists(key: str, version: int, agent: str) -> Refusal:
    return Refusal(
        "value.exists",
        f'The value "{shorten(key)}" exists already; nothing was written.',
        who=f"{agent} wrote version {version}.",
        next_=f"lineclear value get {quote(key)}",
        exit_code=STALE,
        key=key,
        version=version,
        holder=agent,
    )


def write_held(resource: str, claim: Claim, now: Instant) -> Refusal:
    return Refusal(
        "write.held",
        f"{shorten(resource)} is not yours to write.",
        who=f"{claim.agent} holds {shorten(claim.resource)} {_until(claim.until_ns, now)}.",
        next_=f"lineclear propose {quote(resource)} JSON",
        exit_code=HELD,
        resource=resource,
        holder=claim.agent,
        expires_at=show_wall(now.wall_of(claim.until_ns)),
    )


def lock_first(resource: str) -> Refusal:
    return Refusal(
        "write.unlocked",
        f"{shorten(resource)} is shared by locking; you do not hold it.",
        next_=f"lineclear claim {quote(resource)} --mode exclusive",
        exit_code=NOT_ALLOWED,
        resource=resource,
    )


def read_only(resource: str) -> Refusal:
    return Refusal(
        "write.read_only",
        f"{shorten(resource)} is read-only for agents.",
        who="lineclear.toml says so.",
        next_=f"lineclear who {quote(resource)}",
        exit_code=NOT_ALLOWED,
        resource=resource,
    )


def not_the_writer(resource: str, owner: str) -> Refusal:
    return Refusal(
        "write.not_owner",
        f"{shorten(resource)} has a single writer, and it is not you.",
        who=f"{owner} writes it." if owner else "Nobody owns it now.",
        next_=f"lineclear propose {quote(resource)} JSON",
        exit_code=NOT_ALLOWED,
        resource=resource,
        holder=owner,
    )


def not_the_owner(resource: str, owner: str) -> Refusal:
    return Refusal(
        "proposal.not_owner",
        f"Deciding about {shorten(resource)} is not yours.",
        who=f"{owner} decides." if owner else "Nobody owns it now; a person may decide.",
        next_="lineclear proposal list",
        exit_code=NOT_ALLOWED,
        resource=resource,
        holder=owner,
    )


def proposal_decided(number: int, state: str, by: str) -> Refusal:
    return Refusal(
        "proposal.decided",
        f"Proposal {number} is decided: {state}.",
        who=f"{by} decided it.",
        next_=f"lineclear proposal show {number}",
        exit_code=STALE,
        proposal=number,
        state=state,
        holder=by,
    )


def proposal_out_of_order(number: int, first: int, resource: str) -> Refusal:
    return Refusal(
        "proposal.order",
        f"Proposal {number} cannot be accepted yet.",
        who=f"Proposal {first} for {shorten(resource)} is older and still open.",
        next_=f"lineclear proposal show {first}",
        exit_code=HELD,
        proposal=number,
        first=first,
    )


def proposal_stale(number: int, resource: str, base: int, newest: int) -> Refusal:
    return Refusal(
        "proposal.stale",
        f"Proposal {number} is based on an old version; nothing was written.",
        who=f"It starts from version {base} of {shorten(resource)}, {newest} is current.",
        next_=f"lineclear proposal reject {number} --reason 'please base it on version {newest}'",
        exit_code=STALE,
        proposal=number,
        base=base,
        version=newest,
    )


def copy_exists(copy: str) -> Refusal:
    return Refusal(
        "copy.exists",
        f'There is a copy "{shorten(copy)}" already.',
        next_=f"lineclear value merge {quote(copy)}",
        exit_code=STALE,
        copy=copy,
    )


def copy_conflicts(copy: str, conflicts: list[dict[str, Any]]) -> Refusal:
    first = ", ".join(f"{c['key']} at {c['pointer'] or 'the whole value'}" for c in conflicts[:3])
    return Refusal(
        "copy.conflict",
        f'The copy "{shorten(copy)}" cannot be merged: both sides changed the same things. Nothing was written.',
        who=f"{len(conflicts)} in conflict: {shorten(first, 120)}.",
        next_=f"lineclear value get {quote(str(conflicts[0]['key']))}",
        exit_code=STALE,
        copy=copy,
        conflicts=conflicts,
    )


# -- the command line -------------------------------------------------------------------------


def bad_usage(command: str, message: str) -> Refusal:
    what = f"{command}: {shorten(message, 160)}."
    return Refusal("usage", what, next_=f"{command} --help", exit_code=USAGE, command=command)


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
