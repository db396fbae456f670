"""Merges three texts into one text or named conflicts. As pure as core: no file, no process, no clock.

For each file, the first of these that gives a result decides:
1. both sides are equal, or only one side changed the file;
2. git's own result, if it has no conflicts;
3. a conflict, if no rule may touch the file: too large, not text, markers in a side, generated;
4. if git's result is not known, a merge by lines that leaves no conflict;
5. the handler for this kind of file;
6. hunk by hunk: imports as a set, rules for lines, whole entities of the syntax tree, tokens;
7. a conflict.

`verify` checks the results of 5 and 6; it shares no rule with the mergers. If it finds an edit in the wrong
definition, 6 is tried once more with entities first; if a doubt remains, the result is a conflict.
"""

from __future__ import annotations

from lineclear.merge.result import Conflict, Labels, MergeResult, Settings

__all__ = ["Conflict", "Labels", "MergeResult", "Settings", "merge_texts"]


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
    """Merge one file. `base` is "" if both sides added it; `git_text` is git's own result, if known."""
    if left == right or right == base:
        return MergeResult(left, verdict="git")
    if left == base:
        return MergeResult(right, verdict="git")
    # Imported here: most files need no more than the comparison above.
    from lineclear.merge.engine import merge_diverged

    return merge_diverged(path, base, left, right, git_text, labels or Labels(), settings or Settings())
