"""A finding: what is wrong between two sides, before anything is merged. A side is an agent, a branch or
main."""

from __future__ import annotations

from dataclasses import dataclass

CONFLICT, SAME_SYMBOL, SIGNATURE, REMOVED, SAME_NAME, DEPENDENCY = KINDS = (
    "conflict", "same-symbol", "signature", "removed", "same-name", "dependency",
)  # fmt: skip
MAIN = "main"
SURE, LIKELY, POSSIBLE = "sure", "likely", "possible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`agents`: first the side that made the change, then the sides that it concerns; in alphabetical order
    if both did the same. `old` and `new`: the two forms of the symbol; for what both made, the form
    of each side. `detail` says in a few words what does not fit or where it went. `interrupts`: it
    would break at landing. `task`: the task that made the change, 0 if the pass does not know it."""

    kind: str
    agents: tuple[str, ...]
    files: tuple[str, ...]
    symbol: str = ""
    old: str = ""
    new: str = ""
    detail: str = ""
    confidence: str = SURE
    interrupts: bool = False
    task: int = 0

    @property
    def key(self) -> str:
        """The same problem has the same key in every pass."""
        return "\n".join((self.kind, *self.agents, "", self.symbol, *self.files[:1]))
