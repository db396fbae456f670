"""The queue's runner: builds the stack, has it checked, lands what passes and sends back what fails.

It keeps no state that matters: candidates, verdicts and landings are in the log, and the successor of a
killed runner continues from there. Each round updates the stack to what is true now, lands the part that
passed, sets the first failing candidate aside, puts waiting candidates on top, and starts checks. No step
waits.

An error that one candidate causes concerns that candidate only: it is tried once more, and then needs a
person.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.queue import candidates as queue
from lineclear.app.queue.checked_candidates import StackedCandidate, Suspect
from lineclear.app.queue.sending_back import end_task, send_back
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
from lineclear.core.queue.changed_interfaces import uses_of
from lineclear.core.queue.commit_gate import why_not, why_wait
from lineclear.core.queue.stack import (
    GREEN,
    RED,
    RUNNING,
    UNKNOWN,
    highest_green,
    next_levels,
    useless,
)
from lineclear.core.queue.stack import culprit as find_culprit
from lineclear.core.words.check_failures import since
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.app.queue.ports import CheckPool, QueueGit
    from lineclear.core.log.tables import Candidate, Landing, Task

    Tell = Callable[["QueueNews"], None]

# How long to wait before retrying a landing that a person's uncommitted files block.
RETRY_NS = 5_000_000_000
# The same for a candidate on which the runner itself failed: the cause may have been the machine.
RETRY_FAILED_NS = 60_000_000_000
MOST_FAILURES = 2
# How many of the newest landings are searched for the one with which a candidate fails.
MOST_LANDED = 1_000
WAIT_S = 1.0


@dataclass(frozen=True, slots=True)
class QueueRules:
    """The repository's settings: how many candidates at once, who must approve, and the review command."""

    _: KW_ONLY
    batch: int = 16
    workers: int = 2
    review: str = "none"
    reviewer: str = ""


@dataclass(frozen=True, slots=True)
class QueueNews:
    """Something that happened to a candidate: `kind` is "landed" (with its `row`), "sent back", "needs
    you" or "delayed". A warning about no particular candidate is "warned", with the number 0."""

    kind: str
    candidate: int
    text: str
    row: Candidate | None = None


class QueueFacts:
    """What a round starts from, in one read: the log's head, the time, unfinished landings, the candidates
    that wait in landing order, and whether the queue is paused."""

    def __init__(self, view: View) -> None:
        self.head, self.now_ns = view.head, view.now.tick_ns
        self.landings = view.scan(LANDING, "key")
        self.in_line = queue.in_line(view)
        self.is_paused = queue.state(view)[0] == queue.PAUSED


