"""Rules for worktrees: names and branches, where they may be, their ports, and when one may be removed.

Facts come in as arguments; nothing here reads a disk, a port or git.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from lineclear.core.agents.names import is_plain_name
from lineclear.core.words.computed.worktrees import bad_place, no_room
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# Who made a worktree: we, one of the clients, or somebody with `git worktree add`.
OURS, CLAUDE, CODEX, GIT = "lineclear", "claude", "codex", "git"

# Git's reason for its own lock while it makes a worktree; the lock stays if git is killed.
HALF_MADE = "initializing"
_MOST_SLUG_CHARS = 40
_MOST_BRANCH_CHARS = 200
_BAD_IN_REF = frozenset(" ~^:?*[\\\x7f")
_SMALL_WORDS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


# -- names ------------------------------------------------------------------------------------


def worktree_name(text: str) -> str:
    """The name, if git keeps it unchanged: it names the directory, and git uses it for the worktree."""
    if not is_plain_name(text) or ".." in text or text.endswith((".", ".lock")):
        why = (
            'use 1 to 64 of A-Z a-z 0-9 "." "_" "-", a letter or digit first, no "..", no ".lock" at its end'
        )
        raise refuse("input.bad", name="worktree", given=text, why=why)
    if text.lower() == "main":
        raise refuse("input.bad", name="worktree", given=text, why="that is the main worktree's name")
    return text


def name_for(agent: str, task: int) -> str:
    """The default name of an agent's worktree; the levels of a sub-agent's name are joined."""
    return worktree_name(agent.replace("/", "-")[:64].rstrip(".-") if agent else f"T-{task}")


def lock_name(name: str) -> str:
    """The name of the lock for making or removing a worktree. Git's name for a worktree that somebody else
    made may have characters that a lock's name may not."""
    plain = "".join(ch if ch.isascii() and (ch.isalnum() or ch in "._-") else "_" for ch in name)
    return "worktree-" + plain[:100]


def branch_for(prefix: str, name: str, task: int, title: str) -> str:
    """`lineclear/ada`, or `lineclear/T-12-login-form` for work on a task."""
    if not task:
        return prefix + name
    words = slug(title)
    return f"{prefix}T-{task}-{words}" if words else f"{prefix}T-{task}"


def is_own_branch(branch: str, prefix: str, name: str, task: int) -> bool:
    """Did we choose this branch's name (perhaps with a number at its end), so that we may delete it?"""
    chosen = f"{prefix}T-{task}" if task else prefix + name
    return branch == chosen or branch.startswith(chosen + "-")


def slug(title: str) -> str:
    """The first whole words of a title as a branch can have them: lower-case ASCII letters and digits, joined
    by dashes."""
    plain = "".join(ch if ch in _SMALL_WORDS else " " for ch in title.lower())
    kept = ""
    for word in plain.split():
        longer = f"{kept}-{word}" if kept else word
        if len(longer) > _MOST_SLUG_CHARS:
            break
        kept = longer
    return kept


def branch_name(text: str) -> str:
    """The name, if git allows it for a branch (`git check-ref-format --branch`)."""
    if not 0 < len(text) <= _MOST_BRANCH_CHARS:
        why = f"it must have 1 to {_MOST_BRANCH_CHARS} characters"
    elif text[0] == "-" or text in ("@", "HEAD"):
        why = "git does not accept it as a branch name"
    elif any(ch < " " or ch in _BAD_IN_REF for ch in text):
        why = "git does not allow spaces or any of ~ ^ : ? * [ \\ in it"
    elif ".." in text or "@{" in text or text.endswith("."):
        why = 'git does not allow "..", "@{" or a dot at its end'
    elif any(not part or part[0] == "." or part.endswith(".lock") for part in text.split("/")):
        why = 'no part of it may be empty, begin with a dot or end with ".lock"'
    else:
        return text
    raise refuse("input.bad", name="branch", given=text, why=why)


def check_clash(kind: str, wanted: str, others: Iterable[str]) -> None:
    """Refuse a name that differs from another one only in case: some disks ignore case."""
    folded = wanted.casefold()
    for other in others:
        if other != wanted and other.casefold() == folded:
            raise refuse("worktree.case", kind=kind, name=wanted, other=other)


def check_room_for_ref(branch: str, others: Iterable[str]) -> None:
    """Refuse a branch that cannot exist beside another: git stores them like files, so `a` excludes `a/b`."""
    for other in others:
        if other.startswith(branch + "/") or branch.startswith(other + "/"):
            raise refuse("worktree.branch_blocked", branch=branch, other=other)


def next_free(wanted: str, taken: Iterable[str]) -> str:
    """`wanted`, else `wanted-2`, `wanted-3`, ...: the first that is not taken, ignoring case."""
    folded = {name.casefold() for name in taken}
    candidate, number = wanted, 1
    while candidate.casefold() in folded:
        number += 1
        candidate = f"{wanted}-{number}"
    return candidate


