"""Is an agent going round in circles? Judged by its calls, their results and the content of its files.

A step is a call together with its result. A step that happened before taught the agent nothing; content that
existed before is no progress. A loop is a long series of steps with nothing new; a call that brings something
new (another result, new content of a file) is work, however often it is repeated.
Repetitions are counted, never timed: the supervisor handles agents that are slow or hang.
"""

from __future__ import annotations

from collections import deque

from lineclear.core.runs.digests import WAITING
from lineclear.core.words.refusals import shorten

SAME_CALL, NO_CHANGE, BACK_AND_FORTH = "same call", "no change", "back and forth"

# The same call with the same result, nothing in between. Retries on a flaky network and polls of a slow
# server stay below; a model that is stuck never stops by itself.
SAME_IN_A_ROW = 12
# A failed edit fails again as long as nobody changes the file.
SAME_FAILED_EDIT = 6
# "Replace the next one" is the same edit for many places, and has the same result each time.
SAME_GOOD_EDIT = 24
# A call that waits (`sleep 5; test -f lock`) is meant to be repeated, and one whose result is unknown may be.
SAME_WAITING = 60
# `./next-step` may change files each time and still be the same call with the same result, but not for ever.
SAME_THOUGH_CHANGING = 100

# (calls without new content of a file, the most different steps among them). Reading the same thirty
# files three times after a lost context is normal; reading three files twenty times is not.
SHORT_WINDOW = (60, 7)
LONG_WINDOW = (240, 30)

# Comparing with a stashed state, or undoing, brings old content back. These limits are twice what anybody
# does on purpose without writing anything new in between.
TREE_RETURNS = 10
EDIT_RETURNS = 8

# Bounds on memory, so that a run of any length costs the same.
MOST_PENDING = 32
MOST_KNOWN = 256
MOST_TREES = 64
MOST_PATHS = 64
MOST_EDITS_OF_A_PATH = 8
MOST_SUMMARY_CHARS, MOST_PATH_CHARS = 80, 200


class _Call:
    def __init__(self, digest: str, paths: tuple[str, ...], is_edit: bool, waits: bool, summary: str) -> None:
        self.digest, self.is_edit, self.waits, self.summary = digest, is_edit, waits, summary
        self.paths = tuple(path[:MOST_PATH_CHARS] for path in paths[:MOST_PATHS])


class _Window:
    """The last steps, and how many different ones are among them."""

    def __init__(self, size: int, most_different: int) -> None:
        self._size, self._most_different = size, most_different
        self._steps: deque[str] = deque()
        self._counts: dict[str, int] = {}

    def add(self, step: str) -> None:
        self._steps.append(step)
        self._counts[step] = self._counts.get(step, 0) + 1
        if len(self._steps) > self._size:
            self._drop(self._steps.popleft())

    def _drop(self, step: str) -> None:
        self._counts[step] -= 1
        if not self._counts[step]:
            del self._counts[step]

    def clear(self) -> None:
        self._steps.clear()
        self._counts.clear()

    def words(self) -> str:
        """The problem as text, if the window is full and has only a few different steps; else ""."""
        if len(self._steps) < self._size or len(self._counts) > self._most_different:
            return ""
        return (
            f"{self._size} calls without a new change to any file, only {len(self._counts)} of them different"
        )


