"""How a resource is shared, according to the repository's patterns; the last matching pattern wins."""

from __future__ import annotations

from lineclear.core.claims.resources import covers, overlaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.claims.resources import Resource

ISOLATED, SINGLE_WRITER, OPTIMISTIC = "isolated", "single-writer", "optimistic"
LOCKED, READ_ONLY = "locked", "read-only"
STRATEGIES = (ISOLATED, SINGLE_WRITER, OPTIMISTIC, LOCKED, READ_ONLY)
# From the loosest to the strictest.
_STRICTNESS = (ISOLATED, OPTIMISTIC, SINGLE_WRITER, LOCKED, READ_ONLY)

# Binary files that cannot be merged; each agent has its own copy of all other files, which are merged.
UNMERGEABLE = (
    "png", "jpg", "jpeg", "gif", "webp", "ico", "pdf", "zip", "gz", "woff", "woff2", "ttf", "otf", "mp3",
    "mp4", "mov", "psd", "sqlite", "xlsx", "docx", "pptx",
)  # fmt: skip

# The strategy of a scheme if no pattern matches.
SCHEME_DEFAULTS = {"file": ISOLATED, "symbol": ISOLATED, "value": OPTIMISTIC}


class Rule:
    """One `[[strategy]]` of lineclear.toml, or a built-in default. `phase`: the only phase in which the
    resource is written."""

    __slots__ = ("origin", "owner", "phase", "resource", "strategy")

    def __init__(
        self, resource: Resource, strategy: str, owner: str = "", origin: str = "default", phase: str = ""
    ) -> None:
        self.resource, self.strategy, self.owner, self.origin = resource, strategy, owner, origin
        self.phase = phase


class UncommittedRules(list[Rule]):
    """The rules of a file that main has not committed like this. Anybody could have written it, so each
    resource is shared as `committed` says, unless these rules are stricter."""

    __slots__ = ("committed",)

    def __init__(self, written: list[Rule], committed: list[Rule]) -> None:
        super().__init__(written)
        self.committed = committed


class Sharing:
    """How one resource is shared: the strategy, its owner and phase or "", and which rule decided."""

    __slots__ = ("origin", "owner", "phase", "strategy")

    def __init__(self, strategy: str, owner: str, origin: str, phase: str = "") -> None:
        self.strategy, self.owner, self.origin, self.phase = strategy, owner, origin, phase


def strategy_for(resource: Resource, rules: list[Rule]) -> Sharing:
    """The strategy of the last rule that covers the whole resource, else the default of its scheme.

    A directory that contains a locked file is not locked as a whole.
    """
    if not isinstance(rules, UncommittedRules):
        return _by_last(resource, rules)
    written, floor = _by_last(resource, list(rules)), _by_last(resource, rules.committed)
    more = _STRICTNESS.index(written.strategy) - _STRICTNESS.index(floor.strategy)
    if more < 0 or (more == 0 and not floor.origin.startswith("default")):
        return floor
    written.phase = floor.phase or written.phase
    return written


def _by_last(resource: Resource, rules: list[Rule]) -> Sharing:
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
    """The rules that apply to some part of a directory or glob, to explain it."""
    return [rule for rule in rules if overlaps(rule.resource, resource)]
