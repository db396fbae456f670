"""What became of every task, counted from the log, the tables and git."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineclear.app.log import audit, entries_after
from lineclear.core.log.codec import decode_body
from lineclear.core.log.tables import CANDIDATE, TASK, Candidate, LogEntry, Task
from lineclear.core.tasks.states import ENDED, FAILED, MERGED, show_id

if TYPE_CHECKING:
    from lineclear.app.ports import Store, View

SHOWN = 5


class Findings:
    """Violations by name; a name without one is shown, too."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[str]] = {}

    def add(self, name: str, found: list[str]) -> None:
        self.by_name.setdefault(name, []).extend(found)

    @property
    def count(self) -> int:
        return sum(len(found) for found in self.by_name.values())


class Ledger:
    """The whole store at the end."""

    def __init__(self, view: View) -> None:
        self.entries: list[LogEntry] = list(entries_after(view, 0))
        self.tasks: list[Task] = view.scan(TASK, "key")
        self.candidates: dict[int, Candidate] = {row.id: row for row in view.scan(CANDIDATE, "key")}

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [decode_body(entry.body) for entry in self.entries if entry.kind == kind]


def judge(store: Store, place: Path, clones: list[Path]) -> tuple[Findings, Ledger]:
    found, remote = Findings(), place / "remote.git"
    ledger = store.read(Ledger)
    landed = [
        (ledger.candidates[body["id"]].task, body["commit"]) for body in ledger.of_kind("CandidateLanded")
    ]
    on_main = Counter(_files_added(remote))
    found.add("lost", _lost(ledger, landed, on_main, remote))
    found.add(
        "landed twice", [f"{show_id(task)}: {n} records" for task, n in _more_than_once(t for t, _ in landed)]
    )
    found.add("landed twice", [f"{name}: {n} commits" for name, n in _more_than_once(on_main.elements())])
    found.add(
        "stuck", [f"{show_id(t.id)} is {t.state} ({t.agent})" for t in ledger.tasks if t.state not in ENDED]
    )
    found.add(
        "failed", [f"{show_id(task.id)}: {task.reason}" for task in ledger.tasks if task.state == FAILED]
    )
    found.add("attempts counted without a start", attempts_without_start(ledger.entries))
    found.add("main forked or went back", _forks(remote))
    found.add("acknowledged messages lost", _lost_messages(ledger, place))
    found.add("two holders of one row", _lost_counts(place))
    found.add("audit", [finding["text"] for finding in audit(store)["findings"]])
    for path in (remote, *clones):
        done = _git(path, "fsck", "--full", "--no-dangling", "--no-progress")
        found.add("git fsck", [f"{path.name}: {line}" for line in (done.stdout + done.stderr).splitlines()])
    return found, ledger


def attempts_without_start(entries: list[LogEntry]) -> list[str]:
    """Tasks that were given back or failed in an attempt for which no client was started."""
    attempt: dict[int, int] = {}
    started: set[tuple[int, int]] = set()
    found = []
    for entry in entries:
        body = decode_body(entry.body)
        if entry.kind == "TaskTaken":
            attempt[body["id"]] = body["attempt"]
        elif entry.kind == "RunStarted":
            started.add((body["task"], body["attempt"]))
        elif entry.kind in ("TaskReturned", "TaskFailed"):
            task = body["id"]
            if (task, attempt.get(task, 0)) not in started:
                why = body.get("why") or body.get("reason")
                found.append(f"{show_id(task)}, attempt {attempt.get(task, 0)}: {why}")
    return found


def _lost(ledger: Ledger, landed: list[tuple[int, str]], on_main: Counter[str], remote: Path) -> list[str]:
    merged = [task.id for task in ledger.tasks if task.state == MERGED]
    absent = [
        f"{show_id(task)} is merged, its file is not on main" for task in merged if not on_main[show_id(task)]
    ]
    history = set(_git(remote, "rev-list", "main").stdout.split())
    return absent + [
        f"{show_id(task)}: {commit} is not on main" for task, commit in landed if commit not in history
    ]


def _files_added(remote: Path) -> list[str]:
    """The task of each file that a commit on main's own line has added."""
    words = [
        "log",
        "--first-parent",
        "-m",
        "--diff-filter=A",
        "--format=",
        "--name-only",
        "main",
        "--",
        "tasks",
    ]
    return [Path(line).stem for line in _git(remote, *words).stdout.split()]


def _forks(remote: Path) -> list[str]:
    """Moves of the remote's main that did not lead forward from where it was."""
    found, at = [], ""
    for line in (remote / "logs" / "refs" / "heads" / "main").read_text().splitlines():
        old, new = line.split()[:2]
        is_forward = _git(remote, "merge-base", "--is-ancestor", old, new).returncode == 0
        if not is_forward or (at and old != at):
            found.append(f"{old[:12]} -> {new[:12]}")
        at = new
    return found


def _lost_messages(ledger: Ledger, place: Path) -> list[str]:
    """Agents note what `say` told them was sent."""
    sent = Counter(body["text"] for body in ledger.of_kind("MessageSent"))
    return [text for text in _lines(place / "said") if not sent[text]]


def _lost_counts(place: Path) -> list[str]:
    """Agents add one to a number under an exclusive claim, and write a line for each time."""
    times, counted = len(_lines(place / "bumps")), int((_lines(place / "counter") or ["0"])[0])
    return [f"counted {counted} of {times}"] if times != counted else []


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _more_than_once(names: Any) -> list[tuple[Any, int]]:
    return [(name, count) for name, count in Counter(names).items() if count > 1]


def _git(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=path, capture_output=True, text=True, check=False)