class _Known:
    """The last `most` different texts; says of each whether it is new."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._texts: dict[str, None] = {}

    def is_new(self, text: str) -> bool:
        was_there = text in self._texts
        if was_there:
            del self._texts[text]
        elif len(self._texts) >= self._most:
            del self._texts[next(iter(self._texts))]
        self._texts[text] = None
        return not was_there


class _PathEdits:
    """The edits of one file; `returns` counts how often an earlier edit was repeated after another one."""

    def __init__(self) -> None:
        self.known, self.last, self.returns = _Known(MOST_EDITS_OF_A_PATH), "", 0

    def add(self, digest: str) -> None:
        if self.known.is_new(digest):
            self.returns = 0
        elif digest != self.last:
            self.returns += 1
        self.last = digest


class LoopWatch:
    """One per run. Feed it in the order in which things happen; ask `verdict` at any time.

    A verdict is final.
    """

    def __init__(self) -> None:
        self.calls, self.pattern, self._verdict = 0, "", ""
        self._pending: deque[_Call] = deque()
        self._step, self._row, self._row_changing = "", 0, 0
        self._short, self._long = _Window(*SHORT_WINDOW), _Window(*LONG_WINDOW)
        self._edits_known = _Known(MOST_KNOWN)
        self._edits: dict[str, _PathEdits] = {}
        self._failed: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._tree, self._tree_returns, self._trees = "", 0, _Known(MOST_TREES)
        self._paths: tuple[str, ...] = ()

    def verdict(self) -> str:
        """The loop as text for the log and for the next attempt; "" if there is none."""
        return self._verdict

    # -- what happens -------------------------------------------------------------------------

    def call(
        self, tool: str, digest: str, paths: tuple[str, ...] = (), *, is_edit: bool = False,
        is_shell: bool = False, summary: str = "",
    ) -> None:  # fmt: skip
        """A tool was called. `digest` is `digests.normal_digest` of its input; the result may come later."""
        self.calls += 1
        shown = (summary or (paths[0] if paths else "")).removeprefix(tool).strip()
        words = shorten(f"{'shell' if is_shell else tool} {shown}".strip(), MOST_SUMMARY_CHARS)
        waits = digest.startswith(WAITING) and not is_edit
        self._pending.append(_Call(f"{tool[:64]} {digest[:64]}", paths, is_edit, waits, words))
        if len(self._pending) > MOST_PENDING:
            # This client reports no results, or lost one: the oldest call will never get one.
            self._finish(self._pending.popleft(), is_good=True, result="?")

    def result(self, ok: bool, digest: str, input_digest: str = "") -> None:
        """The result of the call with that input, else of the oldest call that has none yet."""
        call = self._answered(input_digest)
        if call is not None:
            self._finish(call, is_good=ok, result=digest[:64] or "?")

    def tree(self, tree_id: str) -> None:
        """The content of the worktree now; the same id means that all files have the same content."""
        if not tree_id or tree_id == self._tree:
            return
        is_first, is_new = not self._tree, self._trees.is_new(tree_id)
        self._tree = tree_id
        if is_first:
            return
        if is_new:
            self._tree_returns, self._row = 0, 0
            self._forget_windows()
            return
        self._tree_returns += 1
        if self._tree_returns >= TREE_RETURNS:
            where = f", last in {shorten(self._paths[0], 60)}" if self._paths else ""
            words = f"the files returned to an earlier state {self._tree_returns} times{where}"
            self._conclude(BACK_AND_FORTH, words)

    # -- what it means ------------------------------------------------------------------------

    def _answered(self, input_digest: str) -> _Call | None:
        wanted = " " + input_digest[:64]
        for call in self._pending if input_digest else ():
            if call.digest.endswith(wanted):
                self._pending.remove(call)
                return call
        return self._pending.popleft() if self._pending else None

    def _finish(self, call: _Call, *, is_good: bool, result: str) -> None:
        step = f"{call.digest} {'ok' if is_good else 'failed'} {result}"
        if call.is_edit and is_good:
            self._note_edit(call)
        elif call.is_edit:
            self._note_failed_edit(call, step)
        self._note_row(call, step, is_good and call.is_edit, is_unknown=result == "?")
        self._note_windows(call, step)

    def _note_row(self, call: _Call, step: str, is_good_edit: bool, *, is_unknown: bool) -> None:
        is_same = step == self._step
        self._step = step
        self._row = self._row + 1 if is_same else 1
        self._row_changing = self._row_changing + 1 if is_same else 1
        patience = SAME_GOOD_EDIT if is_good_edit else SAME_IN_A_ROW
        patience = SAME_WAITING if call.waits or is_unknown else patience
        if self._row >= patience or self._row_changing >= SAME_THOUGH_CHANGING:
            words = "the same call" if is_unknown else "the same call with the same result"
            self._conclude(SAME_CALL, f"{words} {self._row_changing} times in a row: {call.summary}")

    def _note_failed_edit(self, call: _Call, step: str) -> None:
        count = self._failed.pop(step, (0, ()))[0] + 1
        if len(self._failed) >= MOST_PATHS:
            del self._failed[next(iter(self._failed))]
        self._failed[step] = (count, call.paths)
        if count >= SAME_FAILED_EDIT:
            self._conclude(SAME_CALL, f"the same edit failed in the same way {count} times: {call.summary}")

    def _note_edit(self, call: _Call) -> None:
        self._paths = call.paths
        touched = set(call.paths)
        self._failed = {
            step: failed for step, failed in self._failed.items() if touched.isdisjoint(failed[1])
        }
        if self._edits_known.is_new(call.digest):
            self._forget_windows()
            # New work elsewhere counts in the agent's favour (it may toggle a switch for each try), but a
            # note written in every round of a loop must not hide the loop.
            for path, edits in self._edits.items():
                edits.returns -= path not in touched and edits.returns > 0
        for path in call.paths:
            self._note_path(path, call.digest)

    def _note_path(self, path: str, digest: str) -> None:
        edits = self._edits.pop(path, None) or _PathEdits()
        if len(self._edits) >= MOST_PATHS:
            del self._edits[next(iter(self._edits))]
        self._edits[path] = edits
        edits.add(digest)
        if edits.returns >= EDIT_RETURNS:
            words = f"the same edits were made and undone {edits.returns} times"
            self._conclude(BACK_AND_FORTH, f"{words}: {shorten(path, 60)}")

    def _note_windows(self, call: _Call, step: str) -> None:
        self._long.add(step)
        if not call.waits:
            self._short.add(step)
        words = self._short.words() or self._long.words()
        if words:
            self._conclude(NO_CHANGE, f"{words}; the last one: {call.summary}")

    def _forget_windows(self) -> None:
        self._short.clear()
        self._long.clear()

    def _conclude(self, pattern: str, words: str) -> None:
        if not self._verdict:
            self.pattern, self._verdict = pattern, words
