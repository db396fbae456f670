"""Everybody's unmerged work, compared pair by pair and with main. Reads git and a cache; knows no store.

Only pairs that share a path, a symbol, a reference or a key are compared, and only those that share a path or
both add a migration are merged. An answer is kept under the trees it was made from, so a pass after which
nothing changed compares nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from lineclear.app.radar.reading import ReadingCounts, facts_of
from lineclear.core.radar.deltas import ChangedFile, Delta
from lineclear.core.radar.facts import MIGRATION, VERSION, FileFacts
from lineclear.core.radar.findings import CONFLICT, MAIN, SAME_NAME, SAME_SYMBOL, Finding
from lineclear.core.radar.rules import compare, offers, wants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from lineclear.app.queue.merge_trees import MergeRules
    from lineclear.app.radar.ports import FactsCache, RadarGit, WorkSide

    # path -> (blob before, blob after), "" where there is none
    Changes = dict[str, tuple[str, str]]

# A side that is so far behind main hears of the rest when it has synced.
MOST_FILES_OF_MAIN = 400
MOST_FILES_OF_SIDE = 2_000
# Words that are looked up in the whole tree for one pair.
MOST_WORDS = 40


@dataclass(slots=True, kw_only=True)
class PassReport:
    """`pairs`: how many pairs of sides (main included) there are; `compared` and `merged`: of how many the
    facts were compared and the trees merged, now or in an earlier pass; `parsed`: blobs that were read for
    the first time; `skipped`: what was left out, in words."""

    findings: list[Finding] = field(default_factory=list)
    sides: list[str] = field(default_factory=list)
    pairs: int = 0
    compared: int = 0
    merged: int = 0
    parsed: int = 0
    skipped: list[str] = field(default_factory=list)


def compare_sides(
    git: RadarGit,
    cache: FactsCache,
    rules: MergeRules,
    sides: Sequence[WorkSide],
    *,
    main: tuple[str, str] = ("", ""),
    task_of: Callable[[str], int] = lambda _: 0,
) -> PassReport:
    """Compare all sides with each other and with `main`, its commit and tree. `task_of` gives the task whose
    work landed with a commit of main, 0 if none."""
    picture = _Picture(git, cache, rules, task_of)
    report = PassReport(sides=[side.name for side in sides])
    works = [work for side in sides if (work := picture.work_of(side)) is not None]
    for work in works:
        landed = picture.main_since(work, *main)
        if landed is not None:
            report.pairs += 1
            picture.meet(landed, work, report)
    for left, right in _pairs(works):
        report.pairs += 1
        picture.meet(left, right, report)
    report.parsed = picture.counts.parsed
    report.skipped += picture.skipped
    report.findings.sort(key=lambda finding: (not finding.interrupts, finding.kind, finding.key))
    return report


def _pairs(works: list[_Work]) -> Iterable[tuple[_Work, _Work]]:
    for at, left in enumerate(works):
        for right in works[at + 1 :]:
            yield (left, right) if left.name <= right.name else (right, left)


@dataclass(eq=False)
class _Work:
    """One side with what it changed since its base. `offers` and `wants` are names: see the rules."""

    side: WorkSide
    changes: Changes
    delta: Delta
    offers: set[str]
    wants: set[str]

    @property
    def name(self) -> str:
        return self.side.name


class _Picture:
    """What one pass has read so far."""

    def __init__(
        self, git: RadarGit, cache: FactsCache, rules: MergeRules, task_of: Callable[[str], int]
    ) -> None:
        self._git, self._cache, self._rules, self._task_of = git, cache, rules, task_of
        self.counts = ReadingCounts()
        self.skipped: list[str] = []
        self._facts: dict[tuple[str, str], FileFacts] = {}
        self._main: dict[str, _Work] = {}

    # -- sides ----------------------------------------------------------------------------------

    def work_of(self, side: WorkSide) -> _Work | None:
        """None for a side that changed nothing."""
        changes = self._git.changed(side.base_tree, side.tree)
        if len(changes) > MOST_FILES_OF_SIDE:
            self.skipped.append(f"{side.name}: {len(changes)} changed files are too many to compare")
            return None
        return self._work(side, changes) if changes else None

    def main_since(self, work: _Work, commit: str, tree: str) -> _Work | None:
        """What landed on main since the side's base; None if nothing did."""
        side = work.side
        if not tree or side.base_tree == tree:
            return None
        if side.base not in self._main:
            changes = self._git.changed(side.base_tree, tree)
            main = replace(side, name=MAIN, tree=tree, commit=commit, branch=MAIN, worktree="", task=0)
            if len(changes) > MOST_FILES_OF_MAIN:
                self.skipped.append(f"main: {len(changes)} files changed since {side.name} began")
                return self._work(main, {path: row for path, row in changes.items() if path in work.changes})
            self._main[side.base] = self._work(main, changes)
        return self._main[side.base]

    def _work(self, side: WorkSide, changes: Changes) -> _Work:
        wanted = [(path, oid) for path, row in changes.items() for oid in row if oid]
        self._read(wanted)
        known = {path: tuple(self._facts.get((path, oid)) for oid in row) for path, row in changes.items()}
        delta = Delta(side.name, {path: ChangedFile(*pair) for path, pair in known.items()})
        return _Work(side, changes, delta, offers(delta), wants(delta))

    def _read(self, wanted: Iterable[tuple[str, str]]) -> None:
        missing = [pair for pair in wanted if pair not in self._facts]
        if missing:
            self._facts |= facts_of(self._git, self._cache, self._rules, missing, self.counts)

    # -- pairs ----------------------------------------------------------------------------------

    def meet(self, left: _Work, right: _Work, report: PassReport) -> None:
        """Add what two sides do to each other."""
        paths = {
            path
            for path in left.changes.keys() & right.changes.keys()
            if left.changes[path] != right.changes[path]
        }
        keys = left.delta.keys.keys() & right.delta.keys.keys()
        has_migrations = _adds_migration(left.delta) and _adds_migration(right.delta)
        shares = bool(
            paths
            or keys
            or left.offers & right.wants
            or right.offers & left.wants
            or _same_scopes(left, right)
        )
        if shares:
            report.compared += 1
        if paths or has_migrations:
            report.merged += 1
        if not shares and not has_migrations:
            return
        key = _key_of(left.side, right.side)
        kept = self._cache.answer(key)
        if kept is None:
            found = self._compared(left, right, does_merge=bool(paths) or has_migrations)
            self._cache.keep_answer(key, [asdict(finding) for finding in found])
        else:
            found = [_from_json(row) for row in kept]
        report.findings += found

    def _compared(self, left: _Work, right: _Work, *, does_merge: bool) -> list[Finding]:
        found = compare(left.delta, right.delta, _MergedWorld(self, left, right))
        if does_merge:
            found = self._with_merge(left, right, found)
        return [self._with_task(finding, left, right) for finding in found]

    def _with_merge(self, left: _Work, right: _Work, found: list[Finding]) -> list[Finding]:
        """Add what the merge itself cannot settle. Only files that both changed count: the rest of main's
        progress is compared with main."""
        base = left.side.base_tree
        if left.side.base != right.side.base:
            base = self._git.common_tree(left.side.commit, right.side.commit) or base
        merged = self._git.merge(base, left.side.tree, right.side.tree)
        both = left.changes.keys() & right.changes.keys()
        open_files = [row for row in merged["files"] if not row["clean"] and row["path"] in both]
        paths = tuple(row["path"] for row in open_files)
        found = [row for row in found if row.kind != SAME_SYMBOL or row.files[0] not in paths]
        agents = tuple(sorted((left.name, right.name)))
        if paths:
            found.append(_conflict(agents, paths, open_files))
        named = {path for row in found if row.kind == SAME_NAME for path in row.files}
        for row in merged.get("findings", ()):
            if row["kind"] == "migration" and not named & set(row["paths"]):
                finding = Finding(
                    kind=SAME_NAME,
                    agents=agents,
                    files=tuple(row["paths"]),
                    symbol=row["paths"][0],
                    detail=row["text"],
                    interrupts=True,
                )
                found.append(finding)
        return found

    def _with_task(self, finding: Finding, left: _Work, right: _Work) -> Finding:
        """Name the task of the side that made the change."""
        first = left if finding.agents[0] == left.name else right
        if first.name != MAIN:
            return replace(finding, task=first.side.task)
        commit = self._git.who_changed(first.side.base, first.side.commit, finding.files[0])
        return replace(finding, task=self._task_of(commit) if commit else 0)

    # -- the world around a pair ------------------------------------------------------------------

    def naming(self, tree: str, word: str) -> dict[str, FileFacts]:
        """The files of a tree that contain a word."""
        places = self._git.files_naming(tree, [word]).get(word, {})
        self._read(places.items())
        return {path: self._facts[path, oid] for path, oid in places.items() if (path, oid) in self._facts}

    def at(self, tree: str, path: str) -> FileFacts | None:
        oid = self._git.blob_at(tree, path)
        if oid:
            self._read([(path, oid)])
        return self._facts.get((path, oid))


