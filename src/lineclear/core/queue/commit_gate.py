"""The commit gate before a commit, a push or a landing: its findings, and which refs an agent may move.

claims/write_rule.py decides which files an agent may bring in; surfaces only warn a person. Facts come in as
arguments; nothing here asks git.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.agents.names import is_main_tree
from lineclear.core.words.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MARKERS, UNSAFE = "write.markers", "gate.path"
MOST_TOLD = 5


@dataclass(frozen=True, slots=True)
class GateFinding:
    """A path that may not come in, and the refusal that says why. `is_passing`: only another agent's claim
    keeps it out, until that ends."""

    path: str
    refusal: Refusal
    is_passing: bool = False

    @property
    def kind(self) -> str:
        return self.refusal.code


# Added or removed lines that match make git look closer; in POSIX and in Python.
MARKER_LINE = "^(<<<<<<<|>>>>>>>)( |\r?$)"
_OPENS = re.compile(r"^<<<<<<<(?: |\r?$)", re.MULTILINE)
# A lone `>>>>>>>` may be a quotation; after `=======` it is the rest of a conflict.
_CLOSES = re.compile(r"^=======\r?\n(?:.*\n)*?>>>>>>>(?: |\r?$)", re.MULTILINE)


def first_marker(before: str, after: str) -> int:
    """The line of the first conflict marker that a change adds; 0 if it adds none. A file that had markers
    before is about markers."""
    if _marker_in(before) is not None:
        return 0
    found = _marker_in(after)
    return after.count("\n", 0, found.start()) + 1 if found is not None else 0


def _marker_in(text: str) -> re.Match[str] | None:
    found = _OPENS.search(text) if "<<<<<<<" in text else None
    return found or (_CLOSES.search(text) if ">>>>>>>" in text else None)


# Characters that the file system of macOS ignores in names.
_IGNORED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


def is_unsafe(path: str) -> bool:
    """Is this a path that git refuses to check out: one that leaves the work tree, or leads into `.git` on
    Linux, macOS or Windows? A branch that holds one stops every checkout of main."""
    if any(part in ("", ".", "..") for part in path.split("/")):
        return True
    # Windows takes a backslash for a slash, ignores what follows a colon and dots and spaces at the end of a
    # name, and calls `.git` also `git~1`.
    parts = path.translate(_IGNORED).lower().replace("\\", "/").split("/")
    return any(part.partition(":")[0].rstrip(" .") in (".git", "git~1") for part in parts)


def judge_paths(paths: Iterable[str]) -> list[GateFinding]:
    """The paths among these that nobody may land."""
    return [GateFinding(path, refuse(UNSAFE, path=path)) for path in paths if is_unsafe(path)]


def why_not(author: str, findings: Sequence[GateFinding]) -> str:
    """Why a branch cannot land, in one sentence for its author."""
    if all(finding.kind == UNSAFE for finding in findings):
        paths = ", ".join(finding.path for finding in findings[:MOST_TOLD])
        return f"it adds paths that no git can check out: {paths}{_more(findings)}"
    if all(finding.kind == MARKERS for finding in findings):
        places = [f"{one.path} at line {one.refusal.facts['line']}" for one in findings[:MOST_TOLD]]
        return f"it adds conflict markers: {', '.join(places)}{_more(findings)}"
    return f"it changes files that {author or 'its author'} may not change: {tell(findings)}"


def why_wait(findings: Sequence[GateFinding]) -> str:
    """Whose claims a branch waits for, and until when; "" if waiting would not help. The words stay the same
    as long as the claims do."""
    if not findings or not all(finding.is_passing for finding in findings):
        return ""
    # Without the time left, which changes.
    held = dict.fromkeys(finding.refusal.who.partition(" (in ")[0] for finding in findings)
    more = len(held) - MOST_TOLD
    return f"waits: {'; '.join(list(held)[:MOST_TOLD])}" + (f"; and {more} more" if more > 0 else "")


def tell(findings: Sequence[GateFinding]) -> str:
    """The findings in one sentence, for the author who has to fix them later."""
    told = [f"{finding.path}: {_words(finding.refusal)}" for finding in findings[:MOST_TOLD]]
    return "; ".join(told) + _more(findings)


def _words(refusal: Refusal) -> str:
    """What is refused, and if somebody holds it, who and until when."""
    who = f" ({refusal.who.rstrip('.')})" if refusal.code == "write.held" else ""
    return refusal.what.rstrip(".") + who


def _more(findings: Sequence[GateFinding]) -> str:
    more = len(findings) - MOST_TOLD
    return f"; and {more} more" if more > 0 else ""


def judge_move(tree: str, ref: str, landing_ref: str) -> Refusal | None:
    """Why an agent in this worktree may not move this ref with its own git; None if it may. Main moves only
    by landing, except in the shared tree, where main may be checked out."""
    if ref.startswith("refs/lineclear/"):
        return refuse("gate.ref", ref=ref)
    if ref == landing_ref and not is_main_tree(tree):
        return refuse("gate.main", main=ref.removeprefix("refs/heads/"))
    return None


def pushed_refs(lines: Sequence[str]) -> list[tuple[str, str]]:
    """(local commit, remote ref) from the lines that git gives to a pre-push hook: local ref, local id,
    remote ref, remote id. Other lines are ignored."""
    pushed = [line.split(" ") for line in lines]
    return [(words[1], words[2]) for words in pushed if len(words) == 4]
