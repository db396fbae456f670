"""Snapshots: their names, words and limits. Which files stay out, which old ones may go. No I/O.

A snapshot is a commit under `refs/lineclear/snapshots/AGENT/N`. Paths are text in which bytes that are
not UTF-8 stand as lone surrogates, as `os.fsdecode` gives them. The default patterns of secret names are the
setting `snapshots.secret_names` (settings/table.py).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PREFIX = "refs/lineclear/snapshots/"
SECRET, HUGE, NESTED, UNREADABLE = "secret name", "too large", "a repository of its own", "not readable"
SHOWN_LEFT_OUT = 50

# Snapshots taken again and again make room for newer ones; all others (the end of a run, somebody's wish)
# stay for as long as any may.
AT_WORK, LOOKED_AT, BEFORE_REMOVAL = "at work", "looked at", "kept before its worktree goes"
ROLLING = (AT_WORK, LOOKED_AT)


class LeftOut:
    """A file that is in the worktree and not in the snapshot, and why."""

    __slots__ = ("path", "why")

    def __init__(self, path: str, why: str) -> None:
        self.path, self.why = path, why

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LeftOut) and (self.path, self.why) == (other.path, other.why)

    def __hash__(self) -> int:
        return hash((self.path, self.why))

    def __repr__(self) -> str:
        return f"LeftOut({self.path!r}, {self.why!r})"

    def __str__(self) -> str:
        return f"{_line(self.path)} ({self.why})"


class Snapshot:
    """A snapshot that exists. `parent` is what HEAD was, "" before the first commit; `left_out` are texts
    for people: each a path, and why it is not in it."""

    __slots__ = ("commit", "left_out", "parent", "ref", "tree")

    def __init__(self, ref: str, commit: str, tree: str, parent: str, left_out: Sequence[str] = ()) -> None:
        self.ref, self.commit, self.tree, self.parent = ref, commit, tree, parent
        self.left_out = tuple(left_out)


class Kept(Snapshot):
    """A snapshot as it is found again, with what its message says."""

    __slots__ = ("agent", "at_s", "number", "task", "why", "worktree")

    def __init__(self, ref: str, commit: str, tree: str, parent: str, at_s: int, text: str) -> None:
        facts = read_message(text)
        super().__init__(ref, commit, tree, parent, facts.get("Left-out", ()))
        self.agent, self.number = split_ref(ref) or ("", 0)
        task = _first(facts, "Task")
        self.at_s, self.task = at_s, int(task) if task.isdecimal() else 0
        self.why, self.worktree = _first(facts, "Why"), _first(facts, "Worktree")

    @property
    def is_rolling(self) -> bool:
        return self.why in ROLLING


def _first(facts: dict[str, list[str]], name: str) -> str:
    return facts.get(name, [""])[0]


class SnapshotLimits:
    """What may not go into a snapshot although git does not ignore it. 0 bytes: no limit.

    A pattern with a slash is about the whole path, one without about any name on the way to it.
    """

    __slots__ = ("_in_secret_place", "_is_secret_name", "_is_secret_path", "_largest_file_bytes")

    def __init__(self, *, largest_file_bytes: int = 0, secret_names: Iterable[str] = ()) -> None:
        patterns = [pattern.lower() for pattern in secret_names]
        self._largest_file_bytes = largest_file_bytes
        self._is_secret_name = _matcher(pattern for pattern in patterns if "/" not in pattern)
        self._is_secret_path = _matcher(pattern.lstrip("/") for pattern in patterns if "/" in pattern)
        # Thousands of new files are in a few directories.
        self._in_secret_place: dict[str, bool] = {"": False}

    def reason(self, path: str, size_bytes: int) -> str:
        """Why an untracked file stays out; "" when it may go in."""
        if self.is_secret(path):
            return SECRET
        return HUGE if 0 < self._largest_file_bytes < size_bytes else ""

    def is_secret(self, path: str) -> bool:
        whole = path.lower()
        place, _, name = whole.rpartition("/")
        return self._is_secret_name(name) or self._is_place_secret(place) or self._is_secret_path(whole)

    def _is_place_secret(self, place: str) -> bool:
        known = self._in_secret_place.get(place)
        if known is None:
            above, _, name = place.rpartition("/")
            known = self._is_secret_name(name) or self._is_place_secret(above)
            self._in_secret_place[place] = known
        return known


# Up to so many questions cost less than an import of `re`, which a hook would feel.
_FEW = 100


def _matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Does a text match one of these, as file names are matched?"""
    wanted = list(patterns)
    if not wanted:
        return lambda _text: False
    pieces = [pattern.split("*") for pattern in wanted]
    match: Callable[[str], bool] | None = None
    asked = 0

    def is_one(text: str) -> bool:
        nonlocal asked, match
        if match is None:
            asked += 1
            if asked <= _FEW and is_plain:
                return any(_fits(text, parts) for parts in pieces)
            match = _compiled(wanted)
        return match(text)

    is_plain = not any(ch in pattern for pattern in wanted for ch in "[?")
    return is_one