class Runner:
    def __init__(
        self, store: Store, caller: Caller, git: QueueGit, checks: CheckPool,
        rules_at: Callable[[str], QueueRules], tell: Tell,
    ) -> None:  # fmt: skip
        """`rules_at(main)`: the rules that this commit of main states."""
        self._store, self._caller, self._git, self._checks = store, caller, git, checks
        self._rules_at, self._tell = rules_at, tell
        self._rules = QueueRules()
        self._main = ""
        self._stack: list[StackedCandidate] = []
        self._suspects: list[Suspect] = []
        self._jobs: dict[int, StackedCandidate | Suspect] = {}
        # Candidates that conflict with this stack; tried again when it has changed.
        self._aside: set[int] = set()
        self._retry_at_ns: dict[int, int] = {}
        # Candidates that landed, went back or stopped in this round: the facts read for it are outdated.
        self._done: set[int] = set()
        # How often an unexpected error came while we dealt with this commit of a candidate.
        self._failures: dict[tuple[int, str], int] = {}
        self._has_to_try_again = False
        self.runs = 0
        # The log's head when the last round began.
        self.seen = 0

    # -- the loop -----------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """Are checks under way?"""
        return bool(self._jobs)

    def step(self) -> bool:
        """Do one round. False: nothing more can be done until a check ends or the log changes."""
        facts, runs = self._store.read(QueueFacts), self.runs
        self.seen, self._done, self._has_to_try_again = facts.head, set(), False
        has_results = self._collect_results()
        for landing in facts.landings:
            self._settle(landing)
        if facts.is_paused:
            return has_results
        self._update(facts)
        self._land()
        self._set_culprit_aside()
        self._build(facts)
        self._start_checks()
        if has_results or self.runs != runs or self._can_land() or self._has_to_try_again:
            return True
        return self._store.read(lambda view: view.head) != facts.head

    def run(self, is_over: Callable[[], bool], wait: Callable[[float], object]) -> None:
        """Run until `is_over`; `wait` sleeps until the log may have changed."""
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
        """Run until nothing more can be done, or `is_over`."""
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

    def _can_land(self) -> bool:
        return any(placed.known == GREEN for placed in self._stack)

    # -- what is true now ---------------------------------------------------------------------

    def settle(self) -> None:
        """Finish the landings that a killed runner began; git knows whether main moved."""
        for landing in self._store.read(lambda view: view.scan(LANDING, "key")):
            self._settle(landing)

    def _settle(self, landing: Landing) -> None:
        rows = [self._store.read(lambda view, id=id: queue.known(view, id)) for id in split_ids(landing.ids)]  # type: ignore[misc]
        self._conclude(landing, rows, is_moved=self._git.is_on_main(landing.new))

    def _update(self, facts: QueueFacts) -> None:
        """Take off the stack what no longer matches main and the candidates as they are now."""
        main = self._git.main()
        if main != self._main:
            self._cut(0)
            self._checks.prepare(main)
            self._rules = self._rules_at(main)
            self._main = main
        now_ns = facts.now_ns
        rows = {row.id: row for row in facts.in_line if row.id not in self._done}
        for place, placed in enumerate(self._stack):
            now = rows.get(placed.row.id)
            if not self._is_unchanged(placed.row, now, now_ns) or (now and now.rank != placed.row.rank):
                self._cut(place)
                break
        for suspect in list(self._suspects):
            if not self._is_unchanged(suspect.row, rows.get(suspect.row.id), now_ns):
                self._drop_suspect(suspect)

    def _is_unchanged(self, row: Candidate, current: Candidate | None, now_ns: int) -> bool:
        return current is not None and current.tip == row.tip and self._may_land(current, now_ns)

    def _may_land(self, row: Candidate, now_ns: int) -> bool:
        """Is it reviewed if it must be, and waiting, or stopped long enough ago for a retry?"""
        is_due = now_ns >= self._retry_at_ns.get(row.id, 0)
        is_reviewed = self._rules.review == "none" or row.review == APPROVED
        return is_reviewed and (row.state == WAITING or (row.state == STOPPED and is_due))

    def _cut(self, place: int) -> None:
        """Take off the stack from this place on."""
        for placed in self._stack[place:]:
            self._cancel(placed)
        del self._stack[place:]
        self._aside.clear()

    def _cancel(self, checked: StackedCandidate | Suspect) -> None:
        if checked.job:
            self._checks.cancel(checked.job)
            self._jobs.pop(checked.job, None)
            checked.job = 0

    def _drop_suspect(self, suspect: Suspect) -> None:
        """Calling it again has no effect."""
        self._cancel(suspect)
        self._suspects = [other for other in self._suspects if other is not suspect]

    # -- land ---------------------------------------------------------------------------------

    def _land(self) -> None:
        """Move main once, to the highest level of the stack that passed."""
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
                self._cut(0)  # main's checks have changed: check the rest of the stack by the new ones
            return
        if moved.how == "blocked":
            # Only the candidates whose files are blocked wait; the others are stacked without them.
            blocked = [placed for placed in batch if set(placed.level.files) & set(moved.files)] or batch
            for placed in blocked:
                self._stop_candidate(placed.row, moved.why, moved.files)
        self._cut(0)

    def _is_allowed(self, batch: list[StackedCandidate]) -> bool:
        """Ask the commit gate again at the last moment: a claim may have been granted during the checks."""
        for place, placed in enumerate(batch):
            if not self._guard(placed.row, lambda row=placed.row: not self._is_forbidden(row)):  # type: ignore[misc]
                self._cut(place)
                return False
        return True

    def _is_forbidden(self, row: Candidate) -> bool:
        findings = self._git.forbidden(row, self._main)
        wait = why_wait(findings)
        if wait:
            self._delay(row, wait, [finding.path for finding in findings])
        elif findings:
            self._send_back(
                row, BY_GATE, why_not(row.agent, findings), files=[finding.path for finding in findings]
            )
        return bool(findings)

    def _begin(self, tx: Tx, batch: list[StackedCandidate]) -> Landing | None:
        """Log the intention before main moves; None if a candidate has changed, the queue is paused, or
        another landing has begun."""
        ensure_agent(tx, self._caller)
        rows = [(placed.row, tx.get(CANDIDATE, (placed.row.id,))) for placed in batch]
        is_same = all(self._is_unchanged(row, current, tx.now.tick_ns) for row, current in rows)
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
        """End the landing and every candidate in it, in one transaction. Calling it again has no effect."""
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
        end_task(tx, row, f"landed on {self._git.branch} as {commit[:12]}", touched)
        return queue.known(tx, number)

    def _delay(self, row: Candidate, why: str, files: list[str]) -> None:
        """Let the candidate wait for claims that end by themselves; each later round asks again. With an
        empty `why` it waits no longer."""
        if why:
            self._done.add(row.id)
        if row.reason != why and queue.delay(self._store, self._caller, row.id, why, files) and why:
            self._tell(QueueNews("delayed", row.id, f"{row.branch} {why}"))

    def _guard(self, row: Candidate, work: Callable[[], bool]) -> bool:
        """Do a step for one candidate; False also if it failed unexpectedly. The second failure makes the
        candidate wait for a person, so that it cannot stop the others."""
        try:
            return work()
        except Refusal:  # the store or git is out of reach: no candidate's fault
            raise
        except Exception as error:  # noqa: BLE001  hostile files can make any rule fail, and the others must land
            count = self._failures[row.id, row.tip] = self._failures.get((row.id, row.tip), 0) + 1
            self._done.add(row.id)
            self._has_to_try_again = True
            if count >= MOST_FAILURES:
                what = _first_line(f"{type(error).__name__}: {error}")
                why = f"lineclear failed on it twice: {what}"
                self._stop_candidate(row, why, [], retry_ns=RETRY_FAILED_NS)
            return False

    def _stop_candidate(
        self, row: Candidate, why: str, files: list[str], *, retry_ns: int = RETRY_NS
    ) -> None:
        """Let the candidate wait for a person; it is retried from time to time."""

        def work(tx: Tx) -> tuple[bool, int]:
            ensure_agent(tx, self._caller)
            now = queue.known(tx, row.id)
            is_new = now.state in LIVE and (now.state, now.reason) != (STOPPED, why)
            if is_new:
                tx.append(Draft("CandidateStopped", show_number(row.id), id=row.id, why=why, files=files))
            return is_new, tx.now.tick_ns

        self._done.add(row.id)
        is_new, now_ns = self._store.transact(self._caller, work)
        self._retry_at_ns[row.id] = now_ns + retry_ns
        if is_new:
            self._tell(QueueNews("needs you", row.id, f"{row.branch} waits: {why}"))

    # -- build --------------------------------------------------------------------------------

    def _build(self, facts: QueueFacts) -> None:
        """Put waiting candidates on top, in landing order, if they merge and all they depend on is below."""
        waiting = [row for row in facts.in_line if self._may_land(row, facts.now_ns)]
        limit = self._rules.batch * self._rules.workers
        is_growing = True
        while is_growing and len(self._stack) < limit:
            is_growing = False
            for row in waiting:
                if len(self._stack) < limit and self._is_new(row) and self._has_what_it_needs(row):
                    is_put = self._guard(row, lambda row=row: self._put_on(row))  # type: ignore[misc]
                    is_growing = is_put or is_growing

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
        if row.state == WAITING and row.reason:
            self._delay(row, "", [])
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
            # It conflicts with work that has not landed, and goes back only if that lands.
            self._aside.add(row.id)
        return level.fits

    def _end_without_move(self, row: Candidate) -> None:
        """End a candidate that is on main already: a person merged it, or a crash interrupted its landing."""
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
                send_back(tx, now, kind, why[: words.MOST_WHY], files=files, others=others, output=output)
            return is_same

        self._done.add(row.id)
        if self._store.transact(self._caller, work):
            self._tell(QueueNews("sent back", row.id, f"{row.branch}: {why}"))

    # -- check --------------------------------------------------------------------------------

    def _start_checks(self) -> None:
        """Check the levels of the stack that are worth it first, then investigate the suspects."""
        known = [placed.known for placed in self._stack]
        for level in useless(known):
            self._cancel(self._stack[level - 1])
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
            if not self._guard(suspect.row, lambda suspect=suspect: self._investigate(suspect)):  # type: ignore[misc]
                self._drop_suspect(suspect)

    def _start(
        self, checked: StackedCandidate | Suspect, commit: str, tree: str, *, repeats: bool = False
    ) -> bool:
        """Start the checks that it needs. True, and none is started, if all have passed on this tree before;
        `repeats` runs them regardless."""
        checks = self._checks.checks_for(sorted(checked.files))
        if checks and not repeats:
            keys = [self._checks.key(tree, check) for check in checks]
            passed = self._store.read(lambda view: queue.passed_before(view, keys))
            checks = [check for key, check in zip(keys, checks, strict=True) if key not in passed]
        if not checks:
            return True
        self.runs += 1
        checked.job = self.runs
        self._jobs[self.runs] = checked
        self._checks.start(self.runs, commit, tree, checks)
        return False

    def _collect_results(self) -> bool:
        """Record the checks that have ended; False if none has. Cancelled ones are ignored."""
        found = [(self._jobs.pop(job, None), results) for job, results in self._checks.ended()]
        for checked, results in found:
            if checked is None:
                continue
            checked.job = 0
            is_green = bool(results) and all(ended.is_green for ended in results)
            if results:
                queue.remember_checks(self._store, self._caller, results, checked.ids)
            if isinstance(checked, Suspect):
                self._record_answer(checked, is_green=is_green)
            elif results:
                checked.known = GREEN if is_green else RED
                checked.output = "" if is_green else results[-1].words
                checked.is_set_up = results[-1].is_set_up
            else:
                checked.known = UNKNOWN
        return bool(found)

    # -- find out why a candidate fails -------------------------------------------------------

    def _set_culprit_aside(self) -> None:
        """If the first candidate of the stack fails on main, suspect it and rebuild the rest without it."""
        if find_culprit([placed.known for placed in self._stack]) != 1:
            return
        placed = self._stack[0]
        self._suspects.append(Suspect(placed, self._git.chain(placed.row, self._main)))
        self._cut(0)

    def _investigate(self, suspect: Suspect) -> bool:
        """Start the next check of the search; results that are known already need no check."""
        while not suspect.job and suspect in self._suspects:
            point = suspect.search.answer
            if point > 0 or (point == 0 and suspect.main_known == GREEN):
                self._convict(suspect, point)
            elif point == 0 and suspect.main_known == RED:
                self._drop_suspect(suspect)
                why = f"{self._git.branch} itself fails the check, with or without it"
                self._stop_candidate(suspect.row, why, [])
            elif self._checks.free() < 1:
                return True
            elif point == 0:
                suspect.is_main_asked, suspect.ids = True, []
                tree = self._git.tree_of(self._main)
                if self._start(suspect, self._main, tree, repeats=suspect.is_set_up):
                    self._record_answer(suspect, is_green=True)
            else:
                suspect.point = suspect.search.next_point
                level = self._git.level(suspect.chain[suspect.point], suspect.row, self._task(suspect.row))
                # Where it does not merge there is nothing to check: that point counts as passed.
                if not level.fits or self._start(suspect, level.commit, level.tree):
                    self._record_answer(suspect, is_green=True)
        return True

    def _record_answer(self, suspect: Suspect, *, is_green: bool) -> None:
        if suspect.is_main_asked:
            suspect.main_known = GREEN if is_green else RED
        elif is_green:
            suspect.search.passed(suspect.point)
        else:
            suspect.search.failed(suspect.point)

    def _convict(self, suspect: Suspect, point: int) -> None:
        """Send it back. `point`: the place in its chain of the landing with which it fails; 0: on its own."""
        self._drop_suspect(suspect)
        row, with_whom = None, "by itself"
        if point:
            row = self._store.read(lambda view: queue.landed_as(view, suspect.chain[point], MOST_LANDED))
            name = f"{show_number(row.id)} ({row.branch})" if row is not None else suspect.chain[point][:12]
            with_whom = f"together with {name}; without that it passes"
        findings = self._store.read(lambda view: queue.findings_explaining(view, suspect.row, row))
        cause = since(findings, row.task if row is not None else 0, suspect.output)
        why = f"it fails the check{cause}, {with_whom}: {_first_line(suspect.output)}"
        files = dict.fromkeys(path for finding in findings for path in uses_of(finding))
        others = [row.id] if row is not None else []
        self._send_back(suspect.row, BY_CHECK, why, files=list(files), others=others, output=suspect.output)


def _names(batch: list[StackedCandidate]) -> str:
    names = [placed.row.branch for placed in batch]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _first_line(text: str) -> str:
    first = next((line for line in text.split("\n") if line.strip()), "no output")
    return first.removesuffix(" Its last lines:")[:200]