# -- paths ------------------------------------------------------------------------------------


def check_place(path: str, common_dir: str, worktrees: Mapping[str, str]) -> None:
    """Refuse a path inside git's own directory, or a path inside or around another worktree."""
    if is_inside(path, common_dir):
        raise bad_place(path, "it is inside git's own directory")
    for name, root in worktrees.items():
        if is_inside(path, root):
            raise bad_place(path, f"it is inside the worktree {name}")
        if is_inside(root, path):
            raise bad_place(path, f"the worktree {name} is inside it")


def is_inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def origin_of(path: str, codex_home: str) -> str:
    """Who made a worktree, judged by its path."""
    if "/.claude/worktrees/" in path:
        return CLAUDE
    return CODEX if codex_home and is_inside(path, f"{codex_home}/worktrees") else GIT


def check_pattern(setting: str, pattern: str) -> None:
    """Refuse a pattern of files to copy or link that leaves the repository or enters git's directory."""
    parts = pattern.split("/")
    if not pattern or pattern[0] in "/~" or ".." in parts:
        raise refuse(
            "input.bad",
            name=setting,
            given=pattern,
            why="it must be relative to the repository's root and stay inside it",
        )
    if ".git" in (part.lower() for part in parts):
        raise refuse("input.bad", name=setting, given=pattern, why="the .git directory belongs to git")


# -- ports ------------------------------------------------------------------------------------


def choose_ports(
    taken: Iterable[tuple[int, int]], *, count: int, low: int, high: int, is_free: Callable[[int], bool]
) -> int:
    """The first of `count` consecutive ports in [low, high] that no other worktree has and that `is_free`
    confirms; 0 if `count` is 0. `taken` are (first, count)."""
    if count == 0:
        return 0
    ranges = sorted((first, first + length - 1) for first, length in taken if length)
    start = low
    while start + count - 1 <= high:
        blocked = _last_blocked(start, count, ranges, is_free)
        if blocked < 0:
            return start
        start = blocked + 1
    raise refuse("worktree.ports", count=count, first=low, last=high)


def _last_blocked(
    start: int, count: int, ranges: list[tuple[int, int]], is_free: Callable[[int], bool]
) -> int:
    """The highest port that rules out this start, so that the search continues after it; -1 for none."""
    end = start + count - 1
    for first, last in reversed(ranges):
        if first <= end and last >= start:
            return last
    for port in range(end, start - 1, -1):
        if not is_free(port):
            return port
    return -1


def ports_meet(first: int, count: int, taken: Iterable[tuple[int, int]]) -> bool:
    return any(a < first + count and first < a + length for a, length in taken if length)


def environment(
    *, name: str, path: str, port_first: int, port_count: int, stated: Mapping[str, str]
) -> dict[str, str]:
    """The environment of a process in the worktree: its path, its ports, and the variables in the settings.

    In a value from the settings, `{port}`, `{ports}`, `{name}` and `{path}` stand for the worktree's own.
    """
    own = {"LINECLEAR_WORKTREE": path}
    ports = ""
    if port_count:
        ports = f"{port_first}-{port_first + port_count - 1}"
        own |= {"LINECLEAR_PORT": str(port_first), "LINECLEAR_PORTS": ports, "PORT": str(port_first)}
    words = {"port": str(port_first or ""), "ports": ports, "name": name, "path": path}
    return own | {variable: _filled(value, words) for variable, value in stated.items()}


def _filled(value: str, words: Mapping[str, str]) -> str:
    """Replaces only our own words in braces: JSON and shell text keep theirs."""
    for word, meaning in words.items():
        value = value.replace("{" + word + "}", meaning)
    return value


# -- disk space -------------------------------------------------------------------------------


def check_room(*, count: int, each_bytes: int, free_bytes: int, reserve_bytes: int) -> None:
    needed = count * each_bytes
    if free_bytes - needed < reserve_bytes:
        raise no_room(count, needed, free_bytes, reserve_bytes)


# -- removal ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """What would be lost with a worktree: changed files, and commits that are on no branch. `lock` is the
    reason of git's lock, "" if it is not locked."""

    _: KW_ONLY
    changed: int = 0
    loose_commits: int = 0
    lock: str = ""


def check_removal(
    name: str, path: str, condition: Condition, *, is_saved: Callable[[], bool], force: bool
) -> None:
    """Refuse to remove work that could not be restored. `is_saved` is called only if it matters."""
    if force:
        return
    if condition.lock:
        raise refuse("worktree.locked", name=name, path=path, reason=condition.lock)
    if (condition.changed or condition.loose_commits) and is_saved():
        return
    if condition.changed:
        raise refuse("worktree.dirty", name=name, path=path, changed=condition.changed)
    if condition.loose_commits:
        raise refuse("worktree.unmerged", name=name, path=path, commits=condition.loose_commits)
