"""One hunk that both sides changed, and the rules that may settle it, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.code.symbols import is_in_text, names_in, symbols_in
from lineclear.merge import adjacent, exact
from lineclear.merge.added_members import unite_added
from lineclear.merge.diff import Steps
from lineclear.merge.entities import merge_entities
from lineclear.merge.imports import merge_imports
from lineclear.merge.tokens import merge_tokens

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from lineclear.merge.engine import FileMerge
    from lineclear.merge.lines import Chunk

    class Blanks(Protocol):
        def __call__(self, base: str, left: str, right: str, *, inside: str) -> str | None: ...


_PROSE = (".md", ".rst", ".txt", ".adoc", ".mdx")
_LONG_TEXTS = ("`", '"""', "'''", 'r#"', "<<")


class Hunk:
    def __init__(self, file: FileMerge, chunk: Chunk) -> None:
        self.file = file
        self.chunk = chunk
        self.base_lines = file.base[chunk.b0 : chunk.b1]
        self.left_lines = file.left[chunk.l0 : chunk.l1]
        self.right_lines = file.right[chunk.r0 : chunk.r1]

    def texts(self) -> tuple[str, str, str]:
        return "".join(self.base_lines), "".join(self.left_lines), "".join(self.right_lines)

    def blanks(self) -> str:
        """Which blanks do not matter in this kind of file, as `exact.only_blanks` names them."""
        if self.file.language is None:
            return "text"
        return "indented code" if self.file.language.is_indented else "code"

    def may_touch_a_long_text(self) -> bool:
        if any(mark in text for text in self.texts() for mark in _LONG_TEXTS):
            return True
        language = self.file.language
        if language is None:
            return False
        rows = enumerate((self.chunk.b0, self.chunk.l0, self.chunk.r0))
        roots = ((self.file.root(version), row) for version, row in rows)
        return any(root is not None and is_in_text(language, root, row) for root, row in roots)

    def kind(self) -> str:
        if not self.base_lines:
            return "add/add"
        return "content" if self.left_lines and self.right_lines else "delete/edit"

    def reason(self) -> str:
        """Why this hunk needs a person, if no rule settles it."""
        kind = self.kind()
        if kind == "delete/edit":
            return "one side removed what the other edited"
        if kind == "content":
            return "both sides changed these lines"
        names = self._names(1) & self._names(2)
        return f"both sides added `{min(names)}`" if names else "both sides added lines at this place"

    def _names(self, version: int) -> set[str]:
        language, root = self.file.language, self.file.root(version)
        if language is None or root is None:
            return set()
        return names_in(language, root, *self.chunk.spans()[version])

    def symbols(self) -> list[str]:
        """The symbols that the hunk touches, in left's version, else in right's."""
        language = self.file.language
        for version, (first, last) in ((1, self.chunk.spans()[1]), (2, self.chunk.spans()[2])):
            root = self.file.root(version)
            found = symbols_in(language, root, first, last) if language and root is not None else []
            if found:
                return found
        return []


def resolve(hunk: Hunk, steps: Steps) -> tuple[str, str, Chunk] | None:
    """(rule, text, place) of the first rule that settles the hunk; the place may be wider than the hunk."""
    united = merge_imports(hunk.file, hunk.chunk, steps)
    if united is not None:
        return "imports", united[1], united[0]
    found = _resolve_lines(hunk, steps)
    if found is not None:
        return (*found, hunk.chunk)
    entities = _resolve_entities(hunk, steps)
    if entities is not None:
        return entities
    found = _resolve_tokens(hunk, steps)
    return None if found is None else (*found, hunk.chunk)


def resolve_by_entities(hunk: Hunk, steps: Steps) -> tuple[str, str, Chunk] | None:
    """Like `resolve`, with whole entities first: used after the rules for lines mixed up two neighbours."""
    return _resolve_entities(hunk, steps) or resolve(hunk, steps)


def _resolve_entities(hunk: Hunk, steps: Steps) -> tuple[str, str, Chunk] | None:
    found = merge_entities(hunk.file, hunk.chunk, steps)
    if found is None or exact.is_renamed_under(*Hunk(hunk.file, found[0]).texts(), steps):
        return None
    return "entities", found[1], found[0]


def _resolve_lines(hunk: Hunk, steps: Steps) -> tuple[str, str] | None:
    base, left, right = hunk.texts()
    if hunk.kind() != "delete/edit":
        text = _without_blanks(hunk, exact.only_blanks)
        if text is not None:
            return "blanks", text
    text = exact.one_holds_the_other(base, left, right, steps)
    if text is not None:
        return "subsumed", text
    found = exact.line_by_line(base, left, right)
    if found is not None:
        return found
    text = exact.named_by_both(base, left, right)
    if text is not None:
        return "authors", text
    text = unite_added(hunk.file, hunk.chunk)
    if text is not None:
        return "members", text
    if hunk.kind() == "content":
        return _resolve_content(hunk, steps)
    return None


def _resolve_content(hunk: Hunk, steps: Steps) -> tuple[str, str] | None:
    base, left, right = hunk.texts()
    rules: list[tuple[str, Callable[[], str | None]]] = [
        ("alike at the ends", lambda: adjacent.outside_common_ends(base, left, right)),
        ("words subsumed", lambda: exact.one_holds_the_others_words(base, left, right, steps)),
        ("lines apart from blanks", lambda: _apart_from_blanks(hunk, steps)),
        ("touching lines", lambda: adjacent.touching(base, left, right, steps)),
    ]
    for name, rule in rules:
        text = rule()
        if text is not None:
            return None if _is_half_done(hunk, steps) else (name, text)
    return None


def _resolve_tokens(hunk: Hunk, steps: Steps) -> tuple[str, str] | None:
    if hunk.kind() != "content":
        return None
    text = merge_tokens(*hunk.texts(), steps, prose=hunk.file.path.endswith(_PROSE))
    return None if text is None or _is_half_done(hunk, steps) else ("tokens", text)


def _is_half_done(hunk: Hunk, steps: Steps) -> bool:
    """Did one side change something throughout, so that the other side's additions would lack the change?"""
    base, left, right = hunk.texts()
    return (
        exact.is_renamed_under(base, left, right, steps)
        or adjacent.leaves_one_behind(base, left, right)
        or adjacent.copies_what_changed(base, left, right)
    )


def _without_blanks(hunk: Hunk, rule: Blanks) -> str | None:
    """Apply a rule that ignores blanks. Inside a multi-line string only those at the end of a line are
    ignored."""
    base, left, right = hunk.texts()
    text = rule(base, left, right, inside=hunk.blanks())
    if text is None:
        return None
    in_a_text = rule(base, left, right, inside="text")
    # The tree is needed last: making it costs more than all rules for lines.
    return in_a_text if in_a_text != text and hunk.may_touch_a_long_text() else text


def _apart_from_blanks(hunk: Hunk, steps: Steps) -> str | None:
    def rule(base: str, left: str, right: str, *, inside: str) -> str | None:
        return adjacent.apart_from_blanks(base, left, right, steps, exact.visible_line(inside))

    return _without_blanks(hunk, rule)