def _fits(text: str, parts: list[str]) -> bool:
    """The pieces of a pattern between its stars, in their order."""
    if len(parts) == 1:
        return text == parts[0]
    first, *middle, last = parts
    if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _compiled(patterns: list[str]) -> Callable[[str], bool]:
    import re
    from fnmatch import translate

    compiled = re.compile("|".join(translate(pattern) for pattern in patterns))
    return lambda text: compiled.match(text) is not None


# -- names ------------------------------------------------------------------------------------


def ref_prefix(agent: str) -> str:
    """Where an agent's snapshots are. Levels are joined by `+`, since `a/1` may not be a ref and a
    directory of refs at once; dots that git forbids in a ref (`..`, a last one, `.lock`) become `=`."""
    word = agent.replace("/", "+").replace("..", "==")
    if word.endswith(".lock"):
        word = word[: -len(".lock")] + "=lock"
    if word.endswith("."):
        word = word[:-1] + "="
    return f"{PREFIX}{word.replace('=.', '==')}/"


def split_ref(ref: str) -> tuple[str, int] | None:
    """(agent, number) of a snapshot's ref; None for any other ref."""
    word, slash, number = ref.removeprefix(PREFIX).rpartition("/")
    if not ref.startswith(PREFIX) or not slash or not number.isdecimal() or "/" in word:
        return None
    return word.replace("+", "/").replace("=", "."), int(number)


# -- words ------------------------------------------------------------------------------------


def message(*, agent: str, task: int, tree: str, why: str, left_out: Sequence[LeftOut | str]) -> str:
    """What a snapshot's commit says: a line for people, then one fact on each line."""
    lines = [f"snapshot of {agent}: {_line(why)}", "", f"Agent: {agent}"]
    if task:
        lines.append(f"Task: {task}")
    lines += [f"Worktree: {_line(tree)}", f"Why: {_line(why)}"]
    lines += [f"Left-out: {item}" for item in left_out[:SHOWN_LEFT_OUT]]
    if len(left_out) > SHOWN_LEFT_OUT:
        lines.append(f"Left-out-more: {len(left_out) - SHOWN_LEFT_OUT}")
    return "\n".join(lines) + "\n"


def read_message(text: str) -> dict[str, list[str]]:
    """The facts of a snapshot's message, each with all its values; {} when it is not one of ours."""
    facts: dict[str, list[str]] = {}
    for line in text.split("\n")[2:]:
        name, colon, value = line.partition(": ")
        if colon:
            facts.setdefault(name, []).append(value)
    return facts


def _line(text: str) -> str:
    """On one line, and as text: what cannot be written as UTF-8 or would break the line is escaped."""
    safe = "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode() for ch in text)
    return safe[:500]


# -- age --------------------------------------------------------------------------------------


def thin(
    ages_s: Sequence[int], rolling: Sequence[bool], *, keep: int, keep_for_s: int, has_worktree: bool = True
) -> list[int]:
    """Which of one agent's snapshots may go: places in `ages_s`, which is ordered from new to old.

    All go by age; by number only the rolling ones. While the agent has a worktree its newest stays,
    however old. The newer half of what is kept is the last minutes, one by one; the older half is
    spread, so that an hour and a day ago are there too: whichever is closest to its neighbours for its
    age goes first.
    """
    gone = [place for place, age in enumerate(ages_s) if age > keep_for_s and (place or not has_worktree)]
    left = [place for place in range(len(ages_s)) if (rolling[place] or not place) and place not in gone]
    dense = max(1, keep // 2)
    while len(left) > max(1, keep):
        spread = range(dense, len(left) - 1) if dense < len(left) - 1 else range(len(left) - 1, len(left))
        closest = min(spread, key=lambda at: (_room(ages_s, left, at), -at))
        gone.append(left.pop(closest))
    return sorted(gone)


def _room(ages_s: Sequence[int], left: Sequence[int], at: int) -> float:
    """How wide the gap would be if this one went, against how old it is."""
    older = left[at + 1] if at + 1 < len(left) else left[at]
    return (ages_s[older] - ages_s[left[at - 1]]) / max(1, ages_s[left[at]])
