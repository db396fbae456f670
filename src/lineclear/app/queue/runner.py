"""The queue's runner: builds the stack, has it checked, lands what passes, sends back what does not.

It keeps no state that matters: candidates, verdicts and landings are in the log, and a successor of a killed
runner goes on from there. One round looks, lands, blames, builds and asks, in this order; each is short.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.queue import candidates as queue
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import CANDIDATE, LANDING, TASK, split_ids, split_names
from lineclear.core.queue import landing_results as words
from lineclear.core.queue.candidates import (
    APPROVED,
    BY_CHECK,
    BY_CONFLICT,
    BY_GATE,
    BY_GONE,
    LANDED,
    LIVE,
    STOPPED,
    WAITING,
    show_number,
)
from lineclear.core.queue.commit_gate import tell
from lineclear.core.queue.order import in_order
from lineclear.core.queue.stack import (
    GREEN,
    RED,
    RUNNING,
    UNKNOWN,
    Search,
    highest_green,
    next_levels,
    useless,
)
from lineclear.core.queue.stack import culprit as find_culprit
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.app.queue.ports import CheckPool, QueueGit
    from lineclear.app.queue.stacking import Level
    from lineclear.core.log.tables import Candidate, Landing, Task
    from lineclear.core.queue.checks import Check

    Tell = Callable[["QueueNews"], None]

# How long a landing that is in a person's way is left alone before it is tried again.
RETRY_NS = 5_000_000_000
# A partner is looked for among so many of the newest landings.
MOST_LANDED = 1_000
WAIT_S = 1.0


@dataclass(frozen=True, slots=True)
class QueueRules:
    """What the repository asks for: how many at once, who has to approve, and the command that reviews."""

    _: KW_ONLY
    batch: int = 16
    workers: int = 2
    review: str = "none"
    reviewer: str = ""


@dataclass(frozen=True, slots=True)
class QueueNews:
    """Something that happened to a candidate; `kind` is landed, sent back or needs you. What happened to
    none of them is warned of, with the number 0."""

    # `row`: the candidate as it is now, of one that has landed.
    kind: str
    candidate: int
    text: str
    row: Candidate | None = None


class QueueFacts:
    """What a round starts from, read at once: how far the log is, the time, landings that have begun and not
    ended, the candidates that wait, and whether the queue is paused."""

    def __init__(self, view: View) -> None:
        self.head, self.now_ns = view.head, view.now.tick_ns
        self.landings = view.scan(LANDING, "key")
        self.live = queue.live(view)
        self.is_paused = queue.state(view)[0] == queue.PAUSED


class StackedCandidate:
    """A candidate in the stack: what main would be with it and all below it, and what is known of that."""

    def __init__(self, row: Candidate, level: Level, below: StackedCandidate | None) -> None:
        self.row, self.level = row, level
        self.files: set[str] = set(level.files) | (below.files if below is not None else set())
        self.ids: list[int] = [*(below.ids if below is not None else ()), row.id]
        self.known, self.job, self.output, self.is_set_up = UNKNOWN, 0, "", False


class Suspect:
    """A candidate that fails on main; with what, is being found out. `chain`: where its branch began, then
    each state of main up to the one that it fails on."""

    def __init__(self, placed: StackedCandidate, chain: list[str]) -> None:
        self.row, self.chain, self.output = placed.row, chain, placed.output
        self.files, self.ids = placed.files, [placed.row.id]
        self.search = Search(len(chain) - 1)
        self.job, self.point = 0, -1
        self.is_main_asked, self.main_known = False, UNKNOWN
        # A place that could not be made ready says nothing of main either, whatever passed there before.
        self.is_set_up = placed.is_set_up


class Runner:
    def __init__(
        self, store: Store, caller: Caller, git: QueueGit, checks: CheckPool, rules: QueueRules, tell: Tell
    ) -> None:
        self._store, self._caller, self._git, self._checks = store, caller, git, checks
        self._rules, self._tell = rules, tell
        self._main = ""
        self._stack: list[StackedCandidate] = []
        self._suspects: list[Suspect] = []
        self._jobs: dict[int, StackedCandidate | Suspect] = {}
        # Candidates that cannot stand on this stack; looked at again when it has changed.
        self._aside: set[int] = set()
        self._retry_at_ns: dict[int, int] = {}
        # Candidates that landed, went back or stopped in this round: what was read of them is no longer true.
        self._done: set[int] = set()
        self.runs = 0
        # How far the log was when the last round began; nothing could be done for what came before.
        self.seen = 0

    # -- the loop -----------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """Are checks under way?"""
        return bool(self._jobs)

    def step(self) -> bool:
        """One round. False: nothing more can be done until a check ends or somebody says something."""
        facts, runs = self._store.read(QueueFacts), self.runs
        self.seen, self._done = facts.head, set()
        heard = self._hear()
        for landing in facts.landings:
            self._settle(landing)
        if facts.is_paused:
            return heard
        self._look(facts)
        self._land()
        self._blame()
        self._build(facts)
        self._ask()
        return heard or self.runs != runs or self._can_land() or self._head() != facts.head

    def run(self, is_over: Callable[[], bool], wait: Callable[[float], object]) -> None:
        """Until `is_over`; `wait` sleeps until the log may have changed."""
        try:
            while not is_over():
                if self.step():
                    continue
                if self._jobs:
                    self._checks.wait(WAIT_S)
                else:
                    wait(WAIT_S)
        finally:
            self.stop()

    def run_once(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """Until nothing more can be done."""
        try:
            while not is_over() and (self.step() or self._jobs):
                if self._jobs and not self._can_land():
                    self._checks.wait(WAIT_S)
        finally:
            self.stop()

    def stop(self) -> None:
        """Cancel running checks; the next run starts them again."""
        for job in list(self._jobs):
            self._checks.cancel(job)
        self._jobs.clear()

    def _head(self) -> int:
        return self._store.read(lambda view: view.head)

    def _can_land(self) -> bool:
        return any(placed.known == GREEN for placed in self._stack)

    # -- as it is now -------------------------------------------------------------------------

    def settle(self) -> None:
        """Finish what a killed runner had begun: whether main moved, git knows."""
        for landing in self._store.read(lambda view: view.scan(LANDING, "key")):
            self._settle(landing)

    def _settle(self, landing: Landing) -> None:
        rows = [self._store.read(lambda view, id=id: queue.known(view, id)) for id in split_ids(landing.ids)]  # type: ignore[misc]
        self._conclude(landing, rows, is_moved=self._git.is_on_main(landing.new))

    def _look(self, facts: QueueFacts) -> None:
        """Main and the candidates as they are now; what no longer holds of the stack is taken off."""
        main = self._git.main()
        if main != self._main:
            self._cut(0)
            self._checks.prepare(main)
            self._main = main
        now_ns = facts.now_ns
        rows = {row.id: row for row in facts.live if row.id not in self._done}
        for place, placed in enumerate(self._stack):
            now = rows.get(placed.row.id)
            if not self._is_still(placed.row, now, now_ns) or (now and now.rank != placed.row.rank):
                self._cut(place)
                break
        for suspect in list(self._suspects):
            if not self._is_still(suspect.row, rows.get(suspect.row.id), now_ns):
                self._acquit(suspect)

    def _is_still(self, row: Candidate, current: Candidate | None, now_ns: int) -> bool:
        return current is not None and current.tip == row.tip and self._may_land(current, now_ns)

    def _may_land(self, row: Candidate, now_ns: int) -> bool:
        """Neither held nor unreviewed; one that is in a person's way is tried again after a while."""
        is_due = now_ns >= self._retry_at_ns.get(row.id, 0)
        is_reviewed = self._rules.review == "none" or row.review == APPROVED
        return is_reviewed and (row.state == WAITING or (row.state == STOPPED and is_due))

    def _cut(self, place: int) -> None:
        """Nothing from here on stands any more."""
        for placed in self._stack[place:]:
            self._let_go(placed)
        del self._stack[place:]
        self._aside.clear()

    def _let_go(self, checked: StackedCandidate | Suspect) -> None:
        if checked.job:
            self._checks.cancel(checked.job)
            self._jobs.pop(checked.job, None)
            checked.job = 0

    def _acquit(self, suspect: Suspect) -> None:
        self._let_go(suspect)
        self._suspects.remove(suspect)

    # -- land ---------------------------------------------------------------------------------

    def _land(self) -> None:
        """The longest part of the stack that passed becomes main, all of it in one move."""
        batch = self._stack[: highest_green([placed.known for placed in self._stack])]
        if not batch or not self._is_allowed(batch):
            return
        row = self._store.transact(self._caller, lambda tx: self._begin(tx, batch))
        if row is None:
            self._cut(0)
            return
        moved = self._git.move(row.old, row.new, f"lineclear: land {_names(batch)}")
        self._conclude(row, [placed.row for placed in batch], is_moved=moved.how == "moved")
        if moved.how == "moved":
            self._main = row.new
            self._stack = self._stack[len(batch) :]
            self._aside.clear()
            if self._checks.prepare(self._main):
                self._cut(0)  # what was checked by the rules of yesterday is checked again
        elif moved.how == "blocked":
            self._wait_for_a_person(batch, moved.why, moved.files)
        else:
            self._cut(0)

    def _is_allowed(self, batch: list[StackedCandidate]) -> bool:
        """Asked once more at the last moment: a claim may have been granted while it was checked."""
        for place, placed in enumerate(batch):
            if self._is_forbidden(placed.row):
                self._cut(place)
                return False
        return True

    def _is_forbidden(self, row: Candidate) -> bool:
        findings = self._git.forbidden(row, self._main)
        if findings:
            why = f"it changes files that {row.agent or 'its author'} may not change: {tell(findings)}"
            self._send_back(row, BY_GATE, why, files=[finding.path for finding in findings])
        return bool(findings)

    def _begin(self, tx: Tx, batch: list[StackedCandidate]) -> Landing | None:
        """The intention, before anything moves; None when somebody else was quicker with something."""
        ensure_agent(tx, self._caller)
        rows = [(placed.row, tx.get(CANDIDATE, (placed.row.id,))) for placed in batch]
        is_same = all(self._is_still(row, current, tx.now.tick_ns) for row, current in rows)
        if not is_same or queue.state(tx)[0] == queue.PAUSED or tx.scan(LANDING, "key", limit=1):
            return None
        event = tx.append(
            Draft(
                "LandingBegan",
                "queue",
                old=self._main,
                new=batch[-1].level.commit,
                ids=[placed.row.id for placed in batch],
                commits=[placed.level.commit for placed in batch],
                hows=[placed.level.how for placed in batch],
            )
        )
        return tx.get(LANDING, (event.position,))

    def _conclude(self, landing: Landing, rows: Sequence[Candidate], *, is_moved: bool) -> None:
        """Every candidate's end and the landing's, in one transaction; again, it changes nothing."""
        commits, hows = split_names(landing.commits), split_names(landing.hows)
        ids = split_ids(landing.ids)
        touched = [self._git.touched(row) if is_moved else [] for row in rows]
        ends = list(zip(ids, commits, hows, touched, strict=True))
        self._done.update(ids)

        def work(tx: Tx) -> list[Candidate]:
            if tx.get(LANDING, (landing.id,)) is None:
                return []
            ensure_agent(tx, self._caller)
            found = [self._end(tx, *end) for end in ends] if is_moved else []
            tx.append(Draft("LandingEnded", "queue", id=landing.id, moved=is_moved))
            return [row for row in found if row is not None]

        for row in self._store.transact(self._caller, work):
            self._tell(QueueNews("landed", row.id, f"{row.branch} is on {self._git.branch}", row))

    def _end(
        self, tx: Tx, number: int, commit: str, how: str, touched: Sequence[str]
    ) -> Candidate | None:  # fmt: skip
        row = queue.known(tx, number)
        if row.state not in LIVE:
            return None
        tx.append(Draft("CandidateLanded", show_number(number), id=number, commit=commit, how=how))
        queue.end_task(tx, row, f"landed on {self._git.branch} as {commit[:12]}", touched)
        return queue.known(tx, number)

    def _wait_for_a_person(self, batch: list[StackedCandidate], why: str, files: list[str]) -> None:
        """Only those whose files are in the way wait; the others are stacked without them."""
        in_the_way = [placed for placed in batch if set(placed.level.files) & set(files)] or batch
        for placed in in_the_way:
            self._stop_candidate(placed.row, why, files)
        self._cut(0)

    def _stop_candidate(self, row: Candidate, why: str, files: list[str]) -> None:
        def work(tx: Tx) -> tuple[bool, int]:
            ensure_agent(tx, self._caller)
            now = queue.known(tx, row.id)
            is_new = now.state in LIVE and (now.state, now.reason) != (STOPPED, why)
            if is_new:
                tx.append(Draft("CandidateStopped", show_number(row.id), id=row.id, why=why, files=files))
            return is_new, tx.now.tick_ns

        self._done.add(row.id)
        is_new, now_ns = self._store.transact(self._caller, work)
        self._retry_at_ns[row.id] = now_ns + RETRY_NS
        if is_new:
            self._tell(QueueNews("needs you", row.id, f"{row.branch} waits: {why}"))

    # -- build --------------------------------------------------------------------------------

    def _build(self, facts: QueueFacts) -> None:
        """More candidates on top, in their order, as far as they fit and nothing they need is missing."""
        waiting = [row for row in in_order(facts.live) if self._may_land(row, facts.now_ns)]
        limit = self._rules.batch * self._rules.workers
        is_growing = True
        while is_growing and len(self._stack) < limit:
            is_growing = False
            for row in waiting:
                if len(self._stack) < limit and self._is_new(row) and self._has_what_it_needs(row):
                    is_growing = self._put_on(row) or is_growing

    def _is_new(self, row: Candidate) -> bool:
        busy = {placed.row.id for placed in self._stack} | {suspect.row.id for suspect in self._suspects}
        return row.id not in busy and row.id not in self._aside and row.id not in self._done

    def _has_what_it_needs(self, row: Candidate) -> bool:
        if not row.after and not row.task:
            return True
        stacked = {placed.row.id: placed.row.task for placed in self._stack}

        def look(view: View) -> tuple[list[Candidate], list[int]]:
            needed = [queue.known(view, number) for number in split_ids(row.after)]
            return needed, queue.unmet_tasks(view, row.task)

        needed, tasks = self._store.read(look)
        lost = next((other for other in needed if other.state not in (*LIVE, LANDED)), None)
        if lost is not None:
            why = f"it builds on {show_number(lost.id)} ({lost.branch}), which is {lost.state}"
            self._send_back(row, BY_GONE, why, others=[lost.id])
            return False
        return all(other.state == LANDED or other.id in stacked for other in needed) and (
            set(tasks) <= set(stacked.values())
        )

    def _put_on(self, row: Candidate) -> bool:
        if self._is_forbidden(row):
            return False
        top = self._stack[-1] if self._stack else None
        try:
            level = self._git.level(top.level.commit if top else self._main, row, self._task(row))
        except Refusal as refusal:
            self._send_back(row, BY_GONE, refusal.what)
            return False
        if level.how == words.NOTHING and top is None:
            self._end_without_move(row)
        elif level.fits:
            self._stack.append(StackedCandidate(row, level, top))
        elif top is None:
            why = words.tell_conflicts(self._git.branch, level.conflicts)
            files = sorted({conflict["path"] for conflict in level.conflicts})
            self._send_back(row, BY_CONFLICT, why, files=files)
        else:
            # With what has not landed: it goes back only if that lands.
            self._aside.add(row.id)
        return level.fits

    def _end_without_move(self, row: Candidate) -> None:
        """All of it is on main already: a person merged it, or a landing was cut short."""

        touched = self._git.touched(row)

        def work(tx: Tx) -> Candidate:
            ensure_agent(tx, self._caller)
            self._end(tx, row.id, self._main, words.NOTHING, touched)
            return queue.known(tx, row.id)

        self._done.add(row.id)
        ended = self._store.transact(self._caller, work)
        self._tell(QueueNews("landed", row.id, f"{row.branch} was on {self._git.branch} already", ended))

    def _task(self, row: Candidate) -> Task | None:
        return self._store.read(lambda view: view.get(TASK, (row.task,))) if row.task else None

    def _send_back(
        self, row: Candidate, kind: str, why: str, *, files: Sequence[str] = (), others: Sequence[int] = (),
        output: str = "",
    ) -> None:  # fmt: skip
        def work(tx: Tx) -> bool:
            ensure_agent(tx, self._caller)
            now = queue.known(tx, row.id)
            is_same = now.state in LIVE and now.tip == row.tip
            if is_same:
                queue.send_back(
                    tx, now, kind, why[: words.MOST_WHY], files=files, others=others, output=output
                )
            return is_same

        self._done.add(row.id)
        if self._store.transact(self._caller, work):
            self._tell(QueueNews("sent back", row.id, f"{row.branch}: {why}"))

    # -- check --------------------------------------------------------------------------------

    def _ask(self) -> None:
        """Start what is worth a check: the stack first, then the questions about those that failed."""
        known = [placed.known for placed in self._stack]
        for level in useless(known):
            self._let_go(self._stack[level - 1])
            self._stack[level - 1].known = UNKNOWN
        while self._checks.free() > 0:
            known = [placed.known for placed in self._stack]
            levels = next_levels(known, 1)
            if not levels:
                break
            placed = self._stack[levels[0] - 1]
            is_known = self._start(placed, placed.level.commit, placed.level.tree)
            placed.known = GREEN if is_known else RUNNING
            if is_known and levels[0] == len(known):
                break
        for suspect in list(self._suspects):
            self._investigate(suspect)

    def _start(
        self, checked: StackedCandidate | Suspect, commit: str, tree: str, *, anew: bool = False
    ) -> bool:
        """True when every check that it needs has passed on this very tree before."""
        every = self._checks.checks_for(sorted(checked.files))
        checks = every if anew else self._unknown_checks(tree, every)
        if not checks:
            return True
        self.runs += 1
        checked.job = self.runs
        self._jobs[self.runs] = checked
        self._checks.start(self.runs, commit, tree, checks)
        return False

    def _unknown_checks(self, tree: str, every: list[Check]) -> list[Check]:
        checks = [(self._checks.key(tree, check), check) for check in every]
        if not checks:
            return []
        passed = self._store.read(lambda view: queue.passed_before(view, [key for key, _ in checks]))
        return [check for key, check in checks if key not in passed]

    def _hear(self) -> bool:
        """What the checks that ended say. One that was let go of says nothing."""
        found = [(self._jobs.pop(job, None), results) for job, results in self._checks.ended()]
        for checked, results in found:
            if checked is None:
                continue
            checked.job = 0
            is_green = bool(results) and all(ended.is_green for ended in results)
            if results:
                queue.remember_checks(self._store, self._caller, results, checked.ids)
            if isinstance(checked, Suspect):
                self._answer(checked, is_green=is_green)
            elif results:
                checked.known = GREEN if is_green else RED
                checked.output = "" if is_green else results[-1].words
                checked.is_set_up = results[-1].is_set_up
            else:
                checked.known = UNKNOWN
        return bool(found)

    # -- blame --------------------------------------------------------------------------------

    def _blame(self) -> None:
        """The first candidate of the stack fails on main: it steps aside, the rest is built without it."""
        if find_culprit([placed.known for placed in self._stack]) != 1:
            return
        placed = self._stack[0]
        self._suspects.append(Suspect(placed, self._git.chain(placed.row, self._main)))
        self._cut(0)

    def _investigate(self, suspect: Suspect) -> None:
        """Ask the next question about it; what has been answered before is not asked again."""
        while not suspect.job and suspect in self._suspects:
            point = suspect.search.answer
            if point > 0 or (point == 0 and suspect.main_known == GREEN):
                self._convict(suspect, point)
            elif point == 0 and suspect.main_known == RED:
                self._acquit(suspect)
                why = f"{self._git.branch} itself fails the check, with or without it"
                self._stop_candidate(suspect.row, why, [])
            elif self._checks.free() < 1:
                return
            elif point == 0:
                suspect.is_main_asked, suspect.ids = True, []
                tree = self._git.tree_of(self._main)
                if self._start(suspect, self._main, tree, anew=suspect.is_set_up):
                    self._answer(suspect, is_green=True)
            else:
                self._probe(suspect)

    def _probe(self, suspect: Suspect) -> None:
        suspect.point = suspect.search.next_point
        level = self._git.level(suspect.chain[suspect.point], suspect.row, self._task(suspect.row))
        if not level.fits or self._start(suspect, level.commit, level.tree):
            # Where it cannot even be merged, nothing can be said of it there.
            self._answer(suspect, is_green=True)

    def _answer(self, suspect: Suspect, *, is_green: bool) -> None:
        if suspect.is_main_asked:
            suspect.main_known = GREEN if is_green else RED
        elif is_green:
            suspect.search.passed(suspect.point)
        else:
            suspect.search.failed(suspect.point)

    def _convict(self, suspect: Suspect, point: int) -> None:
        self._acquit(suspect)
        others, with_whom = [], "by itself"
        if point:
            row = self._store.read(lambda view: queue.landed_as(view, suspect.chain[point], MOST_LANDED))
            others = [row.id] if row is not None else []
            name = f"{show_number(row.id)} ({row.branch})" if row is not None else suspect.chain[point][:12]
            with_whom = f"together with {name}; without that it passes"
        why = f"it fails the check, {with_whom}: {_first_line(suspect.output)}"
        self._send_back(suspect.row, BY_CHECK, why, others=others, output=suspect.output)


def _names(batch: list[StackedCandidate]) -> str:
    names = [placed.row.branch for placed in batch]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _first_line(text: str) -> str:
    first = next((line for line in text.split("\n") if line.strip()), "no output")
    return first.removesuffix(" Its last lines:")[:200]
