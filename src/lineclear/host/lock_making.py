"""Regenerates lock files by running package managers, each in a scratch directory with only the files it
needs, and within a time limit. Answers are cached, so building a stack again does not run them again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.queue.lock_making import Made
from lineclear.core.claims.paths import glob_anywhere
from lineclear.core.queue.checks import OUT_OF_TIME, digest_of, how_it_ended, plain_output
from lineclear.core.queue.landing_results import one_line
from lineclear.core.secret_masking import mask
from lineclear.core.words.refusals import Refusal, shorten
from lineclear.host.commands import run_to_end
from lineclear.host.files import remove_tree, write_atomically
from lineclear.host.scratch_directory import BadPath, Scratch, abandoned, tree_in
from lineclear.host.stray_processes import MARK, end_strays
from lineclear.merge.handlers.lock_makers import maker_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.app.queue.lock_making import LockQuestion, Read
    from lineclear.host.commands import Finished
    from lineclear.merge.handlers.lock_makers import Maker

# (scratch directory, words) -> the words to run, in a sandbox if the settings ask for one.
Wrap = Callable[[Scratch, Sequence[str]], Sequence[str]]

PREFIX = "lineclear-locks-"
WITHIN_MS = 2 * 60_000
_MOST_BYTES, _MOST_KEPT = 64 * 1024 * 1024, 200
# A failure may be the network's: remember it, but not for long.
_DOUBT_LASTS_S = 120.0
_MOST_SHOWN = 200
_VERSION = re.compile(r"^(?:[A-Za-z]+ )?\(?(?:version )?v?(\d+)\.(\d+)", re.M)
# In the sandbox a command starts at the top of the tree.
_GO_DOWN = ("/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh")


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRules:
    """Which package managers may run, and how.

    `environ` is their whole environment; `secrets` are masked in every text. `patterns`: which lock files,
    None for all; `doubt`: why none may run after all; `main`: the commit whose settings apply, "" for the
    left side's; `kept`: the directory of cached answers, "" for no cache.
    """

    environ: Mapping[str, str]
    secrets: Sequence[str] = ()
    patterns: Sequence[str] | None = None
    doubt: str = ""
    main: str = ""
    kept: str = ""
    within_ms: int = WITHIN_MS
    wrap: Wrap = lambda _, words: words


class PackageManagers:
    """The `LockMaker` of app/queue/lock_making.py. `rules` is called only if there is a lock file to make."""

    def __init__(self, rules: Callable[[], LockRules]) -> None:
        self._rules = rules

    def why_not(self, path: str) -> str | None:
        rules = self._rules()
        if rules.patterns is not None and not any(
            glob_anywhere(pattern).matches(path) for pattern in rules.patterns
        ):
            return None
        maker = maker_of(path)
        if rules.doubt or maker is None:
            return rules.doubt
        return "" if _program(maker, rules) else f"{maker.name} is not installed"

    def settings_at(self) -> str:
        return self._rules().main

    def make(self, question: LockQuestion, read: Read) -> Made:
        rules = self._rules()
        kept = f"{rules.kept}/{_key(question, rules)}" if rules.kept else ""
        known = _recall(kept) if kept else None
        if known is not None:
            return known
        for top in abandoned(PREFIX):  # left behind by a killed process
            end_strays(tree_in(top))
            remove_tree(top)
        made = _make(question, read, rules)
        if kept:
            _keep(kept, made)
        return made


def _program(maker: Maker, rules: LockRules) -> str:
    return shutil.which(maker.name, path=rules.environ.get("PATH", "")) or ""


# -- running --------------------------------------------------------------------------------------


def _make(question: LockQuestion, read: Read, rules: LockRules) -> Made:
    blobs = read(set(question.files.values()))
    files = {path: blobs[oid] for path, oid in question.files.items()} | dict.fromkeys(question.names, b"")
    if sum(map(len, files.values())) > _MOST_BYTES:
        return Made(doubt=f"{question.maker.name} needs more than {_MOST_BYTES >> 20} MiB of files")
    with Scratch(PREFIX) as room:
        try:
            room.fill(files)
            return _work(room, question, files, rules)
        except (BadPath, OSError) as error:
            return Made(doubt=f"its files cannot be written: {one_line(str(error))}")
        except Refusal as refusal:  # no sandbox is available
            return Made(doubt=refusal.what)
        finally:
            end_strays(room.path)


def _work(room: Scratch, question: LockQuestion, files: Mapping[str, bytes], rules: LockRules) -> Made:
    maker, ends_at = question.maker, time.monotonic() + rules.within_ms / 1_000
    run = _runner(room, question, rules, ends_at)
    asked = run([maker.name, "--version"])
    version = _VERSION.search(asked.tail)
    if asked.code != 0:
        return Made(doubt=_failure(maker, asked, rules))
    if version is None:
        return Made(doubt=f"{maker.name} does not report its version")
    by = f"{maker.name} {version[1]}.{version[2]}"
    if (int(version[1]), int(version[2])) < maker.least:
        return Made(
            doubt=f"{by} is too old: only {maker.least[0]}.{maker.least[1]} and later change nothing else"
        )
    done = run(maker.words)
    if done.code != 0:
        return Made(doubt=_failure(maker, done, rules))
    others = [path for path in room.differences(files) if path != question.path]
    others = [path for path in others if not maker.leaves.fullmatch(path)]
    if others:
        return Made(doubt=f"{by} also changed {shorten(one_line(others[0]), _MOST_SHOWN)}")
    content = room.read(question.path, _MOST_BYTES)
    if content is None:
        return Made(doubt=f"{by} left no lock file that can be read")
    return Made(content, by)


def _runner(
    room: Scratch, question: LockQuestion, rules: LockRules, ends_at: float
) -> Callable[[Sequence[str]], Finished]:
    folder = question.path.rpartition("/")[0]
    place = f"{room.path}/{folder}".rstrip("/")
    env = {**rules.environ, **question.maker.env}
    env |= {"PWD": place, MARK: room.path, "COREPACK_ENABLE_DOWNLOAD_PROMPT": "0"}

    def run(words: Sequence[str]) -> Finished:
        wrapped = rules.wrap(room, [*_GO_DOWN, place, *words])
        return run_to_end(wrapped, cwd=room.path, env=env, timeout_s=max(0.0, ends_at - time.monotonic()))

    return run


def _failure(maker: Maker, done: Finished, rules: LockRules) -> str:
    """How it ended and the errors it printed, with secrets masked."""
    how = how_it_ended(done.code, rules.within_ms if done.code == OUT_OF_TIME else 0)
    output = mask(plain_output(done.tail), rules.secrets)
    lines = [line.strip() for line in output.split("\n") if line.strip()]
    errors = [line for line in lines if "error" in line.lower() and "complete log" not in line] or lines[-1:]
    words = one_line("; ".join(errors[:3]))
    return f"{maker.name} {how}" + (f": {shorten(words, _MOST_SHOWN)}" if words else "")


# -- the cache ------------------------------------------------------------------------------------


def _key(question: LockQuestion, rules: LockRules) -> str:
    """A digest of everything that the answer depends on, except the registries: their first answer counts."""
    program = os.path.realpath(_program(question.maker, rules))
    row = os.stat(program) if os.path.exists(program) else None
    which = f"{program} {row.st_mtime_ns} {row.st_size}" if row is not None else program
    files = [f"{oid} {path}" for path, oid in sorted(question.files.items())]
    return digest_of([question.path, *question.maker.words, which, *files, "names", *question.names])


def _recall(path: str) -> Made | None:
    try:
        with open(path, "rb") as file:
            head, _, content = file.read().partition(b"\n")
            age_s = time.time() - os.fstat(file.fileno()).st_mtime
        facts = json.loads(head)
        made = Made(content, str(facts["by"]), str(facts["doubt"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return made if not made.doubt or 0 <= age_s < _DOUBT_LASTS_S else None


def _keep(path: str, made: Made) -> None:
    """Write the answer as a file and remove the oldest ones. Errors, such as a full disk, are ignored."""
    head = json.dumps({"by": made.by, "doubt": made.doubt}).encode()
    directory = os.path.dirname(path)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        write_atomically(path, head + b"\n" + made.content)
        rows = sorted(os.scandir(directory), key=lambda row: row.stat().st_mtime_ns, reverse=True)
        for row in rows[_MOST_KEPT:]:
            os.unlink(row.path)
    except OSError:
        pass
