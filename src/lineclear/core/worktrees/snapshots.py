"""Snapshots: their refs and messages, which files they leave out, and which old ones may go. No I/O.

A snapshot is a commit under `refs/lineclear/snapshots/AGENT/N`. In paths, bytes that are not UTF-8 are lone
surrogates, as `os.fsdecode` gives them. The default patterns of secret names are in the setting
`snapshots.secret_names` (settings/table.py).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PREFIX = "refs/lineclear/snapshots/"
SECRET, HUGE, NESTED, UNREADABLE = "secret name", "too large", "a repository of its own", "not readable"
SECRET_CONTENT = "holds a private key or an access token"
SHOWN_LEFT_OUT = 50

# Snapshots taken again and again make room for newer ones; all others (at the end of a run, on request)
# stay until they are too old.
AT_WORK, LOOKED_AT, BEFORE_REMOVAL = "at work", "looked at", "kept before its worktree goes"
ROLLING = (AT_WORK, LOOKED_AT)


class LeftOut:
    """A file of the worktree that the snapshot leaves out, and why."""

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
    """A snapshot that exists. `parent` is the commit of HEAD, "" before the first commit; `left_out` has a
    text for each file that was left out: its path and the reason."""

    __slots__ = ("commit", "left_out", "parent", "ref", "tree")

    def __init__(self, ref: str, commit: str, tree: str, parent: str, left_out: Sequence[str] = ()) -> None:
        self.ref, self.commit, self.tree, self.parent = ref, commit, tree, parent
        self.left_out = tuple(left_out)


class Kept(Snapshot):
    """A snapshot read back from git, with the facts of its message."""

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
    """Which files stay out of a snapshot although git does not ignore them. 0 bytes: no limit.

    A pattern with a slash is matched with the whole path, one without with every name in the path.
    """

    __slots__ = (
        "_has_secrets", "_is_secret_name", "_is_secret_path", "_largest_file_bytes", "_secret_directories",
    )  # fmt: skip

    def __init__(
        self, *, largest_file_bytes: int = 0, secret_names: Iterable[str] = (), has_secrets: bool = False
    ) -> None:
        """`has_secrets`: take secrets, too, whatever their names and content."""
        self._has_secrets = has_secrets
        patterns = [pattern.lower() for pattern in secret_names]
        self._largest_file_bytes = largest_file_bytes
        self._is_secret_name = _matcher(pattern for pattern in patterns if "/" not in pattern)
        self._is_secret_path = _matcher(pattern.lstrip("/") for pattern in patterns if "/" in pattern)
        # A cache: thousands of new files are usually in a few directories.
        self._secret_directories: dict[str, bool] = {"": False}

    def reason(self, path: str, size_bytes: int) -> str:
        """Why an untracked file stays out; "" if it may go in."""
        if self.is_secret(path):
            return SECRET
        return HUGE if 0 < self._largest_file_bytes < size_bytes else ""

    def reason_inside(self, content: bytes) -> str:
        """Why an untracked file with this beginning stays out; "" if it may go in."""
        from lineclear.core.worktrees.secrets import looks_secret

        return SECRET_CONTENT if not self._has_secrets and looks_secret(content) else ""

    def is_secret(self, path: str) -> bool:
        if self._has_secrets:
            return False
        whole = path.lower()
        directory, _, name = whole.rpartition("/")
        return (
            self._is_secret_name(name) or self._is_secret_directory(directory) or self._is_secret_path(whole)
        )

    def _is_secret_directory(self, directory: str) -> bool:
        known = self._secret_directories.get(directory)
        if known is None:
            above, _, name = directory.rpartition("/")
            known = self._is_secret_name(name) or self._is_secret_directory(above)
            self._secret_directories[directory] = known
        return known


# Up to this many matches by hand cost less than importing `re`, which a hook would feel.
_FEW = 100


def _matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """The test "does this text match one of the patterns?", by the rules of `fnmatch`."""
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
    """Does the text match a pattern whose pieces between its stars are `parts`?"""
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
    """Where an agent's snapshots are. Levels are joined by `+`, since `a/1` cannot be a ref and a directory
    of refs at once; dots that git forbids in a ref (`..`, a final one, `.lock`) become `=`."""
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


# -- messages ---------------------------------------------------------------------------------


def message(*, agent: str, task: int, tree: str, why: str, left_out: Sequence[LeftOut | str]) -> str:
    """The message of a snapshot's commit: a line for people, then one fact per line."""
    lines = [f"snapshot of {agent}: {_line(why)}", "", f"Agent: {agent}"]
    if task:
        lines.append(f"Task: {task}")
    lines += [f"Worktree: {_line(tree)}", f"Why: {_line(why)}"]
    lines += [f"Left-out: {item}" for item in left_out[:SHOWN_LEFT_OUT]]
    if len(left_out) > SHOWN_LEFT_OUT:
        lines.append(f"Left-out-more: {len(left_out) - SHOWN_LEFT_OUT}")
    return "\n".join(lines) + "\n"


def read_message(text: str) -> dict[str, list[str]]:
    """The facts of a snapshot's message, each with all its values; {} if it is not one of ours."""
    facts: dict[str, list[str]] = {}
    for line in text.split("\n")[2:]:
        name, colon, value = line.partition(": ")
        if colon:
            facts.setdefault(name, []).append(value)
    return facts


def _line(text: str) -> str:
    """The text on one line: line breaks and characters that UTF-8 cannot write are escaped."""
    safe = "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode() for ch in text)
    return safe[:500]


# -- age --------------------------------------------------------------------------------------


def thin(
    ages_s: Sequence[int], rolling: Sequence[bool], *, keep: int, keep_for_s: int, has_worktree: bool = True
) -> list[int]:
    """Which of one agent's snapshots may go: indexes into `ages_s`, which is ordered from new to old.

    Every snapshot goes when it is too old; only rolling ones go when there are too many. While the agent has
    a worktree, its newest snapshot always stays. The newer half of those kept are the latest ones; the older
    half is spread over time, so that an hour and a day ago can be restored too: the one that is closest to
    its neighbours for its age goes first.
    """
    gone = [place for place, age in enumerate(ages_s) if age > keep_for_s and (place or not has_worktree)]
    left = [place for place in range(len(ages_s)) if (rolling[place] or not place) and place not in gone]
    dense = max(1, keep // 2)
    while len(left) > max(1, keep):
        spread = range(dense, len(left) - 1) if dense < len(left) - 1 else range(len(left) - 1, len(left))
        closest = min(spread, key=lambda at: (_relative_gap(ages_s, left, at), -at))
        gone.append(left.pop(closest))
    return sorted(gone)


def _relative_gap(ages_s: Sequence[int], left: Sequence[int], at: int) -> float:
    """How wide the gap would be without this one, relative to its age."""
    older = left[at + 1] if at + 1 < len(left) else left[at]
    return (ages_s[older] - ages_s[left[at - 1]]) / max(1, ages_s[left[at]])
