"""The possible results of a landing, its commit message, and how conflicts are described. No git in here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

MERGE, LINEAR, FAST_FORWARD, NOTHING = "merge", "linear", "fast-forward", "nothing"
# The reflog messages of an agent's own git start with this; ours have a space after the colon.
AGENT_MARK = "lineclear:"
# The trailer for a file that a program wrote for the merge: `package-lock.json by npm 10.8`.
MADE_ANEW = "Made-anew: "

MOST_SUBJECT, MOST_TOLD, MOST_WHY = 72, 5, 900
MOST_NAMED, MOST_WHO = 3, 80


class Landed:
    """The work is on main: `commit` is main now; `how` is "nothing" if main already had the work."""

    def __init__(
        self, commit: str, tree: str, how: str, *, main: str = "", files: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.commit, self.tree, self.how = commit, tree, how
        self.main, self.files, self.notes = main, list(files), list(notes)


class SentBack:
    """The work conflicts with the current main; its author has to resolve it."""

    def __init__(self, why: str, files: Sequence[str], conflicts: Sequence[dict[str, Any]]) -> None:
        self.why, self.files, self.conflicts = why, list(files), list(conflicts)


class NeedsYou:
    """Nothing moved: files of a person are in the way, and only that person may touch them."""

    def __init__(self, why: str, files: Sequence[str] = ()) -> None:
        self.why, self.files = why, list(files)


@dataclass(frozen=True, slots=True)
class Author:
    name: str
    email: str
    date: str = ""


def one_line(text: str) -> str:
    """The text on one line and without invisible characters, safe inside a commit message."""
    return " ".join("".join(ch if ch.isprintable() else " " for ch in text).split())


def message(
    *,
    task: str,
    title: str,
    branch: str,
    agent: str,
    co_authors: Iterable[Author],
    verb: str = "Land",
    made: Sequence[str] = (),
) -> str:
    """A commit message: a subject, then trailers that git's own tools can read. `made`: see `with_made`."""
    subject = f"{verb} {task}: {one_line(title)}" if task else f"{verb} {one_line(branch)}"
    trailers = [f"Co-authored-by: {one_line(who.name)} <{one_line(who.email)}>" for who in co_authors]
    return with_made(_written(subject, task, agent, trailers), made)


def with_made(message: str, made: Sequence[str]) -> str:
    """The message with a trailer for each file that a program regenerated for the merge."""
    lines = [f"{MADE_ANEW}{one_line(words)}" for words in made]
    if not lines:
        return message
    above = message if "\n\n" in message else message + "\n"
    return "\n".join([above + lines[0], *lines[1:], ""])


def made_in(commit: str) -> list[str]:
    """The regenerated files that the message of a landing names, as they were passed to `with_made`."""
    lines = commit.split("\n")
    return [line.removeprefix(MADE_ANEW) for line in lines if line.startswith(MADE_ANEW)]


def undo_message(number: str, what: str, *, commit: str, task: str, agent: str) -> str:
    """The message of the commit that undoes a landing: `what` is the title of its task, or its branch."""
    return _written(f"Undo {number}: {one_line(what)}", task, agent, [f"Reverts: {commit}"])


def _written(subject: str, task: str, agent: str, others: Sequence[str]) -> str:
    if len(subject) > MOST_SUBJECT:
        subject = subject[: MOST_SUBJECT - 3].rstrip() + "..."
    trailers = [f"Task: {task}"] if task else []
    trailers += [f"Agent: {one_line(agent)}"] if agent else []
    trailers += others
    return "\n".join([subject, *(["", *trailers] if trailers else []), ""])


def authors_of(history: Sequence[Author]) -> tuple[Author | None, list[Author]]:
    """(the author of the landing, its co-authors), from the authors of its commits, newest first."""
    if not history:
        return None, []
    others = {who.email.lower(): who for who in reversed(history)}
    others.pop(history[0].email.lower())
    return history[0], [others[email] for email in sorted(others)]


