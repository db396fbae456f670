"""For `doctor`: do the files for agents match the store, and the conventions block the settings?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.app.mirroring import head_of
from lineclear.core.words.refusals import Refusal
from lineclear.mirror.conventions import facts_of, states
from lineclear.mirror.files import read_small
from lineclear.mirror.publishing import COORDINATION_FILE, PAGE
from lineclear.mirror.state import MirrorState, read_failure
from lineclear.wiring.mirroring import (
    COORDINATION,
    TASKS,
    is_hidden_from_git,
    live_trees,
    parts_on,
    root_and_settings,
)
from lineclear.wiring.repo import open_repo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lineclear.wiring.repo import Repo

OK, NOTE, PROBLEM = "ok", "note", "problem"
_BLOCK = {
    "current": (OK, "{name} matches the settings"),
    "missing": (OK, "{name} has no lineclear block; `lineclear setup conventions` writes it"),
    "outdated": (NOTE, "the block in {name} is not up to date; `lineclear setup conventions` renews it"),
    "edited": (NOTE, "the block in {name} was edited by hand; see `lineclear setup conventions --check`"),
    "broken": (NOTE, "the marks of the block in {name} are out of order"),
}


def examine_files(cwd: str, environ: Mapping[str, str]) -> list[dict[str, str]]:
    """Findings in the doctor's form. Changes nothing, and turns errors into findings."""
    found: list[tuple[str, str, str]] = []
    try:
        found += [("conventions", state, text) for state, text in _conventions(cwd, environ)]
        repo = open_repo(cwd, environ)
    except Refusal:
        return _shown(found)  # the doctor has already said why
    try:
        found += [("mirror", state, text) for state, text in _mirror(repo)]
    except (OSError, Refusal) as error:
        found.append(("mirror", PROBLEM, str(error).replace("\n", " ")))
    finally:
        repo.close()
    return _shown(found)


def _shown(found: list[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [{"state": state, "what": what, "text": text} for what, state, text in found]


def _conventions(cwd: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    root, settings = root_and_settings(cwd, environ)
    try:
        found = states(root, facts_of(settings))
    except Refusal as refusal:
        yield NOTE, str(refusal).replace("\n", " ")
        return
    is_used = found["AGENTS.md"] != "missing"
    for name, state in found.items():
        # Without the block, nothing has to point to it.
        if name == "AGENTS.md" or (is_used and state != "current"):
            how, words = _BLOCK[state]
            if name != "AGENTS.md" and state == "missing":
                how, words = NOTE, "{name} does not point to AGENTS.md; `lineclear setup conventions` adds it"
            yield how, words.format(name=name)


def _mirror(repo: Repo) -> Iterator[tuple[str, str]]:
    parts = parts_on(repo.settings)
    if not parts:
        yield OK, "no files for agents are kept here; `lineclear mirror --on` starts it"
        return
    failure = read_failure(repo.state_directory)
    if failure:
        yield PROBLEM, f"the files could not be written: {' '.join(failure.split())}"
    if not is_hidden_from_git(repo):
        yield NOTE, "git could see our files; `lineclear mirror --now` hides them again"
    with MirrorState(repo.state_directory, 1.0) as state:
        published = state.published()
        head = repo.store.read(head_of)
        for trouble in published.get("troubles", ()):
            yield NOTE, str(trouble)
        missing = [
            tree.name for tree in live_trees(repo) if not _is_there(state, tree.name, tree.path, parts)
        ]
    if missing:
        names = ", ".join(missing[:5])
        yield NOTE, f"files are missing or edited in {names}; `lineclear mirror --now` takes them in"
    elif published.get("head") != head:
        yield NOTE, f"the files show position {published.get('head', 0)}, the log is at {head}"
    else:
        yield OK, f"{', '.join(parts)} in {len(live_trees(repo))} worktrees, up to date"


def _is_there(state: MirrorState, tree: str, path: str, parts: tuple[str, ...]) -> bool:
    if COORDINATION in parts and not os.path.exists(os.path.join(path, COORDINATION_FILE)):
        return False
    if TASKS not in parts:
        return True
    base = state.base(tree)
    where = base.where if base is not None else PAGE
    try:
        return base is not None and read_small(os.path.join(path, where), len(base.text)) == base.text
    except OSError:
        return False
