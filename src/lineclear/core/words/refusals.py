"""Refusals: expected negative answers, read by models and people. Turns a row and its facts into text.

A row (see sentences/NOUN.py) has up to three sentences: what is refused, who holds it and until when, and the
one next action. `{fact}` in a sentence stands for a fact from the caller; after a colon follows how to show
it (see `Shown`). If a sentence has alternatives, the first one whose facts are all known is used. Nothing
here decides anything. On the hook's path: cheap to import.
"""

from __future__ import annotations

from lineclear.core.instants import show_duration, show_wall
from lineclear.core.words.row import FAILED, NOT_FOUND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.core.instants import Instant


# Limits for facts in the data of a refusal; sentences show far less of them.
_MOST_CHARACTERS, _MOST_ITEMS = 2_000, 200


class Refusal(Exception):
    """A clear no: a stable code, up to three lines of text, and the facts as data."""

    __slots__ = ("code", "exit_code", "facts", "next", "next_is", "what", "who")

    def __init__(
        self,
        code: str,
        what: str,
        *,
        who: str = "",
        next_: str = "",
        next_is: str = "run",
        exit_code: int = FAILED,
        **facts: Any,
    ) -> None:
        """`next_is`: the verb for `next_`, which is a command to "run" unless stated otherwise."""
        super().__init__(what)
        self.code = code
        self.what = what
        self.who = who
        self.next, self.next_is = next_, next_is
        self.exit_code = exit_code
        self.facts = facts

    def __str__(self) -> str:
        lines = [self.what]
        if self.who:
            lines.append(self.who)
        if self.next:
            lines.append(following(self.next, self.next_is))
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        message = self.what if not self.who else f"{self.what} {self.who}"
        return {"code": self.code, "message": message, "next": self.next, **self.facts}


def refuse(code: str, /, **facts: Any) -> Refusal:
    """The refusal with this code and these facts. `code/variant` names another wording of the same code."""
    # Imported at the first refusal: most hooks end without one.
    from lineclear.core.words.sentences import ROWS

    row = ROWS[code]
    return Refusal(
        code.partition("/")[0],
        say(row.what, facts, is_needed=True),
        who=say(row.who, facts),
        next_=say(row.next, facts, is_needed=True),
        next_is=row.next_is,
        exit_code=row.exit_code,
        **{name: _bounded(fact) for name, fact in facts.items() if name not in row.words},
    )


def say(alternatives: tuple[str, ...], facts: dict[str, Any], *, is_needed: bool = False) -> str:
    """The first alternative whose facts are all known, filled in. If there is none: "", or with `is_needed`
    the last alternative with gaps."""
    shown = {name: Shown(fact) for name, fact in facts.items()}
    for template in alternatives:
        try:
            return template.format_map(shown)
        except Unknown:
            continue
    if not is_needed:
        return ""
    return alternatives[-1].format_map({name: Shown(fact, has_gaps=True) for name, fact in facts.items()})


class Unknown(Exception):
    """A sentence needs a fact that is empty; another alternative may not."""


class Shown:
    """A fact inside a sentence. The text after the colon says how to show it:

    nothing or a number    at most so many characters (60), on one line
    `RESOURCE` (capitals)  an argument of a command, quoted for the shell; the word itself if it is too long
    `duration`, `MiB`      milliseconds or bytes, as people read them
    `path`                 the end of a long path, which says more than its beginning
    `few`                  the first item of a list, and how many more there are
    `proposal`             the arguments of `lineclear propose`: --file PATH for a file, else JSON
    `?`                    nothing if the fact is empty
    `commit` (a noun)      a count with its noun: 1 commit, 2 commits
    """

    __slots__ = ("_fact", "_has_gaps")

    def __init__(self, fact: object, *, has_gaps: bool = False) -> None:
        self._fact, self._has_gaps = fact, has_gaps

    def __format__(self, how: str) -> str:
        fact = self._fact
        if fact is None or fact == "" or fact == []:
            if how == "?" or self._has_gaps:
                return ""
            raise Unknown
        if how in ("", "?") or how.isdigit():
            text = ", ".join(str(one) for one in fact) if isinstance(fact, list | tuple) else str(fact)
            return shorten(text, int(how) if how.isdigit() else 60)
        if how.isupper():
            return pasted(str(fact), how)
        if how == "proposal":
            return pasted(str(fact)) + (" --file PATH" if str(fact).startswith("file:") else " JSON")
        if how == "path":
            return show_path(str(fact))
        if how == "few":
            assert isinstance(fact, list | tuple)
            more = f" and {len(fact) - 1} more" if len(fact) > 1 else ""
            return shorten(str(fact[0])) + more
        assert isinstance(fact, int)
        if how == "duration":
            return show_duration(fact)
        if how == "MiB":
            return f"{fact / (1 << 20):,.0f} MiB"
        return f"{fact} {how}" if fact == 1 else f"{fact} {how}s"


def _bounded(fact: object) -> object:
    if isinstance(fact, str):
        return fact if len(fact) <= _MOST_CHARACTERS else fact[: _MOST_CHARACTERS - 3] + "..."
    if isinstance(fact, list | tuple):
        return [_bounded(one) for one in fact[:_MOST_ITEMS]]
    return fact


# -- parts of sentences ---------------------------------------------------------------------------


def following(next_: str, next_is: str = "run") -> str:
    """The line that names the next action."""
    return f"Next: {next_is} `{next_}`."


_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/:@%+=,")


def quote(text: str) -> str:
    """The text quoted for a shell, so that the next action can be pasted."""
    if text and all(ch in _PLAIN for ch in text):
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


def pasted(text: str, stand_in: str = "RESOURCE") -> str:
    """A name inside a next action, quoted for a shell; `stand_in` if it is too long to paste."""
    return quote(text) if len(text) <= 60 else stand_in


def named(agent: str) -> str:
    """An agent's name inside a sentence; names of sub-agents can be long."""
    return shorten(agent, 32)


def shorten(text: str, limit: int = 60) -> str:
    """Somebody else's text as it can appear inside ours: cut, and without line breaks or control
    characters."""
    shown = "".join(ch if ch.isprintable() else "\ufffd" for ch in text)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def show_path(path: str) -> str:
    """A path; of a long one only the end, which says more than the beginning."""
    shown = shorten(path, 4_000)
    return shown if len(shown) <= 80 else f"...{shown[-77:]}"


def until(until_ns: int, now: Instant) -> str:
    """When a lease ends, as clock time and as time left."""
    left_ms = now.ms_until(until_ns)
    clock = show_wall(now.wall_of(until_ns))[11:16]
    return f"until {clock} UTC (in {show_duration(left_ms)})"


def lease(until_ns: int, now: Instant) -> dict[str, str]:
    """When a lease ends: as text for the sentence (`until`) and as data (`expires_at`)."""
    return {"until": until(until_ns, now), "expires_at": show_wall(now.wall_of(until_ns))}


# -- refusals whose code follows from what was asked for --------------------------------------------


def not_found(kind: str, name: str, next_: str) -> Refusal:
    what = f'There is no {kind} "{shorten(name)}".'
    return Refusal(f"{kind}.unknown", what, next_=next_, exit_code=NOT_FOUND, name=name)
