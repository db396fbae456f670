"""Why each rule may settle a place: one sentence per rule, for people who review a merge."""

from __future__ import annotations

REASONS = {
    "git": "git's own merge, byte for byte",
    "lines": "the sides changed different lines",
    "blanks": "one side changed only blanks",
    "subsumed": "one side made every change of the other, and more",
    "words subsumed": "one side made the other's edits within these lines, and more",
    "neighbouring lines": "each line was changed by one side only",
    "version": "both sides raised the same version; the higher one stays",
    "authors": "both sides added a name to a list of authors",
    "imports": "imports are a set: additions and removals of both sides count",
    "members": "both sides added things with different names where order does not matter",
    "alike at the ends": "both sides wrote the same first or last lines; only one side changed the rest",
    "lines apart from blanks": "apart from blanks, the sides changed different lines",
    "touching lines": "the edits touch, and each line was changed or added by one side only",
    "entities": "whole functions, types or fields, each changed, moved or added by one side",
    "tokens": "the edits are in different parts of the lines",
    "keys": "entries by key, each changed by one side, or alike by both",
    "lines by key": "every line is an entry; additions and removals of both sides count",
    "packages": "requirements by package; of two ranges, the one that is within the other",
    "dependencies": "dependencies by name; of two ranges, the one that is within the other",
    "elements": "elements by name, each changed by one side, or alike by both",
    "modules": "modules by path; of two versions, the higher one, as Go selects it",
    "go.sum lines": "checksums by module and version; additions and removals of both sides count",
    "packages of the lock file": "every dependency is met by one package, and every package is needed",
    "points under headings": "points of both sides, under the heading to which they were added",
    "sections": "sections by heading, each changed or added by one side",
    "statements": "statements by what they create, each changed or added by one side",
    "rules and properties": "properties by name within their rule; neither side's can override the other's",
}


MADE_ANEW = "made anew by "


def why(rule: str) -> str:
    if rule.startswith(MADE_ANEW):
        return "the package manager wrote it from the merged manifests"
    return REASONS.get(rule, "")
