"""Why each rule may settle a place: one sentence per rule, for people who read a merge."""

from __future__ import annotations

REASONS = {
    "git": "git's own merge, byte for byte",
    "lines": "the sides changed different lines",
    "blanks": "one side changed nothing but blanks",
    "subsumed": "one side made every change of the other, and more",
    "words subsumed": "one side made the other's edits within these lines, and more",
    "neighbouring lines": "each line was changed by one side only",
    "version": "both sides raised one version; the higher one stays",
    "authors": "both sides added a name to a list of authors",
    "imports": "imports are a set: what either side added is there, what either removed is gone",
    "members": "both sides added things with different names where order means nothing",
    "alike at the ends": "both sides wrote the same first or last lines; the rest was changed by one side",
    "lines apart from blanks": "without blanks the sides changed different lines",
    "touching lines": "the edits touch, and each line was changed or added by one side only",
    "entities": "whole functions, types or fields, each changed, moved or added by one side",
    "tokens": "the edits lie apart within the lines",
    "keys": "entries by key, each changed by one side or alike by both",
    "lines by key": "every line is an entry; both sides' additions and removals count",
    "packages": "requirements by package; of two ranges the one that lies within the other",
    "dependencies": "dependencies by what they name; of two ranges the one within the other",
    "elements": "elements by what they name, each changed by one side or alike by both",
    "modules": "modules by path; of two versions the higher one, as Go selects it",
    "go.sum lines": "checksums by module and version; what either side added or removed",
    "packages of the lock file": "every dependency is met by one package that is there, and each is needed",
    "points under headings": "points of both sides under the heading they were added to",
    "sections": "sections by heading, each changed by one side or added by one",
    "statements": "statements by what they create, each changed by one side or added by one",
    "rules and properties": "properties by name within their rule; neither side's can take the other's back",
}


MADE_ANEW = "made anew by "


def why(rule: str) -> str:
    if rule.startswith(MADE_ANEW):
        return "the package manager wrote it from the merged manifests"
    return REASONS.get(rule, "")
