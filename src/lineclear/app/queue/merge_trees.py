"""Merge two trees: by git first, then by our rules each file that git left in conflict; then find what breaks
only in combination.

Reads and writes objects through the `MergeTrees` port; touches no work tree and no reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.merge import Labels, merge_texts, merge_trees
from lineclear.merge.across_files import TreeFacts, TreePlan, can_meet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Protocol

    from lineclear.app.queue.lock_making import LockMaker
    from lineclear.merge.result import MergeResult

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

        def write(self, tree: str, files: dict[str, tuple[str, bytes | None]]) -> str:
            """Write a copy of `tree` in which these paths have this mode and content (None removes)."""

    Job = tuple[str, str, str, str, Labels]
    Spread = Callable[[Callable[[Job], MergeResult], list[Job]], Iterable[MergeResult]]

PLAIN = ("100644", "100755")


def merge_two_trees(
    trees: MergeTrees,
    base: str,
    left: str,
    right: str,
    labels: Labels,
    spread: Spread,
    maker: LockMaker | None = None,
) -> dict[str, Any]:
    """Returns a report: `tree` (its id), `clean`, and `files`: what was merged, what is in conflict, and why.

    With a `maker`, lock files that both sides changed are regenerated where allowed; `locks` lists them.
    """
    tree, open_files = trees.merge(base, left, right)
    mergeable = {path: stages for path, stages in sorted(open_files.items()) if is_mergeable(stages)}
    blobs = trees.read({oid for stages in mergeable.values() for _, oid in stages.values()})
    texts = {path: _texts(blobs, stages) for path, stages in mergeable.items()}
    work = [(path, *found, labels) for path, found in texts.items() if found is not None]
    results = dict(zip([job[0] for job in work], spread(_merge_one, work), strict=True))
    settled = {path: result for path, result in results.items() if result.is_clean}
    written = {path: (_mode(open_files[path]), result.text.encode()) for path, result in results.items()}
    files = [file_report(path, open_files[path], results.get(path)) for path in sorted(open_files)]
    tree = trees.write(tree, dict(written)) if written else tree
    report = {"tree": tree, "clean": len(settled) == len(open_files), "files": files}
    report, locks = _combine(trees, base, left, right, report)
    if maker is not None and locks:
        from lineclear.app.queue.lock_making import remake_locks

        remake_locks(trees, left, locks, report, maker)
    return report


def is_mergeable(stages: Mapping[int, tuple[str, str]]) -> bool:
    """Is it a plain file on both sides? It may still turn out not to be text."""
    return 2 in stages and 3 in stages and all(mode in PLAIN for mode, _ in stages.values())


def _mode(stages: dict[int, tuple[str, str]]) -> str:
    """The right side's mode if only that side changed it, else the left side's."""
    left, right = stages[2][0], stages[3][0]
    return right if 1 in stages and left == stages[1][0] else left


def _texts(blobs: dict[str, bytes], stages: dict[int, tuple[str, str]]) -> tuple[str, str, str] | None:
    """The texts of base, left and right ("" for a missing one); None if one of them is not text."""
    try:
        base, left, right = (
            blobs[stages[stage][1]].decode() if stage in stages else "" for stage in (1, 2, 3)
        )
    except UnicodeDecodeError:
        return None
    return base, left, right


def _merge_one(job: Job) -> MergeResult:
    path, base, left, right, labels = job
    return merge_texts(path, base, left, right, labels=labels)


def file_report(
    path: str, stages: Mapping[int, tuple[str, str]], result: MergeResult | None
) -> dict[str, Any]:
    """The report on a file that git left in conflict; without a result, why it could not be merged."""
    if result is None:
        kind, doubt = "not text", "the file is not text on both sides"
        if not (2 in stages and 3 in stages):
            kind, doubt = "delete/edit", "one side removed the file, the other changed it"
        place = {"kind": kind, "doubt": doubt}
        return {"path": path, "clean": False, "conflicts": [place], "rules": [], "verdict": kind}
    return {"path": path, "clean": result.is_clean, **result_data(result)}


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
    trees: MergeTrees, base: str, left: str, right: str, report: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Add to the report what git cannot see: migrations with the same number, a selector or route that both
    sides add. Also returns the lock files that both sides changed, with the left side's object id."""
    plan, ours = _plan(trees, base, left, right, report["tree"])
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


def _plan(trees: MergeTrees, base: str, left: str, right: str, tree: str) -> tuple[TreePlan, dict[str, str]]:
    """What the combination needs, and the left side's object ids."""
    # The right side is a single piece of work; reading all that the left side changed may cost far more.
    theirs = _Side(trees, base, right)
    if not can_meet(theirs.added, theirs.texts, theirs.base_texts):
        return TreePlan(), {}
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
    return merge_trees(facts), ours.objects


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
