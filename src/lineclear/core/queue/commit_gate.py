"""The commit gate before a commit, a push or a landing: its findings, and which refs an agent may move.

claims/write_rule.py decides which files an agent may bring in; surfaces only warn a person. Facts come in as
arguments; nothing here asks git.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class GateFinding:
    """A path that may not come in, and the refusal that says why."""

    path: str
    refusal: Refusal

    @property
    def kind(self) -> str:
        return self.refusal.code


def tell(findings: Sequence[GateFinding]) -> str:
    """The findings in one sentence, for the author who has to fix them later."""
    told = "; ".join(f"{finding.path}: {finding.refusal.what.rstrip('.')}" for finding in findings[:5])
    more = len(findings) - 5
    return told + (f"; and {more} more" if more > 0 else "")


def judge_move(tree: str, ref: str, landing_ref: str) -> Refusal | None:
    """Why an agent in this worktree may not move this ref with its own git; None if it may. Main moves only
    by landing, except in the shared tree, where main may be checked out."""
    if ref.startswith("refs/lineclear/"):
        return refuse("gate.ref", ref=ref)
    if ref == landing_ref and tree.rpartition("/")[2] != "main":
        return refuse("gate.main", main=ref.removeprefix("refs/heads/"))
    return None


def pushed_refs(lines: Sequence[str]) -> list[tuple[str, str]]:
    """(local commit, remote ref) from the lines that git gives to a pre-push hook: local ref, local id,
    remote ref, remote id. Other lines are ignored."""
    pushed = [line.split(" ") for line in lines]
    return [(words[1], words[2]) for words in pushed if len(words) == 4]
