"""Texts cut in pieces are cut as they are when read whole."""

from __future__ import annotations

import pytest

from lineclear.merge.handlers import style_files, toml_files, yaml_files
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.handlers.pieces import Pieces
from tests.unit.merge.test_cases import FOUND, path_of, read

HANDLERS = {".css": style_files, ".scss": style_files, ".toml": toml_files, ".yaml": yaml_files}
TEXTS = [
    (text, path_of(case))
    for case in FOUND
    if path_of(case).endswith(tuple(HANDLERS))
    for text in [read(case, part) for part in ("base", "left", "right")]
]
Shape = tuple[object, ...]

RULES = "a {\n  color: red;\n}\n\nb {\n  color: red;\n}\n"
TORN = {
    "a bracket inside of a comment": ("a.css", "/* {\n  x: y;\n}\n*/\n" + RULES),
    "a bracket inside of an address": ("a.css", "a {\n  b: url(x;\n}\n);\n}\n" + RULES),
    "a bracket inside of an insertion": ("a.scss", "a-#{$b;\n} {\n  c: d;\n}\n" + RULES),
    "a rule around rules": ("a.css", "@media print {\n" + RULES + "}\n"),
    "a bracket inside of an array": ("a.toml", "[a]\nb = [\n[1],\n[2],\n]\n[c]\nd = 1\n"),
    "a bracket inside of a text": ("a.toml", '[a]\nb = """\n[no]\n"""\n[c]\nd = 1\n'),
    "tables without a name": ("a.toml", "[[a]]\nb = 1\n\n[[a]]\nb = 2\n[[a]]\nb = 3\n"),
    "tables with a name": ("a.toml", '[[a]]\nname = "x"\n\n# second\n[[a]]\nid = "y"\n'),
    "nothing but comments": ("a.toml", "# one\n\n# two\n"),
    "pairs above all tables": ("a.toml", "# one\na = 1\n\n# two\n[b]\nc = 1\n# three\n"),
    "comments at every depth": ("a.yaml", "# a\nb:\n  # c\n  d: 1\n  # e\n\n# f\ng: 1\n# h\n"),
    "a sequence as deep as its key": ("a.yaml", "a:\n- b\n\n- c\nd: 1\n"),
    "a document's start": ("a.yaml", "# a\n---\nb: 1\nc:\n  d: 1\n"),
    "a block of text with a comment in it": ("a.yaml", "a: |\n  b\n# no\n\n  # c\nd: 1\n"),
    "other line ends": ("a.yaml", "a:\r\n  b: 1\r\n\r\nc: 1\n\x0c\nd: 1\n"),
    "no last line feed": ("a.yaml", "a:\n  b: 1\nc:\n  d: 1"),
}


def shape(entry: KeyedEntry) -> Shape:
    inner = None if entry.children is None else tuple(map(shape, entry.children))
    return entry.key, entry.lead, entry.text, entry.tail, inner


def cut(name: str, text: str, *, in_pieces: bool) -> Shape:
    handler = HANDLERS["." + name.rpartition(".")[2]]

    def whole(text: str) -> list[str]:
        handler._part(text)  # it may refuse the text
        return []

    try:
        return shape(Pieces(handler._part if in_pieces else whole, handler._read).cut(text))
    except Undecided:
        return ()


@pytest.mark.parametrize(("name", "text"), TORN.values(), ids=TORN)
def test_a_piece_that_does_not_stand_alone_changes_nothing(name: str, text: str) -> None:
    assert cut(name, text, in_pieces=True) == cut(name, text, in_pieces=False)


def test_every_case_is_cut_as_read_whole() -> None:
    assert len(TEXTS) > 100
    for text, path in TEXTS:
        for end in range(0, len(text), 5):
            part = text[end:] + text[:end]
            assert cut(path, part, in_pieces=True) == cut(path, part, in_pieces=False)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.css", RULES), ("a.toml", "[a]\nb = 1\n\n[c]\nd = 1\n"), ("a.yaml", "a:\n  b: 1\nc:\n  d: 1\n")],
)
def test_what_two_texts_hold_is_read_once(name: str, text: str) -> None:
    handler = HANDLERS["." + name.rpartition(".")[2]]
    asked = []

    def noted(piece: str, is_whole: bool) -> tuple[list[KeyedEntry], str]:
        asked.append(piece)
        entries, tail = handler._read(piece, is_whole)
        return entries, tail

    pieces = Pieces(handler._part, noted)
    one, other = pieces.cut(text), pieces.cut(text.replace("d: ", "e: ").replace("d =", "e =") + "\n")
    assert one.children is not None
    assert other.children is not None
    assert one.children[0] is other.children[0]
    assert sum(piece in text for piece in asked) < 2 * len(one.children) + 1


def test_entries_that_do_not_give_the_text_again_are_refused() -> None:
    pieces = Pieces(lambda text: [text], lambda _text, _is_whole: ([KeyedEntry("a", "", "b")], ""))
    with pytest.raises(Undecided):
        pieces.cut("a")