class _MergedWorld:
    """The `World` of a pair: the base's files, overlaid with what both sides changed."""

    def __init__(self, picture: _Picture, left: _Work, right: _Work) -> None:
        self._picture, self._left, self._right = picture, left, right
        self._tree = left.side.base_tree
        self._named: dict[str, dict[str, FileFacts]] = {}

    def facts(self, path: str) -> FileFacts | None:
        found, is_changed = self._changed(path)
        return found if is_changed else self._picture.at(self._tree, path)

    def naming(self, word: str) -> dict[str, FileFacts]:
        if word not in self._named:
            known = self._picture.naming(self._tree, word) if len(self._named) < MOST_WORDS else {}
            for path in self._left.changes.keys() | self._right.changes.keys():
                facts, _ = self._changed(path)
                known.pop(path, None)
                if facts is not None and any(row.bare == word for row in facts.definitions):
                    known[path] = facts
            self._named[word] = known
        return self._named[word]

    def _changed(self, path: str) -> tuple[FileFacts | None, bool]:
        """(the file as the sides leave it, did one of them change it)."""
        ours, theirs = self._left.delta.files.get(path), self._right.delta.files.get(path)
        if ours is not None and theirs is not None:
            return _merged(ours, theirs), True
        only = ours or theirs
        return (only.after, True) if only is not None else (None, False)


