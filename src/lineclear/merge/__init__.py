"""Three texts in, one text or named conflicts out. As pure as core: no file, no process, no clock.

Order per file, the first that answers:
1. equal sides, or one side without a change;
2. git's own text;
3. a conflict for what no rule may touch: too large, not text, markers in a side, generated files;
4. where git was not asked, a merge by lines that leaves no conflict;
5. the handler for this kind of file;
6. hunk by hunk: imports as a set, rules for lines, whole entities of the syntax tree, tokens;
7. a conflict.

What 5 and 6 made is checked by `verify`, which shares no rule with the mergers. If it finds an edit in the
wrong definition, 6 is done once more with entities first; a doubt that stays makes it a conflict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.merge.result import Conflict, Labels, MergeResult, Settings

if TYPE_CHECKING:
    from lineclear.merge.trees import TreeFacts, TreePlan

__all__ = ["Conflict", "Labels", "MergeResult", "Settings", "merge_texts", "merge_trees"]


def merge_texts(
    path: str,
    base: str,
    left: str,
    right: str,
    *,
    git_text: str | None = None,
    labels: Labels | None = None,
    settings: Settings | None = None,
) -> MergeResult:
    """Merge one file. `base` is empty when both sides added it; `git_text` is git's own result, if known."""
    if left == right or right == base:
        return MergeResult(left, verdict="git")
    if left == base:
        return MergeResult(right, verdict="git")
    from lineclear.merge.engine import merge_diverged

    return merge_diverged(path, base, left, right, git_text, labels or Labels(), settings or Settings())


def merge_trees(facts: TreeFacts) -> TreePlan:
    """What to change, run or report after a merge of whole trees, so that the files fit together."""
    from lineclear.merge.trees import merge_trees as plan

    return plan(facts)
