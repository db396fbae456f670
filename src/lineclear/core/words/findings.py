"""A finding of the radar in words for one reader: what, who, and the one thing to do. Pure.

Names, paths, signatures and details come from other agents: they are cut, stay on one line, and stand in
backticks or in the place of a name. On the hook's path once there is something to say: cheap to import.
"""

from __future__ import annotations

from lineclear.core.log.tables import split_names
from lineclear.core.words.refusals import quote, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.core.log.tables import FindingRow

MOST_CHARS, MOST_AT_ONCE = 300, 3
_MAIN = "main"
_BOTH = ("conflict", "same-symbol", "same-name", "dependency")  # both sides did the same


def show_number(id: int) -> str:
    return f"F-{id}"


def findings_text(rows: Sequence[FindingRow], reader: str) -> tuple[str, list[int]]:
    """(the first findings for a reader, the ids of those that are shown). The rest is counted."""
    shown = rows[:MOST_AT_ONCE]
    parts = [f"lineclear: {words_for(row, reader)}" for row in shown]
    if len(rows) > len(shown):
        parts.append(f"{len(rows) - len(shown)} more: `lineclear radar`.")
    return "\n".join(parts), [row.id for row in shown]


def words_for(row: FindingRow, reader: str = "") -> str:
    """At most three lines. For a reader who is none of the sides, all are named."""
    text = ""
    for most_chars in (60, 44, 32, 24, 16, 12):
        text = _write(row, reader, most_chars)
        if len(text) <= MOST_CHARS:
            break
    return text


def _write(row: FindingRow, reader: str, most_chars: int) -> str:
    sides = _Sides(row, reader, most_chars)
    what = _WHAT[row.kind](row, sides)
    return f"{show_number(row.id)}: {what}\n{_next_line(row, sides)}"


def next_command(row: FindingRow, reader: str = "") -> str:
    """The command that helps the reader, or the side that the finding concerns."""
    return _command(row, _Sides(row, reader, 60))


def _command(row: FindingRow, sides: _Sides) -> str:
    if sides.is_with_main:
        return "lineclear sync"
    other = quote(sides.other) if _can_be_pasted(sides.other) else "AGENT"
    if row.kind in ("conflict", "dependency"):
        return f'lineclear say --to {other} "{show_number(row.id)}: {_QUESTIONS[row.kind]}"'
    return f"lineclear diff {other}"


def _can_be_pasted(name: str) -> bool:
    return len(name) <= 40 and name.isprintable() and "`" not in name


_QUESTIONS = {"conflict": "which of us lands first?", "dependency": "which version do we both take?"}


class _Sides:
    """Who did it (`maker`) and whom it concerns (`mine`), for one reader. `other`: whose work the reader
    should look at."""

    __slots__ = ("is_maker", "is_stranger", "is_with_main", "maker", "mine", "most_chars", "other", "rest")

    def __init__(self, row: FindingRow, reader: str, most_chars: int) -> None:
        names = split_names(row.agents)
        own = next((name for name in names if reader == name or reader.startswith(name + "/")), "")
        self.most_chars = most_chars
        self.is_stranger = not own
        self.is_with_main = _MAIN in names
        self.is_maker = own == names[0] and row.kind not in _BOTH
        others = [name for name in names if name != own]
        if self.is_stranger:
            self.maker, self.mine, self.rest = names[0], names[-1], len(names) - 2
            self.other = self.maker
        elif self.is_maker:
            self.maker, self.mine, self.rest = own, others[0] if others else own, len(others) - 1
            self.other = self.mine
        else:
            self.maker, self.mine, self.rest = others[0] if others else own, own, 0
            self.other = self.maker

    def name(self, text: str) -> str:
        return shorten(text.replace("`", "'"), min(32, self.most_chars))

    def code(self, text: str) -> str:
        return f"`{shorten(text.replace('`', chr(39)), self.most_chars)}`"

    def path(self, text: str) -> str:
        """The end of a long path says more than its beginning."""
        shown = shorten(text.replace("`", "'"), 4_000)
        return shown if len(shown) <= self.most_chars else f"...{shown[3 - self.most_chars :]}"

    def use(self) -> str:
        """The use of the changed thing, and whose it is."""
        if not self.is_stranger and not self.is_maker:
            return "Your new use"
        more = f" and {self.rest} more" if self.rest > 0 else ""
        return f"The new use by {self.name(self.mine)}{more}"

    def did(self) -> str:
        return "you" if self.is_maker else self.name(self.maker)

    def both(self) -> str:
        if self.is_stranger:
            return f"{self.name(self.maker)} and {self.name(self.mine)}"
        return f"you and {self.name(self.maker)}"