def _merged(ours: ChangedFile, theirs: ChangedFile) -> FileFacts | None:
    """A file that both changed: without what either removed."""
    if ours.after is None or theirs.after is None:
        return None
    base = {row.name for row in ours.before.definitions} if ours.before is not None else set()
    left = {row.name for row in ours.after.definitions}
    right = {row.name for row in theirs.after.definitions}
    gone = (base - left) | (base - right)
    rows = [*ours.after.definitions, *(row for row in theirs.after.definitions if row.name not in left)]
    imports = tuple(dict.fromkeys((*ours.after.imports, *theirs.after.imports)))
    return replace(
        ours.after, definitions=tuple(row for row in rows if row.name not in gone), imports=imports
    )


def _same_scopes(left: _Work, right: _Work) -> bool:
    """Do both make a definition with the same name? In one package it need not be the same file."""
    ours = {name for _, name in left.delta.made}
    return any(name in ours for _, name in right.delta.made)


def _adds_migration(delta: Delta) -> bool:
    return any(kind == MIGRATION for kind, _ in delta.keys)


def _conflict(agents: tuple[str, ...], paths: tuple[str, ...], rows: list[dict[str, Any]]) -> Finding:
    symbols = [
        symbol for row in rows for conflict in row["conflicts"] for symbol in conflict.get("symbols", ())
    ]
    reasons = [conflict["doubt"] for row in rows for conflict in row["conflicts"] if conflict.get("doubt")]
    return Finding(
        kind=CONFLICT,
        agents=agents,
        files=paths,
        symbol=", ".join(dict.fromkeys(symbols[:3])),
        detail=reasons[0] if reasons and not symbols else "",
        interrupts=True,
    )


def _key_of(left: WorkSide, right: WorkSide) -> str:
    parts = [str(VERSION)]
    for side in (left, right):
        parts += [side.name, side.base_tree, side.tree, str(side.task)]
    return blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def _from_json(row: dict[str, Any]) -> Finding:
    return Finding(**{**row, "agents": tuple(row["agents"]), "files": tuple(row["files"])})
