"""Finds what breaks only when both sides' files come together: facts about both sides in, a plan out.

Git merges two new files silently even if they have the same migration number, parent, route or selector.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from lineclear.code.migrations import CHANGES, is_migration
from lineclear.code.routes import ROUTED
from lineclear.code.selectors import STYLES
from lineclear.merge import migrations, names_added
from lineclear.merge.handlers.locks import command_for

if TYPE_CHECKING:
    from collections.abc import Callable

    # (path, text, text before) -> kind -> name -> body
    NamesAdded = Callable[[str, str, str], dict[str, dict[str, str]]]
    Renumber = Callable[[dict[str, str], dict[str, str], set[str]], migrations.MigrationMoves]

_LOCAL = "change set"  # its file is part of its name


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """Texts are those of changed files; `paths` are the files in folders with migrations in the merged
    tree."""

    _: KW_ONLY
    left_added: set[str]
    right_added: set[str]
    base_texts: dict[str, str]
    left_texts: dict[str, str]
    right_texts: dict[str, str]
    paths: set[str]

    @staticmethod
    def is_migration(path: str) -> bool:
        return is_migration(path)

    @staticmethod
    def is_of_interest(path: str) -> bool:
        is_known = any(kind.fullmatch(path) for kind in (STYLES, ROUTED, CHANGES))
        return bool(is_known or command_for(path) or is_migration(path))


@dataclass(frozen=True, slots=True)
class TreeFinding:
    """Something that no rule may decide, and the files that it is about."""

    kind: str
    paths: list[str]
    text: str


class TreePlan:
    """`rewrites` are (path, whole new text), with the new path of renamed files; `locks` are lock files that
    both sides changed."""

    def __init__(self) -> None:
        self.renames: list[tuple[str, str]] = []
        self.rewrites: list[tuple[str, str]] = []
        self.commands: list[str] = []
        self.findings: list[TreeFinding] = []
        self.locks: list[str] = []


def merge_trees(
    facts: TreeFacts,
    names_of: NamesAdded = names_added.names_added,
    renumber: Renumber = migrations.renumber,
) -> TreePlan:
    """`names_of` and `renumber` read the texts; the caller may let them run elsewhere."""
    plan = TreePlan()
    left = {path: facts.left_texts.get(path, "") for path in facts.left_added if facts.is_migration(path)}
    right = {path: facts.right_texts.get(path, "") for path in facts.right_added if facts.is_migration(path)}
    new_left = {path: text for path, text in left.items() if path not in right}
    new_right = {path: text for path, text in right.items() if path not in left}
    if new_left and new_right:
        moves = renumber(new_left, new_right, facts.paths)
        plan.renames = [(old, new) for old, (new, _) in moves.changed.items() if old != new]
        plan.rewrites = [(new, text) for new, text in moves.changed.values()]
        plan.commands = moves.commands
        plan.findings += [TreeFinding("migration", paths, text) for paths, text in moves.doubts]
    plan.locks = _stale_locks(facts)
    plan.commands += map(command_for, plan.locks)
    theirs = _names(facts.right_texts, facts.base_texts, names_of)
    ours = _names(facts.left_texts, facts.base_texts, names_of) if any(theirs.values()) else {}
    for kind in names_added.KINDS:
        plan.findings += _both_add(ours.get(kind, {}), theirs[kind], kind)
    return plan


def can_meet(
    added: set[str],
    texts: dict[str, str],
    before: dict[str, str],
    names_of: NamesAdded = names_added.names_added,
) -> bool:
    """Does one side add anything that could clash with the other? If not, there is nothing to plan, and the
    other side need not be read."""
    if any(is_migration(path) for path in added) or any(map(command_for, texts)):
        return True
    return any(_names(texts, before, names_of).values())


def _stale_locks(facts: TreeFacts) -> list[str]:
    """The lock files that both sides changed: they may not fit the merged manifest, even if their lines
    merged cleanly."""
    both = sorted(set(facts.left_texts) & set(facts.right_texts))
    return [path for path in both if command_for(path) and facts.left_texts[path] != facts.right_texts[path]]


def _both_add(
    ours: dict[str, tuple[str, str]], theirs: dict[str, tuple[str, str]], kind: str
) -> list[TreeFinding]:
    """The names that both sides added, in different files or with different bodies."""
    found = []
    for name in sorted(set(ours) & set(theirs)):
        (path, body), (other, text) = ours[name], theirs[name]
        if path != other and kind == _LOCAL:
            continue
        if body != text or path != other:
            where = [path] if path == other else [path, other]
            found.append(TreeFinding(kind, where, f"{name} is defined by both sides ({' and '.join(where)})"))
    return found


def _names(
    texts: dict[str, str], before: dict[str, str], names_of: NamesAdded
) -> dict[str, dict[str, tuple[str, str]]]:
    """Kind -> name -> (file, body) of the names that the side added."""
    found: dict[str, dict[str, tuple[str, str]]] = {kind: {} for kind in names_added.KINDS}
    for path, text in texts.items():
        if not names_added.may_add_names(path, text):
            continue
        for kind, names in names_of(path, text, before.get(path, "")).items():
            found[kind] |= {name: (path, body) for name, body in names.items()}
    return found
