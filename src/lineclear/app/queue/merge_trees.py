"""Merge two trees: by git first, then by our rules each file that git left in conflict; then find what breaks
only in combination.

Reads and writes objects through the `MergeTrees` port; touches no work tree and no reference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lineclear.merge.across_files import TreeFacts, TreeFinding, TreePlan, can_meet, merge_trees
from lineclear.merge.lines import name_markers, split_lines, write_conflict
from lineclear.merge.migrations import MigrationMoves
from lineclear.merge.rule_jobs import MergeJob, NamesJob, RenumberJob, RuleFailure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from lineclear.app.queue.lock_making import LockMaker
    from lineclear.merge.result import Labels, MergeResult
    from lineclear.merge.rule_jobs import Job

    # (status letter, object id in the base, object id on the side)
    Change = tuple[str, str, str]

    class MergeTrees(Protocol):
        """The object store of one git repository."""

        def merge(
            self, base: str, left: str, right: str
        ) -> tuple[str, dict[str, dict[int, tuple[str, str]]]]:
            """Git's own merge: the tree it wrote, and per path in conflict stage -> (mode, object id)."""

        def read(self, oids: Iterable[str]) -> dict[str, bytes]:
            """The content of blobs."""

        def changed(self, base: str, side: str) -> dict[str, Change]:
            """Paths of plain files that differ; renames are not followed."""

        def paths(self, tree: str, directories: Iterable[str]) -> list[str]:
            """Every file in the tree below these directories."""

        def files(self, tree: str) -> dict[str, tuple[str, str]]:
            """path -> (mode, object id), for every file of a tree or commit."""

        def entries(self, tree: str, paths: Iterable[str]) -> dict[str, tuple[str, str]]:
            """(mode, object id) of those of the paths that the tree holds."""

        def write(self, tree: str, files: dict[str, tuple[str, bytes | None]]) -> str:
            """Write a copy of `tree` in which these paths have this mode and content (None removes)."""

    class MergeRules(Protocol):
        """Runs the rules that read the texts. They may crash on a text; then only that job fails."""

        def run(self, jobs: Sequence[Job], /) -> list[Any]:
            """For each job the value that its `read_answer` makes, or a `RuleFailure`; in the order of the
            jobs."""


PLAIN = ("100644", "100755")
_TWO_MODES = {
    "kind": "mode",
    "doubt": "both sides added it, and only one of them made it executable",
    "text": "both sides added it, and only one of them made it executable",
}


def merge_two_trees(
    trees: MergeTrees,
    base: str,
    left: str,
    right: str,
    labels: Labels,
    rules: MergeRules,
    maker: LockMaker | None = None,
) -> dict[str, Any]:
    """Returns a report: `tree` (its id), `clean`, and `files`: what was merged, what is in conflict, and why.

    With a `maker`, lock files that both sides changed are regenerated where allowed; `locks` lists them.
    """
    tree, open_files = trees.merge(base, left, right)
    results = merge_open_files(trees, tree, open_files, labels, rules)
    files = [file_report(path, open_files[path], results.get(path)) for path in sorted(open_files)]
    written = {path: (_mode(open_files[path]), result.text.encode()) for path, result in results.items()}
    tree = trees.write(tree, dict(written)) if written else tree
    report = {"tree": tree, "clean": all(file["clean"] for file in files), "files": files}
    report, locks = _combine(trees, base, left, right, report, rules)
    if maker is not None and locks:
        from lineclear.app.queue.lock_making import remake_locks

        remake_locks(trees, left, locks, report, maker)
    return report


def merge_open_files(
    trees: MergeTrees,
    tree: str,
    open_files: Mapping[str, Mapping[int, tuple[str, str]]],
    labels: Labels,
    rules: MergeRules,
) -> dict[str, MergeResult | RuleFailure]:
    """The result for each file in which git's merge, `tree`, left a conflict; none for what is not text."""
    mergeable = {path: stages for path, stages in sorted(open_files.items()) if _is_mergeable(stages)}
    left_by_git = trees.entries(tree, mergeable) if mergeable else {}
    mergeable = {
        path: rows for path, rows in mergeable.items() if not _is_refused(rows, left_by_git.get(path))
    }
    blobs = trees.read({oid for stages in mergeable.values() for _, oid in stages.values()})
    texts = {path: _texts(blobs, stages) for path, stages in mergeable.items()}
    jobs = [MergeJob(path, *found, labels) for path, found in texts.items() if found is not None]
    results = dict(zip([job.path for job in jobs], rules.run(jobs), strict=True))
    for job in jobs:
        failure = results[job.path]
        if isinstance(failure, RuleFailure):
            text = _left_by_git(trees, left_by_git.get(job.path), job)
            results[job.path] = replace(failure, text=text)
    return results


