"""The commit gate, before a commit, a push or a landing: what it finds, and which refs an agent may move.

Which files an agent may bring in is decided in write_rule.py; a person is only warned, which is the surface's
part. Facts come in as arguments; nothing here asks git.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.words.row import HELD, NOT_ALLOWED, STALE

if TYPE_CHECKING:
    from collections.abc import Sequence

# What a refusal of the command `gate` leaves with; whatever else it ends with lets git go on.
REFUSED_CODES = (HELD, NOT_ALLOWED, STALE)


@dataclass(frozen=True, slots=True)
class GateFinding:
    """A path, and the refusal that says why it may not come in."""

    path: str
    refusal: Refusal

    @property
    def kind(self) -> str:
        return self.refusal.code


def tell(findings: Sequence[GateFinding]) -> str:
    """All of it in one sentence, for an author who has to mend it later."""
    told = "; ".join(f"{finding.path}: {finding.refusal.what.rstrip('.')}" for finding in findings[:5])
    more = len(findings) - 5
    return told + (f"; and {more} more" if more > 0 else "")


def judge_move(tree: str, ref: str, landing_ref: str) -> Refusal | None:
    """May an agent in this worktree move this ref with its own git? In the shared tree it commits to the
    branch that is checked out there; from a worktree of its own it lands."""
    if ref.startswith("refs/lineclear/"):
        return refuse("gate.ref", ref=ref)
    if ref == landing_ref and tree.rpartition("/")[2] != "main":
        return refuse("gate.main", main=ref.removeprefix("refs/heads/"))
    return None


def pushed_refs(lines: Sequence[str]) -> list[tuple[str, str]]:
    """(local commit, remote ref) of each line that git gives to a pre-push hook: local ref, local id, remote
    ref, remote id. Other lines are passed over."""
    pushed = [line.split(" ") for line in lines]
    return [(words[1], words[2]) for words in pushed if len(words) == 4]