def _task(row: FindingRow, sides: _Sides) -> str:
    """In brackets: which task it was, and whether that is on main."""
    words = [f"T-{row.task}"] if row.task and not sides.is_maker else []
    if not sides.is_with_main and not sides.is_maker:
        words.append("not landed")
    return f" ({', '.join(words)})" if words else ""


def _where(row: FindingRow, sides: _Sides) -> tuple[str, str]:
    """(the file of the change, the file of the other side)."""
    files = split_names(row.files) or ["?"]
    return sides.path(files[0]), sides.path(files[-1])


def _detail(row: FindingRow, sides: _Sides) -> str:
    return f" ({shorten(row.detail.replace('`', chr(39)), sides.most_chars)})" if row.detail else ""


def _signature(row: FindingRow, sides: _Sides) -> str:
    there, here = _where(row, sides)
    old, new = sides.code(row.old or row.symbol), sides.code(row.new or row.symbol)
    changed = (
        f"{sides.did()} changed {old} to {new}" if row.old != row.new else f"{sides.did()} changed {new}"
    )
    use = f"{sides.use()} in {here} has the old form{_detail(row, sides)}"
    return f"{changed} in {there}{_task(row, sides)}.\n{use}."


def _removed(row: FindingRow, sides: _Sides) -> str:
    there, here = _where(row, sides)
    gone = f"{sides.did()} removed {sides.code(row.symbol or row.old)} from {there}{_task(row, sides)}"
    now = f"; now {sides.code(row.new)}" if row.new else ""
    return f"{gone}{now}{_detail(row, sides)}.\n{sides.use()} is in {here}."


def _conflict(row: FindingRow, sides: _Sides) -> str:
    there, _ = _where(row, sides)
    more = len(split_names(row.files)) - 1
    files = f"{there} and {more} more" if more > 0 else there
    if sides.is_with_main:
        whose = f"{sides.name(sides.mine)}'s" if sides.is_stranger else "your"
        return f"main changed {files}{_task(row, sides)}; {whose} change conflicts with it."
    return f"{sides.both()} change {files} in ways that conflict at landing{_detail(row, sides)}."


def _same_symbol(row: FindingRow, sides: _Sides) -> str:
    there, _ = _where(row, sides)
    return f"{sides.both()} both changed {sides.code(row.symbol)} in {there}{_detail(row, sides)}."


def _same_name(row: FindingRow, sides: _Sides) -> str:
    there, here = _where(row, sides)
    files = there if there == here else f"{there} and {here}"
    return f"{sides.both()} both add {sides.code(row.symbol)} ({files}){_detail(row, sides)}."


def _dependency(row: FindingRow, sides: _Sides) -> str:
    ranges = f"{sides.code(row.old)} and {sides.code(row.new)}"
    return f"{sides.both()} need {sides.code(row.symbol)} in versions that exclude each other: {ranges}."


_WHAT = {
    "signature": _signature,
    "removed": _removed,
    "conflict": _conflict,
    "same-symbol": _same_symbol,
    "same-name": _same_name,
    "dependency": _dependency,
}

# kind -> what the side that it concerns does.
_ACTIONS = {
    "signature": "write it for the new form",
    "removed": "use what replaced it",
    "conflict": "agree",
    "same-symbol": "fit this change to theirs",
    "same-name": "choose another name or use theirs",
    "dependency": "agree",
}


def _next_line(row: FindingRow, sides: _Sides) -> str:
    command = _command(row, sides)
    start = f"Next for {sides.name(sides.mine)}" if sides.is_stranger else "Next"
    if sides.is_with_main:
        then = "" if row.kind in ("conflict", "dependency") else f", then {_ACTIONS[row.kind]}"
        return f"{start}: run `{command}`{then}."
    if row.kind in ("conflict", "dependency"):
        return f"{start}: run `{command}`."
    if sides.is_maker:
        told = f"{sides.name(sides.mine)} is told too"
        return f"{start}: keep the old form working if you can; {told}. `{command}` shows the use."
    return f"{start}: {_ACTIONS[row.kind]}; `{command}` shows the change."
