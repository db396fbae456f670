"""A scripted agent: it reads its prompt from stdin and works in the directory where it is started.

Both runs start it with the same command line. Like a coding client it reports its work as JSON lines, but
it follows a script.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from lineclear.cli.demo.shop.scripts import read_scripts

if TYPE_CHECKING:
    from typing import Any

    from lineclear.cli.demo.shop.scripts import Script

# How long a model thinks about the next step.
THINKING_S = (0.1, 0.4)
LOOP_EVERY_S = 0.1
# How long to wait until a change that was announced is on main.
LANDING_S = 5.0
TESTS = [sys.executable, "-m", "unittest", "-q"]


class Unfit(Exception):
    """The files are not as the script expects them."""


class ScriptedAgent:
    def __init__(self, script: Script, attempt: int, seed: str, *, has_inbox: bool = False) -> None:
        """`has_inbox`: the prompt says how to ask for messages."""
        self._script, self._attempt, self._calls = script, attempt, 0
        self._has_inbox = has_inbox
        self._random = random.Random(f"{seed} {script.name} {attempt}")

    def work(self) -> int:
        write_line(type="session", id=f"{self._script.name}/{self._attempt}")
        try:
            for step in self._script.first if self._attempt == 1 else self._script.steps:
                time.sleep(self._random.uniform(*THINKING_S))
                getattr(self, step["do"])(step)
        except (Unfit, OSError, subprocess.CalledProcessError) as error:
            write_line(type="end", ok=False, error=str(error))
            return 1
        write_line(type="end", ok=True)
        return 0

    def read(self, step: dict[str, str]) -> None:
        self._say("read", {"path": step["path"]}, read_text(step["path"]))

    def write(self, step: dict[str, str]) -> None:
        self._edit("write", step["path"].replace("{next}", next_number()), step["text"], step["text"])

    def append(self, step: dict[str, str]) -> None:
        self._edit("edit", step["path"], step["text"], read_text(step["path"]) + step["text"])

    def insert(self, step: dict[str, str]) -> None:
        after = step["after"] + "\n"
        self._edit("edit", step["path"], step["text"], swap(step["path"], after, after + step["text"]))

    def replace(self, step: dict[str, str]) -> None:
        self._edit("edit", step["path"], step["text"], swap(step["path"], step["old"], step["text"]))

    def adapt(self, step: dict[str, str]) -> None:
        """Replace a text if a file asks for it by now."""
        if os.path.exists(step["given"]) and step["says"] in read_text(step["given"]):
            self.replace(step)

    def use(self, step: dict[str, str]) -> None:
        """Add a name to an import, whatever names others have added."""
        found = re.search(rf"^from {re.escape(step['module'])} import (.+)$", read_text(step["path"]), re.M)
        if found is None:
            raise Unfit(f"{step['path']} does not import from {step['module']}")
        names = sorted({*found[1].split(", "), step["name"]})
        line = f"from {step['module']} import {', '.join(names)}"
        self._edit("edit", step["path"], line, swap(step["path"], found[0], line))

    def test(self, _step: dict[str, str]) -> None:
        done = subprocess.run(TESTS, capture_output=True, text=True, check=False)
        self._say("bash", {"command": "python -m unittest -q"}, done.stderr[-500:], ok=done.returncode == 0)
        done.check_returncode()

    def think(self, step: dict[str, str]) -> None:
        time.sleep(float(step["seconds"]))

    def listen(self, step: dict[str, str]) -> None:
        """Ask for messages, if the prompt says how. If they speak of what we call, get the change from main."""
        if not self._has_inbox:
            return
        news = self._lineclear("inbox")
        deadline = time.monotonic() + LANDING_S
        while step["about"] in news and time.monotonic() < deadline:
            self._lineclear("sync")
            if step["says"] in read_text(step["path"]):
                break
            time.sleep(LOOP_EVERY_S)

    def _lineclear(self, *words: str) -> str:
        argv = [sys.executable, "-m", "lineclear", *words]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        self._say("bash", {"command": f"lineclear {' '.join(words)}"}, done.stdout, ok=done.returncode == 0)
        return done.stdout

    def commit(self, step: dict[str, str]) -> None:
        subprocess.run(["git", "add", "--all"], check=True)
        subprocess.run(["git", "commit", "--quiet", "-m", step["message"]], check=True)
        self._say("bash", {"command": "git commit"}, step["message"])

    def loop(self, step: dict[str, str]) -> None:
        """Repeat the same call with the same result until somebody stops us."""
        while True:
            self.read(step)
            time.sleep(LOOP_EVERY_S)

    def die(self, _step: dict[str, str]) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def _edit(self, tool: str, path: str, added: str, content: str) -> None:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        self._say(tool, {"path": path, "text": added}, "written")

    def _say(self, tool: str, given: dict[str, str], output: str, *, ok: bool = True) -> None:
        self._calls += 1
        write_line(type="call", id=str(self._calls), tool=tool, input=given)
        write_line(type="done", id=str(self._calls), ok=ok, output=output)


def write_line(**fields: Any) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def read_text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def swap(path: str, old: str, new: str) -> str:
    content = read_text(path)
    if content.count(old) != 1:
        raise Unfit(f"{path} does not contain exactly once: {old.strip()}")
    return content.replace(old, new)


def next_number() -> str:
    """The number after the last migration in the folder."""
    return f"{max(int(name[:4]) for name in os.listdir('migrations')) + 1:04}"


def find_script(prompt: str) -> Script:
    """The script whose title comes first in the prompt; the titles of other agents' tasks may follow."""
    places = {script.name: prompt.find(script.title) for script in read_scripts()}
    meant = [script for script in read_scripts() if places[script.name] >= 0]
    if not meant:
        raise SystemExit("no script for this prompt")
    return min(meant, key=lambda script: places[script.name])


def find_attempt(prompt: str) -> int:
    found = re.search(r"attempt (\d+) of", prompt)
    return int(found[1]) if found else 1


def main() -> int:
    seed, limit_s = sys.argv[1:3]
    signal.alarm(int(limit_s))
    prompt = sys.stdin.read()
    has_inbox = "`lineclear inbox`" in prompt
    return ScriptedAgent(find_script(prompt), find_attempt(prompt), seed, has_inbox=has_inbox).work()


if __name__ == "__main__":
    sys.exit(main())