def conflicts_of(report: dict[str, Any]) -> list[dict[str, Any]]:
    """All conflicts of a merge report, each with its path and kind."""
    found = []
    for file in report["files"]:
        if not file["clean"]:
            found += [{"path": file["path"], **conflict} for conflict in file["conflicts"]]
    for finding in report.get("findings", ()):
        path = finding["paths"][0] if finding["paths"] else ""
        found.append(
            {"path": path, "kind": finding["kind"], "paths": finding["paths"], "text": finding["text"]}
        )
    return found


def tell_conflicts(main: str, conflicts: Sequence[dict[str, Any]]) -> str:
    """One sentence for the next attempt: where it conflicts, why, and with whose work on main. Only the first
    conflicts are listed, the others counted."""
    told = [tell_conflict(conflict) for conflict in conflicts[:MOST_TOLD]]
    more = len(conflicts) - len(told)
    if more:
        told.append(f"and {more} more")
    makers = makers_of(conflicts)
    if makers:
        told.append(f"on {main}: {', '.join(makers)}")
    text = f"it conflicts with the current {main}: {'; '.join(told)}"
    return text if len(text) <= MOST_WHY else text[: MOST_WHY - 3] + "..."


def makers_of(conflicts: Sequence[dict[str, Any]]) -> list[str]:
    """The first few agents or authors of main's side of these conflicts."""
    hands = (hand for conflict in conflicts for hand in conflict.get("sides", {}).get("left", ()))
    return list(dict.fromkeys(map(tell_who, hands)))[:MOST_NAMED]


def tell_who(hand: dict[str, str]) -> str:
    """`T-3 by codex-2`, on one line; the author if no agent is known."""
    who = one_line(hand["agent"] or hand["author"])
    who = who if len(who) <= MOST_WHO else who[: MOST_WHO - 3] + "..."
    return f"{hand['task']} by {who}" if hand["task"] else who


def tell_conflict(conflict: dict[str, Any]) -> str:
    """Where the conflict is and of which kind, on one line."""
    path = one_line(conflict["path"])
    if "text" in conflict:
        return f"{path}: {one_line(conflict['text'])}"
    # "near": the line is counted in the merged text, which includes the markers of earlier conflicts.
    near = f" near line {conflict['first_line']}" if conflict.get("first_line") else ""
    symbols = f" in {', '.join(conflict['symbols'])}" if conflict.get("symbols") else ""
    return f"{path}{near}: {conflict['kind']}{symbols}"


def folded_twins(paths: Iterable[str], added: Iterable[str]) -> list[tuple[str, str]]:
    """(existing path, added path) that differ only in case: the same file where the file system ignores
    case."""
    known: dict[str, str] = {}
    twins = []
    fresh = set(added)
    for path in sorted(paths, key=lambda p: (p in fresh, p)):
        twin = known.setdefault(path.casefold(), path)
        if twin != path and path in fresh:
            twins.append((twin, path))
    return twins


# -- main moved by an agent itself ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stray:
    """An agent moved main itself, from `old` to `new`."""

    agent: str
    old: str
    new: str


def marked_agent(reflog_message: str) -> str:
    """The agent whose git wrote this reflog message; "" if a person or lineclear did."""
    rest = reflog_message.removeprefix(AGENT_MARK)
    if rest == reflog_message or rest.startswith(" "):
        return ""
    return rest.partition(":")[0].strip()


def find_stray(
    moves: Iterable[tuple[str, str, str]], agent_of: Callable[[str, str, str], str]
) -> Stray | None:
    """The newest moves of main that one agent made itself, as one move. `moves` are (old, new, message),
    newest first. None if a person or lineclear made the newest: they have built on what came before."""
    found: Stray | None = None
    for old, new, message in moves:
        agent = agent_of(old, new, message)
        if not agent or not old or (found is not None and agent != found.agent):
            break
        found = Stray(agent, old, found.new if found is not None else new)
    return found


def strayed_prefix(agent: str) -> str:
    """Where the commits are kept that an agent put on main itself. Levels are joined by `+`: a ref cannot
    also be a directory."""
    word = agent.replace("/", "+").replace("..", "==")
    return f"refs/lineclear/strayed/{word[:-1] + '=' if word.endswith('.') else word}/"
