"""Count the results of both runs in the same way: from main, from git, and from the agents' output."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from lineclear.cli.demo.shop.scripts import read_scripts
from lineclear.host.commands import capture

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from lineclear.cli.demo.shop.scripts import Script
    from lineclear.wiring.scratch import ScratchRepo

    Show = Callable[[str], None]

CHECK_S = 30


class Diary:
    """One agent's output: which script it followed, which texts it wrote into files, what lineclear told it,
    and how it ended."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.script, self.edits, self.news, self.is_done = "", [], "", False
        self._asked: set[str] = set()
        for line in lines:
            self._read(_parse(line))

    edits: list[str]
    news: str

    def _read(self, said: dict[str, Any]) -> None:
        if said.get("type") == "session":
            self.script = str(said["id"]).partition("/")[0]
        elif said.get("type") == "call" and said["tool"] in ("edit", "write"):
            self.edits.append(str(said["input"]["text"]))
        elif said.get("type") == "call" and said["input"].get("command") == "lineclear inbox":
            self._asked.add(said["id"])
        elif said.get("type") == "done" and said["id"] in self._asked:
            self.news += str(said["output"])
        elif said.get("type") == "end":
            self.is_done = bool(said["ok"])


def _parse(line: str) -> dict[str, Any]:
    """The line as JSON; {} for half a line of a killed agent, or a message of the shell."""
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def read_diaries(paths: Sequence[str]) -> list[Diary]:
    diaries = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            diaries.append(Diary(file.readlines()))
    return diaries


def judge(
    repo: ScratchRepo, diaries: Sequence[Diary], environ: Mapping[str, str], *, conflicts: int, wall_s: float
) -> dict[str, Any]:
    scripts = read_scripts()
    wanted = [script for script in scripts if not script.same_as]
    done = [s.name for s in wanted if _python(["-c", s.check], repo, environ)]
    finished = {diary.script for diary in diaries if diary.is_done}
    calling = [script for script in scripts if script.calls]
    broken = {diary.script for diary in diaries if not diary.is_done}
    return {
        "tasks_wanted": len(wanted),
        "tasks_done": len(done),
        "done": done,
        "conflicts": conflicts,
        "branches_left": repo.unmerged_branches(),
        "done_twice": sum({s.name, s.same_as} <= finished for s in scripts if s.same_as),
        "numbers_twice": numbers_twice(repo.paths_on_main("migrations")),
        "calls": len(calling),
        "calls_broken": len([s for s in calling if s.name in finished and s.name not in done]),
        "calls_told": sum(any(is_told(diary, s) for diary in diaries) for s in calling),
        "agents_broken": len(broken),
        "agents_recovered": len(broken & set(done)),
        **lost_edits(diaries, repo.texts()),
        "tests_pass": _python(["-m", "unittest", "-q"], repo, environ),
        "wall_s": round(wall_s, 1),
    }


def is_told(diary: Diary, script: Script) -> bool:
    """Did the agent of this script hear that the function which it calls has changed?"""
    return diary.script == script.name and script.calls in diary.news


def numbers_twice(paths: Sequence[str]) -> int:
    """How many migrations have a number that another one already has."""
    numbers = [path.rpartition("/")[2].partition("_")[0] for path in paths]
    return len(numbers) - len(set(numbers))


def lost_edits(diaries: Sequence[Diary], texts: Sequence[str]) -> dict[str, int]:
    """An edit is lost if no commit contains its text: on main, on a branch or in a snapshot."""
    edits = [edit for diary in diaries for edit in diary.edits]
    lost = [edit for edit in edits if not any(edit in text for text in texts)]
    return {"edits_made": len(edits), "edits_lost": len(lost)}


def _python(words: list[str], repo: ScratchRepo, environ: Mapping[str, str]) -> bool:
    """Does Python with these arguments succeed on main's files?"""
    code, _, _ = capture([sys.executable, *words], cwd=repo.directory, env=environ, timeout_s=CHECK_S)
    return code == 0
