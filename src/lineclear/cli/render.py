"""The only place that prints: data to stdout, everything else to stderr, one envelope for JSON.

`--version` loads this module, so `json` and `rich` are imported where they are used.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

from lineclear.core.agents.identity import SIGNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TextIO

    from lineclear.core.words.refusals import Refusal

SCHEMA = "lineclear/1"
# A model reads the output: no colour, no decoration, no waiting for keys.
_PLAIN = (*SIGNS, "NO_COLOR")


class Unwritable(Exception):
    """The output cannot be written: its reader has gone, or the disk is full."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The answer could not be written: {os.strerror(error.errno or 0)}")
        self.is_reader_gone = isinstance(error, BrokenPipeError)


class Output:
    def __init__(
        self,
        *,
        is_json: bool,
        environ: Mapping[str, str],
        out: TextIO | None = None,
        err: TextIO | None = None,
    ) -> None:
        self._out, self._err = out or _stream(sys.stdout), err or _stream(sys.stderr)
        self.is_json = is_json
        is_agent = any(environ.get(sign) for sign in _PLAIN)
        self.is_rich = not is_json and not is_agent and self._out.isatty() and environ.get("TERM") != "dumb"
        self.warnings: list[str] = []

    def data(self, data: Any, *lines: str | TextTable) -> None:
        """Print the answer: the envelope as JSON, or the lines and tables as text."""
        if self.is_json:
            self._json({"schema": SCHEMA, "data": data, "warnings": self.warnings})
            return
        for line in lines:
            if isinstance(line, TextTable):
                self._table(line)
            else:
                self._write(line)

    def stream(self, item: Any, line: str) -> None:
        """Print one item of an endless answer, as a line of JSON or text."""
        if self.is_json:
            self._json({"schema": SCHEMA, "data": item})
        else:
            self._write(line)
        self.flush()

    def news(self, item: Any, line: str) -> None:
        """Print news of a long command to stderr, apart from its answer."""
        if self.is_json:
            self._json({"schema": SCHEMA, "news": item}, self._err)
        else:
            self._put(self._err, f"{harmless(line)}\n")
        self._err.flush()

    def live(self) -> Screen:
        return Screen(self._out if self.is_rich else None)

    def content(self, data: Any, text: str) -> None:
        """Print a file's content unchanged; as JSON, `data` in the envelope."""
        if self.is_json:
            self.data(data)
        else:
            self._put(self._out, text)

    def relay(self, text: str, *, is_error: bool = False) -> None:
        """Print unchanged what a server answered for us."""
        self._put(self._err if is_error else self._out, text)

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        if not self.is_json:
            self._put(self._err, f"warning: {harmless(text)}\n")

    def hint(self, text: str) -> None:
        """Print a line for people; programs that ask for JSON do not get it."""
        if not self.is_json:
            self._put(self._err, f"{harmless(text)}\n")

    def refuse(self, refusal: Refusal) -> None:
        if self.is_json:
            self._json({"schema": SCHEMA, "error": refusal.as_data(), "warnings": self.warnings})
        else:
            self._put(self._err, f"{harmless(str(refusal))}\n")

    def clear(self) -> None:
        """Clear the screen, for `--watch` on a terminal."""
        if self.is_rich:
            self._put(self._out, "\x1b[H\x1b[2J")

    def flush(self) -> None:
        try:
            self._out.flush()
        except OSError as error:
            raise Unwritable(error) from error

    def silence(self) -> None:
        """Send streams that cannot be written to /dev/null, so that the interpreter's last flush is quiet."""
        for stream in (self._out, self._err):
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

    def _json(self, value: Any, stream: TextIO | None = None) -> None:
        from json import dumps

        stream = stream or self._out
        text = dumps(value, ensure_ascii=False)
        try:
            text.encode(stream.encoding or "utf-8")
        except UnicodeEncodeError:  # the terminal or locale cannot show it: use JSON's escapes
            text = dumps(value)
        self._put(stream, text + "\n")

    def _write(self, line: str) -> None:
        self._put(self._out, harmless(line) + "\n")

    def _put(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
        except OSError as error:
            raise Unwritable(error) from error

    def _table(self, table: TextTable) -> None:
        if self.is_rich and table.rows:
            self._rich_table(table)
            return
        for line in table.as_lines():
            self._write(line)

    def _rich_table(self, table: TextTable) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table as RichTable

        shown = RichTable(
            title=table.title or None, title_justify="left", box=None, pad_edge=False, header_style="bold"
        )
        for column in table.columns:
            shown.add_column(column, overflow="fold")
        for row in table.rows:
            shown.add_row(*(_styled(escape(cell)) for cell in row))
        Console(file=self._out, highlight=False).print(shown)


class Screen:
    """Lines that are redrawn in place, on a terminal; elsewhere nothing is drawn."""

    def __init__(self, out: TextIO | None) -> None:
        self._out = out
        self._live: Any = None

    @property
    def is_live(self) -> bool:
        return self._live is not None

    def start(self) -> None:
        if self._out is None:
            return
        from rich.console import Console
        from rich.live import Live

        self._live = Live(
            console=Console(file=self._out, highlight=False), auto_refresh=False, transient=True
        )
        self._live.start()

    def draw(
        self, needs: Sequence[str], columns: Sequence[str], rows: Sequence[Sequence[str]], news: Sequence[str]
    ) -> None:
        from rich.console import Group
        from rich.markup import escape
        from rich.table import Table as RichTable

        table = RichTable(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(column, overflow="ellipsis", no_wrap=True)
        for row in rows:
            table.add_row(*(_styled(escape(plain(cell))) for cell in row))
        needed = [f"[bold red]NEEDS YOU[/bold red] {escape(plain(text))}" for text in needs]
        self._live.update(
            Group(*needed, table, *(f"[dim]{escape(plain(text))}[/dim]" for text in news)), refresh=True
        )

    def stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def _stream(stream: TextIO | None) -> TextIO:
    """The stream, made to accept any text; /dev/null if our parent closed it (`>&-`)."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


# The colour repeats what the word says, and never replaces it.
_STYLES = {
    "exclusive": "red", "intent": "yellow", "shared": "green", "open": "cyan", "taken": "yellow",
    "handed over": "magenta", "merged": "green", "accepted": "green", "failed": "red", "cancelled": "dim",
    "ok": "green", "problem": "red", "working": "green", "paused": "yellow", "resting": "yellow",
    "stopping": "red", "landed": "green", "sent back": "yellow",
}  # fmt: skip


def _styled(cell: str) -> str:
    style = _STYLES.get(cell)
    return f"[{style}]{cell}[/{style}]" if style else cell


class TextTable:
    """Rows of text under column names, or the text `empty` if there are none."""

    def __init__(
        self, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "", empty: str = ""
    ) -> None:
        self.columns, self.title, self.empty = list(columns), title, empty
        self.rows = [[_cell(value) for value in row] for row in rows]

    def as_lines(self) -> list[str]:
        lines = [self.title] if self.title else []
        if not self.rows:
            return [*lines, self.empty] if self.empty else lines
        all_rows = [self.columns, *self.rows]
        widths = [max(len(row[place]) for row in all_rows) for place in range(len(self.columns))]
        for row in all_rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append("  ".join(cells).rstrip())
        return lines


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        value = ", ".join(str(item) for item in value)
    return plain("" if value is None else str(value))


# These join letters and emoji; every other invisible character could mislead a reader.
_JOINERS = "\u200c\u200d"


def plain(text: str) -> str:
    """Somebody's words on one line, without invisible characters."""
    return "".join(ch if ch.isprintable() or ch in _JOINERS else "\ufffd" for ch in text)


def harmless(text: str) -> str:
    """The lines without the control characters that a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(
        "\ufffd" if (ch < " " or "\x7f" <= ch <= "\x9f") and ch not in "\n\t" else ch for ch in text
    )


def quoted(text: str) -> str:
    """Somebody's words, each line marked with `>`: data, never instructions of ours."""
    return "\n".join(f"> {plain(line.expandtabs(4))}".rstrip() for line in text.split("\n"))
