"""What must hold after every step, whatever four agents do: judged from log and rows by a second reading.

Overlap is not asked of the code: each resource of this small repository is a set of places, and two
resources overlap when they have a place in common.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lineclear.app import claims, tasks, values
from lineclear.app.agents import membership
from lineclear.app.agents.heartbeat import renew
from lineclear.app.ports import Caller
from lineclear.core.log.tables import CLAIM, LOG, TASK, TASK_DEP, VALUE, WAIT, Claim, LogEntry, Wait
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.words.refusals import Refusal
from tests.world import HOUR_MS, MINUTE_MS, World

if TYPE_CHECKING:
    from lineclear.app.ports import View

LOGIN, CHECK, LOGOUT, REST = "a.py Login", "a.py Login.check", "a.py Logout", "a.py rest"
A = {LOGIN, CHECK, LOGOUT, REST}
PLACES: dict[str, set[str]] = {
    "file:./": A | {"b.py", "sub/c.sql", "docs/d.md", "docs/d.sql"},
    "file:src/": A | {"b.py", "sub/c.sql"},
    "file:src/a.py": A,
    "file:src/b.py": {"b.py"},
    "file:src/sub/": {"sub/c.sql"},
    "file:src/*.py": A | {"b.py"},
    "file:**/*.sql": {"sub/c.sql", "docs/d.sql"},
    "file:docs/": {"docs/d.md", "docs/d.sql"},
    "symbol:src/a.py#Login": {LOGIN, CHECK},
    "symbol:src/a.py#Login.check": {CHECK},
    "symbol:src/a.py#Logout": {LOGOUT},
    "row:users": {"users", "users 1", "users 2"},
    "row:users/*": {"users 1", "users 2"},
    "row:users/1": {"users 1"},
}
NAMES = ("ann", "ann/one", "bob", "cat")
MODES = ("shared", "intent", "exclusive")
TREES = ("main", "w1")
VERBS = ("done", "branch", "fail", "cancel", "reopen", "same", "link", "unlink")

AGENTS = st.sampled_from(NAMES)
RESOURCES = st.sampled_from(sorted(PLACES))
SEVERAL = st.lists(RESOURCES, min_size=1, max_size=2)
LEASES = st.sampled_from((1_000, 20_000, 10 * MINUTE_MS))
WANTED = st.fixed_dictionaries(
    {"mode": st.sampled_from(MODES), "tree": st.sampled_from(TREES), "ttl_ms": LEASES}
)
# Which one of those that are there: the remainder decides.
PLACE = st.integers(0, 11)


def overlap(first: str, second: str) -> bool:
    return bool(PLACES[first] & PLACES[second])


def related(first: str, second: str) -> bool:
    return first == second or first.startswith(f"{second}/") or second.startswith(f"{first}/")


def goes_beside(asked: Claim | Wait, held: Claim | Wait, resource: str) -> bool:
    """May the one be granted while the other is held? By the words of the design, not by the code."""
    if "exclusive" not in (asked.mode, held.mode):
        return True
    over_copies = asked.mode == "exclusive" and held.mode == "intent" and asked.tree != held.tree
    return over_copies and not resource.startswith("row:")


def in_the_way(wait: Wait, text: str, claim: Claim) -> bool:
    if related(wait.agent, claim.agent) or not overlap(text, claim.resource):
        return False
    return not goes_beside(wait, claim, text)


def keeps(wait: Wait, text: str, claim: Claim) -> bool:
    """The waiter has this part of what it wants already; it is renewed past others."""
    is_strong = MODES.index(claim.mode) >= MODES.index(wait.mode)
    return claim.agent == wait.agent and claim.resource == text and is_strong


def goes_first(other: Wait, wait: Wait, text: str) -> bool:
    if related(wait.agent, other.agent) or goes_beside(other, wait, text):
        return False
    return any(overlap(text, theirs) for theirs in other.resources.split("\n"))


class Rules(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.read_up_to = 0
        self.tickets: list[tuple[str, int, tuple[str, ...], dict[str, Any]]] = []
        self.fences: list[tuple[str, int]] = []
        self.holder_of: dict[int, str] = {}
        self.bonds = 0
        for after in ([], ["T-1"], []):
            draft = TaskDraft("1", "task", after=after, scope=["src/"])
            tasks.add(self.world.store, Caller("pat", is_person=True), draft, attempts_max=2)

    # -- reading ------------------------------------------------------------------------------

    def entries(self) -> list[LogEntry]:
        return self.world.store.read(lambda view: view.scan(LOG, "key"))

    def live_claims(self) -> list[Claim]:
        now_ns = self.world.clock().tick_ns
        rows = self.world.store.read(lambda view: view.scan(CLAIM, "key"))
        return [row for row in rows if row.until_ns > now_ns and row.bond not in self.world.liveness.dead]

    def live_waits(self) -> list[Wait]:
        now_ns = self.world.clock().tick_ns
        rows = self.world.store.read(lambda view: view.scan(WAIT, "key"))
        return [row for row in rows if row.until_ns > now_ns and row.bond not in self.world.liveness.dead]

    def attempt(self, verb: Callable[[], Any], *, may_leave: tuple[str, ...] = ()) -> Any:
        """What the verb answers, or None; a refusal leaves nothing but what lapsed by itself."""
        before = len(self.entries())
        try:
            return verb()
        except Refusal:
            left = {entry.kind for entry in self.entries()[before:]}
            assert left <= set(may_leave)
            return None

    # -- claims -------------------------------------------------------------------------------

    def granted_fairly(self, verb: Callable[[], Any], ticket: int = 0) -> Any:
        """Run the verb; nobody who stood before may be passed by a new claim that it would wait for."""
        before = [wait for wait in self.live_waits() if not ticket or wait.ticket < ticket]
        known = {(claim.agent, claim.resource, claim.fence) for claim in self.live_claims()}
        answer = self.attempt(verb)
        for claim in self.live_claims() if answer is not None else ():
            if (claim.agent, claim.resource, claim.fence) in known:
                continue
            for wait in before:
                meets = any(overlap(text, claim.resource) for text in wait.resources.split("\n"))
                stranger = not related(wait.agent, claim.agent)
                assert not (meets and stranger and not goes_beside(wait, claim, claim.resource))
        return answer

    def new_bond(self) -> str:
        self.bonds += 1
        return f"bond-{self.bonds}"

    @rule(agent=AGENTS, texts=SEVERAL, wanted=WANTED, bound=st.booleans())
    def ask(self, agent: str, texts: list[str], wanted: dict[str, Any], bound: bool) -> None:
        bond = self.new_bond() if bound else ""
        self.granted_fairly(lambda: self.world.ask(agent, *texts, bond=bond, **wanted))

    @rule(agent=AGENTS, texts=SEVERAL, wanted=WANTED)
    def stand_in_line(self, agent: str, texts: list[str], wanted: dict[str, Any]) -> None:
        bond, was_stuck = self.new_bond(), self.is_stuck()
        answer = self.granted_fairly(
            lambda: self.world.stand_in_line(agent, *texts, ticket_bond=bond, **wanted)
        )
        if answer is not None and "ticket" in answer:
            assert was_stuck or not self.is_stuck()
            self.tickets.append((agent, answer["ticket"], tuple(texts), wanted))

    def is_stuck(self) -> bool:
        """Do some wait for each other in a circle? A lease that ends may close one, asking may not."""
        held, line = self.live_claims(), self.live_waits()
        arrows: set[tuple[str, str]] = set()
        for wait in line:
            for text in wait.resources.split("\n"):
                arrows |= {(wait.agent, claim.agent) for claim in held if in_the_way(wait, text, claim)}
                if not any(keeps(wait, text, claim) for claim in held):
                    ahead = [other for other in line if other.ticket < wait.ticket]
                    arrows |= {(wait.agent, other.agent) for other in ahead if goes_first(other, wait, text)}
        return has_circle(arrows)

    @rule(place=PLACE)
    def try_ticket(self, place: int) -> None:
        if self.tickets:
            agent, ticket, texts, wanted = self.tickets[place % len(self.tickets)]
            self.granted_fairly(lambda: self.world.try_ticket(agent, ticket, *texts, **wanted), ticket)

    @rule(place=PLACE)
    def leave_line(self, place: int) -> None:
        if self.tickets:
            agent, ticket, _, _ = self.tickets.pop(place % len(self.tickets))
            claims.leave_line(self.world.store, Caller(agent), ticket, "gave up")

    @rule(place=PLACE, stranger=st.none() | AGENTS)
    def release(self, place: int, stranger: str | None) -> None:
        held = self.live_claims()
        if held:
            claim = held[place % len(held)]
            agent = stranger or claim.agent
            self.attempt(lambda: self.world.release(agent, claim.resource))
            kept = {(other.agent, other.resource) for other in self.live_claims()}
            assert ((claim.agent, claim.resource) in kept) == (agent != claim.agent)

    @rule(agent=AGENTS)
    def release_everything(self, agent: str) -> None:
        self.world.release(agent, everything=True)

    @rule(text=RESOURCES, wanted=WANTED)
    def take_over(self, text: str, wanted: dict[str, Any]) -> None:
        world, caller = self.world, Caller("pat", is_person=True)
        claims.take_over(world.store, world.liveness, caller, world.request("pat", text, **wanted))

    @rule(agent=AGENTS)
    def beat(self, agent: str) -> None:
        before = len(self.entries())
        renew(self.world.store, Caller(agent))
        assert len(self.entries()) == max(before, 1)

    @rule(agent=AGENTS)
    def leave(self, agent: str) -> None:
        self.attempt(lambda: membership.leave(self.world.store, Caller(agent), agent, "done"))

    @rule(duration_ms=st.sampled_from((1, 999, 1_000, 5_000, 15_000, 20_000, HOUR_MS)))
    def time_passes(self, duration_ms: int) -> None:
        self.world.clock.advance(duration_ms)

    @rule(place=PLACE)
    def a_process_dies(self, place: int) -> None:
        if self.bonds:
            self.world.liveness.dead.add(f"bond-{place % self.bonds + 1}")

    # -- tasks and values ---------------------------------------------------------------------

    def task_at(self, place: int) -> int:
        """The number of one of the tasks; there always are some."""
        return place % len(self.world.store.read(lambda view: view.scan(TASK, "key"))) + 1

    @rule(agent=AGENTS, after=st.sets(PLACE, max_size=2), most=st.integers(1, 2))
    def add_task(self, agent: str, after: set[int], most: int) -> None:
        refs = sorted({f"T-{self.task_at(place)}" for place in after})
        draft = TaskDraft("1", "task", after=refs, scope=["src/"])
        tasks.add(self.world.store, Caller(agent), draft, attempts_max=most)

    @rule(agent=AGENTS, place=st.none() | PLACE, lease_ms=LEASES)
    def take(self, agent: str, place: int | None, lease_ms: int) -> None:
        world, number = self.world, 0 if place is None else self.task_at(place)
        self.attempt(
            lambda: tasks.take(world.store, world.liveness, Caller(agent), number=number, lease_ms=lease_ms),
            may_leave=("TaskReturned", "TaskFailed"),
        )

    @rule(
        who=st.sampled_from(("the holder", "the holder", "pat", *NAMES)),
        place=PLACE,
        other=PLACE,
        verb=st.sampled_from(VERBS),
    )
    def move(self, who: str, place: int, other: int, verb: str) -> None:
        number, second = self.task_at(place), self.task_at(other)
        name = self.holder_of.get(number, "bob") if who == "the holder" else who
        store, caller = self.world.store, Caller(name, is_person=name == "pat")
        verbs: dict[str, Callable[[], Any]] = {
            "done": lambda: tasks.finish(store, caller, number),
            "branch": lambda: tasks.finish(store, caller, number, branch="b"),
            "fail": lambda: tasks.fail(store, caller, number, "no"),
            "cancel": lambda: tasks.cancel(store, caller, number, "no"),
            "reopen": lambda: tasks.reopen(store, caller, number, "yes"),
            "same": lambda: tasks.mark_same(store, caller, number, second),
            "link": lambda: tasks.edit(store, caller, number, {}, after=[f"T-{second}"]),
            "unlink": lambda: tasks.edit(store, caller, number, {}, not_after=[f"T-{second}"]),
        }
        self.attempt(verbs[verb])

    @rule(agent=AGENTS, base=st.sampled_from(("none", "new", "current", "old")), is_delete=st.booleans())
    def write(self, agent: str, base: str, is_delete: bool) -> None:
        store = self.world.store
        before = store.read(lambda view: view.get(VALUE, ("plan",)))
        newest = before.version if before is not None else 0
        version = {"none": None, "new": 0, "current": newest, "old": newest - 1}[base]

        def verb() -> Any:
            if is_delete:
                return values.delete(store, self.world.liveness, Caller(agent), [], "plan", version=version)
            return values.put(
                store, self.world.liveness, Caller(agent), [], "plan", f'"{agent}"', version=version
            )

        answer = self.attempt(verb)
        if answer is not None:
            is_there = before is not None and not before.deleted
            assert answer["version"] == newest + 1
            assert version in (None, newest) or (version == 0 and not is_there)
            assert version is not None or not is_there or (before is not None and before.agent == agent)

    # -- what must hold -----------------------------------------------------------------------

    @invariant()
    def no_two_live_claims_exclude_each_other(self) -> None:
        live = sorted(self.live_claims(), key=lambda claim: claim.fence)
        for place, later in enumerate(live):
            for earlier in live[:place]:
                if not related(earlier.agent, later.agent) and overlap(earlier.resource, later.resource):
                    assert goes_beside(later, earlier, later.resource), (earlier.as_dict(), later.as_dict())

    @invariant()
    def fences_over_a_place_only_grow(self) -> None:
        self.follow_log()

    def follow_log(self) -> None:
        """Check each new event against all before it: fences, and the holders of tasks."""
        for entry in self.entries():
            if entry.position <= self.read_up_to:
                continue
            self.read_up_to = entry.position
            if entry.kind == "ClaimGranted" and '"mode":"exclusive"' in entry.body:
                older = [fence for text, fence in self.fences if overlap(text, entry.subject)]
                assert entry.position > max(older, default=0)
                self.fences.append((entry.subject, entry.position))
            self.follow_task(entry)

    def follow_task(self, entry: LogEntry) -> None:
        """One holder from the moment a task is taken until it is given back or ends."""
        if not entry.subject.startswith("T-"):
            return
        number = int(entry.subject.removeprefix("T-"))
        if entry.kind == "TaskTaken":
            assert number not in self.holder_of
            self.holder_of[number] = entry.actor
        elif entry.kind not in ("TaskAdded", "TaskEdited", "TaskLinked", "TaskNoted"):
            self.holder_of.pop(number, None)

    @invariant()
    def every_taken_task_has_one_holder_and_counts_what_it_waits_for(self) -> None:
        self.follow_log()

        def look(view: View) -> None:
            rows = {task.id: task for task in view.scan(TASK, "key")}
            taken = {task.id: task.agent for task in rows.values() if task.state == "taken"}
            assert taken == self.holder_of
            for task in rows.values():
                deps = [link.dep for link in view.scan(TASK_DEP, "key", (task.id,))]
                assert task.unmet == sum(rows[dep].state not in ("merged", "accepted") for dep in deps)
                assert task.attempt <= task.attempts_max or task.state != "taken"

        self.world.store.read(look)

    @invariant()
    def tasks_never_wait_in_a_circle(self) -> None:
        links = self.world.store.read(lambda view: view.scan(TASK_DEP, "key"))
        assert not has_circle({(link.task, link.dep) for link in links})

    @invariant()
    def the_log_tells_the_truth(self) -> None:
        assert self.world.findings() == []


def has_circle(arrows: set[tuple[Any, Any]]) -> bool:
    """Take away whoever waits for nobody until nothing changes; what is left goes round."""
    left = set(arrows)
    while True:
        waiting = {start for start, _ in left}
        kept = {(start, end) for start, end in left if end in waiting}
        if kept == left:
            return bool(left)
        left = kept


TestRules = Rules.TestCase
TestRules.settings = settings(max_examples=60, stateful_step_count=50)


# -- long walks: more of what rarely happens, at the price of long examples ---------------------


def one_step(dice: random.Random, machine: Rules) -> None:
    agent, place = dice.choice(NAMES), dice.randrange(12)
    texts = dice.choices(sorted(PLACES), k=dice.choice((1, 1, 2)))
    lease_ms = dice.choice((1_000, 20_000, 10 * MINUTE_MS))
    wanted = {"mode": dice.choice(MODES), "tree": dice.choice(TREES), "ttl_ms": lease_ms}
    steps: list[tuple[int, Callable[[], None]]] = [
        (5, lambda: machine.ask(agent, texts, wanted, place == 0)),
        (5, lambda: machine.stand_in_line(agent, texts, wanted)),
        (3, lambda: machine.try_ticket(place)),
        (1, lambda: machine.leave_line(place)),
        (3, lambda: machine.release(place, dice.choice((None, None, agent)))),
        (1, lambda: machine.take_over(texts[0], wanted)),
        (1, lambda: machine.beat(agent)),
        (1, lambda: machine.leave(agent)),
        (3, lambda: machine.time_passes(dice.choice((1, 999, 1_000, 5_000, 15_000)))),
        (1, lambda: machine.a_process_dies(place)),
        (
            2,
            lambda: machine.add_task(
                agent, set(dice.sample(range(6), k=dice.randrange(3))), dice.choice((1, 2))
            ),
        ),
        (6, lambda: machine.take(agent, dice.choice((None, place)), lease_ms)),
        (
            8,
            lambda: machine.move(
                dice.choice(("the holder", "pat", agent)), place, dice.randrange(12), dice.choice(VERBS)
            ),
        ),
        (2, lambda: machine.write(agent, dice.choice(("none", "new", "current", "old")), place < 3)),
    ]
    weights, verbs = zip(*steps, strict=True)
    dice.choices(verbs, weights)[0]()


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_the_rules_hold_on_long_walks(seed: int) -> None:
    dice, machine = random.Random(seed), Rules()
    for _ in range(60):
        one_step(dice, machine)
        machine.no_two_live_claims_exclude_each_other()
        machine.fences_over_a_place_only_grow()
        machine.every_taken_task_has_one_holder_and_counts_what_it_waits_for()
        machine.tasks_never_wait_in_a_circle()
    machine.the_log_tells_the_truth()