def _left_by_git(trees: MergeTrees, entry: tuple[str, str] | None, job: MergeJob) -> str:
    """Git's own text with its markers; both sides whole where git put the file elsewhere."""
    if entry is None:
        return "".join(write_conflict(split_lines(job.left), split_lines(job.right), job.labels, ""))
    text = trees.read([entry[1]])[entry[1]].decode("utf-8", "replace")
    return name_markers(text, job.left, job.right, job.labels)


def _is_refused(stages: Mapping[int, tuple[str, str]], entry: tuple[str, str] | None) -> bool:
    """Did git leave the left side as it was? It does so with a file that is binary, or whose attributes say
    `-merge` or `binary`, and never with a text: that gets markers."""
    return entry is not None and entry[1] == stages[2][1] != stages[3][1]


def _is_mergeable(stages: Mapping[int, tuple[str, str]]) -> bool:
    """Is it a plain file on both sides? It may still turn out not to be text."""
    return 2 in stages and 3 in stages and all(mode in PLAIN for mode, _ in stages.values())


def _mode(stages: Mapping[int, tuple[str, str]]) -> str:
    """The right side's mode if only that side changed it, else the left side's."""
    left, right = stages[2][0], stages[3][0]
    return right if 1 in stages and left == stages[1][0] else left


def _texts(blobs: dict[str, bytes], stages: Mapping[int, tuple[str, str]]) -> tuple[str, str, str] | None:
    """The texts of base, left and right ("" for a missing one); None if one of them is not text."""
    try:
        base, left, right = (
            blobs[stages[stage][1]].decode() if stage in stages else "" for stage in (1, 2, 3)
        )
    except UnicodeDecodeError:
        return None
    return None if any("\0" in text for text in (base, left, right)) else (base, left, right)


def file_report(
    path: str, stages: Mapping[int, tuple[str, str]], result: MergeResult | RuleFailure | None
) -> dict[str, Any]:
    """The report on a file that git left in conflict; without a result, why it could not be merged."""
    if result is None or isinstance(result, RuleFailure):
        kind, doubt = "not text", "git does not merge it: it is not text, or its attributes say so"
        if result is not None:
            kind, doubt = "rules failed", result.reason
        elif not (2 in stages and 3 in stages):
            kind, doubt = "delete/edit", "one side removed the file, the other changed it"
        place = {"kind": kind, "doubt": doubt} | ({"text": doubt} if result is not None else {})
        return {"path": path, "clean": False, "conflicts": [place], "rules": [], "verdict": kind}
    report = {"path": path, "clean": result.is_clean, **result_data(result)}
    if 1 not in stages and stages[2][0] != stages[3][0]:
        report["clean"] = False
        report["conflicts"].append(dict(_TWO_MODES))
    return report


def result_data(result: MergeResult) -> dict[str, Any]:
    conflicts = [
        {
            "first_line": conflict.first_line,
            "last_line": conflict.last_line,
            "kind": conflict.kind,
            "symbols": conflict.symbols,
            "doubt": conflict.doubt,
        }
        for conflict in result.conflicts
    ]
    rules = [{"where": where, "rule": rule} for where, rule in result.rules]
    return {"conflicts": conflicts, "rules": rules, "verdict": result.verdict}


# -- across files --------------------------------------------------------------------------------


