"""How a resource is shared, by the repository's patterns; the last matching pattern wins."""

from __future__ import annotations

from lineclear.core.claims.resources import covers, overlaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.claims.resources import Resource

ISOLATED, SINGLE_WRITER, OPTIMISTIC = "isolated", "single-writer", "optimistic"
LOCKED, READ_ONLY = "locked", "read-only"
STRATEGIES = (ISOLATED, SINGLE_WRITER, OPTIMISTIC, LOCKED, READ_ONLY)

# Binary assets nobody can merge; everything else in the tree has a copy per agent and is merged.
UNMERGEABLE = (
    "png", "jpg", "jpeg", "gif", "webp", "ico", "pdf", "zip", "gz", "woff", "woff2", "ttf", "otf", "mp3",
    "mp4", "mov", "psd", "sqlite", "xlsx", "docx", "pptx",
)  # fmt: skip

# What a scheme means when no pattern says otherwise.
SCHEME_DEFAULTS = {"file": ISOLATED, "symbol": ISOLATED, "value": OPTIMISTIC}


class Rule:
    """One `[[strategy]]` of lineclear.toml, or a built-in default. `phase`: the only one it is written in."""

    __slots__ = ("origin", "owner", "phase", "resource", "strategy")

    def __init__(
        self, resource: Resource, strategy: str, owner: str = "", origin: str = "default", phase: str = ""
    ) -> None:
        self.resource, self.strategy, self.owner, self.origin = resource, strategy, owner, origin
        self.phase = phase


class Sharing:
    """The answer for one resource: the strategy, its owner and the phase it is bound to if it has them, and
    which rule said so."""

    __slots__ = ("origin", "owner", "phase", "strategy")

    def __init__(self, strategy: str, owner: str, origin: str, phase: str = "") -> None:
        self.strategy, self.owner, self.origin, self.phase = strategy, owner, origin, phase


def strategy_for(resource: Resource, rules: list[Rule]) -> Sharing:
    """The last rule that covers the resource; for a directory or glob, one that reaches into it.

    A directory that holds a locked file is not locked as a whole: only rules that cover all of it
    count. A default by scheme stands below every rule.
    """
    for rule in reversed(rules):
        if rule.resource.text == resource.text or covers(rule.resource, resource):
            return Sharing(rule.strategy, rule.owner, rule.origin, rule.phase)
    if resource.scheme == "file" and resource.kind == "file" and is_unmergeable(resource.path):
        return Sharing(LOCKED, "", "default: no merge for this kind of file")
    return Sharing(SCHEME_DEFAULTS.get(resource.scheme, LOCKED), "", "default")


def is_unmergeable(path: str) -> bool:
    _, dot, ending = path.rpartition(".")
    return bool(dot) and ending.lower() in UNMERGEABLE


def rules_inside(resource: Resource, rules: list[Rule]) -> list[Rule]:
    """Rules that hold for some part of a directory or glob, for explaining it."""
    return [rule for rule in rules if overlaps(rule.resource, resource)]