def _combine(
    trees: MergeTrees, base: str, left: str, right: str, report: dict[str, Any], rules: MergeRules
) -> tuple[dict[str, Any], dict[str, str]]:
    """Add to the report what git cannot see: migrations with the same number, a selector or route that both
    sides add. Also returns the lock files that both sides changed, with the left side's object id."""
    plan, ours = _plan(trees, base, left, right, report["tree"], rules)
    if plan.renames or plan.rewrites:
        moved = {old: ("100644", None) for old, _ in plan.renames}
        new = {path: ("100644", text.encode()) for path, text in plan.rewrites}
        report["tree"] = trees.write(report["tree"], {**moved, **new})
    report["renames"] = [{"from": old, "to": new} for old, new in plan.renames]
    report["commands"] = plan.commands
    report["findings"] = [
        {"kind": finding.kind, "paths": finding.paths, "text": finding.text} for finding in plan.findings
    ]
    report["locks"] = []
    report["clean"] = report["clean"] and not plan.findings
    return report, {path: ours[path] for path in plan.locks}


def _plan(
    trees: MergeTrees, base: str, left: str, right: str, tree: str, rules: MergeRules
) -> tuple[TreePlan, dict[str, str]]:
    """What the combination needs, and the left side's object ids."""
    # The right side is a single piece of work; reading all that the left side changed may cost far more.
    theirs = _Side(trees, base, right)
    reading = _ContainedReading(rules)
    if not can_meet(theirs.added, theirs.texts, theirs.base_texts, reading.names_of):
        plan = TreePlan()
        plan.findings = reading.findings(theirs.texts, theirs.base_texts)
        return plan, {}
    ours = _Side(trees, base, left)
    folders = {
        path.rpartition("/")[0] for path in {**ours.texts, **theirs.texts} if TreeFacts.is_migration(path)
    }
    facts = TreeFacts(
        left_added=ours.added,
        right_added=theirs.added,
        base_texts={**ours.base_texts, **theirs.base_texts},
        left_texts=ours.texts,
        right_texts=theirs.texts,
        paths=set(trees.paths(tree, sorted(folders))) if folders else set(),
    )
    plan = merge_trees(facts, reading.names_of, reading.renumber)
    plan.findings += reading.findings(theirs.texts, theirs.base_texts)
    return plan, ours.objects


class _ContainedReading:
    """Reads names and migrations by `MergeRules`, and remembers where that failed."""

    def __init__(self, rules: MergeRules) -> None:
        self._rules = rules
        self._names: dict[tuple[str, str, str], Any] = {}
        self._unnumbered: list[TreeFinding] = []

    def names_of(self, path: str, text: str, before: str) -> dict[str, dict[str, str]]:
        """A file that the rules cannot read has no names: others must not wait for who wrote it."""
        key = (path, text, before)
        if key not in self._names:
            self._names[key] = self._rules.run([NamesJob(path, text, before)])[0]
        found = self._names[key]
        return {} if isinstance(found, RuleFailure) else found

    def renumber(self, left: dict[str, str], right: dict[str, str], paths: set[str]) -> MigrationMoves:
        moves: MigrationMoves | RuleFailure = self._rules.run([RenumberJob(left, right, paths)])[0]
        if isinstance(moves, RuleFailure):
            self._unnumbered = [TreeFinding("migration", sorted(right), moves.reason)]
            return MigrationMoves()
        return moves

    def findings(self, texts: dict[str, str], before: dict[str, str]) -> list[TreeFinding]:
        """The right side's files that the rules cannot read. Those that they could not read before either
        are not its fault."""
        found = list(self._unnumbered)
        for (path, text, old), answer in list(self._names.items()):
            if not isinstance(answer, RuleFailure) or (texts.get(path), before.get(path, "")) != (text, old):
                continue
            if not old or not isinstance(self._rules.run([NamesJob(path, old, "")])[0], RuleFailure):
                found.append(TreeFinding("rules failed", [path], answer.reason))
        return found


class _Side:
    """The files that one side changed and that can clash with another file, as text."""

    def __init__(self, trees: MergeTrees, base: str, side: str) -> None:
        rows = {
            path: row
            for path, row in trees.changed(base, side).items()
            if row[0] != "D" and TreeFacts.is_of_interest(path)
        }
        blobs = trees.read(
            {oid for kind, old, new in rows.values() for oid in ((new,) if kind == "A" else (old, new))}
        )
        texts = {oid: content.decode("utf-8", "replace") for oid, content in blobs.items()}
        self.added = {path for path, row in rows.items() if row[0] == "A"}
        self.base_texts = {path: texts[row[1]] for path, row in rows.items() if row[0] != "A"}
        self.texts = {path: texts[row[2]] for path, row in rows.items()}
        self.objects = {path: row[2] for path, row in rows.items()}
