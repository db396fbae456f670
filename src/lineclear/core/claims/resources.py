"""Resources: anything that two agents could both change, in one spelling, and which of them overlap.

Every resource has a node, its place in a tree of names; overlap is decided by nodes and globs.
Knows no file system: the caller says whether a path is a directory, and resolves links.
"""

from __future__ import annotations

from lineclear.core.claims.paths import (
    MAX_PATH_CHARS,
    Glob,
    check_characters,
    collapse,
    escape,
    fold,
    glob,
    is_glob,
    normalise,
    unescape,
)
from lineclear.core.words.refusals import Refusal, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

KNOWN = ("file", "symbol", "value", "row", "api", "port", "memory", "display", "clipboard")
GLOB_NAMES = ("row", "value")
MAX_NAME_CHARS = 512
MAX_PORT = 65535

# Enough for a path in which every character is escaped, and a symbol. Longer text is not even parsed.
_MAX_TEXT_CHARS = 2 * (MAX_PATH_CHARS + MAX_NAME_CHARS) + 64


class Resource:
    """Immutable by convention; two are equal if their canonical texts are."""

    __slots__ = ("kind", "node", "path", "scheme", "symbol", "text")

    def __init__(self, scheme: str, kind: str, path: str, symbol: str, text: str, node: str) -> None:
        self.scheme = scheme
        self.kind = kind
        self.path = path
        self.symbol = symbol
        self.text = text
        self.node = node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Resource) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Resource({self.text!r})"


# -- reading ----------------------------------------------------------------------------------


def parse_resource(
    text: str,
    *,
    is_dir: bool | None = None,
    literal: bool = False,
    fold_case: bool = False,
    nfc: bool = True,
    schemes: tuple[str, ...] = KNOWN,
) -> Resource:
    """Read `SCHEME:NAME`, or a bare path, which means `file:`.

    With `literal`, wildcards and backslashes are plain characters; a scheme is still read, so a name from
    the file system is passed as "file:" + name. Case is folded in paths only.
    """
    if len(text) > _MAX_TEXT_CHARS:
        raise refuse(
            "resource.bad", resource=text[:200], why=f"it is longer than {MAX_PATH_CHARS} characters"
        )
    scheme, rest = split_scheme(text, schemes) if ":" in text else ("file", text)
    wild = not literal and is_glob(rest)
    if not literal and not wild:
        rest = unescape(rest)
    if scheme == "file":
        return _read_file(fold(rest, case=fold_case, nfc=nfc), is_dir, wild)
    if scheme == "symbol":
        return _read_symbol(rest, wild, fold_case, nfc)
    return _read_name(scheme, fold(rest, case=False, nfc=nfc), wild)


def file_resources(paths: Sequence[str], *, fold_case: bool, nfc: bool) -> list[Resource]:
    """The resources of git's own paths: literal names, relative to the repository's root. A name that no
    claim can have (bytes that are not text) is left out: nobody can hold it."""
    found = []
    for path in paths:
        try:
            found.append(parse_resource(f"file:{escape(path)}", fold_case=fold_case, nfc=nfc))
        except Refusal:
            pass
    return found


def split_scheme(text: str, schemes: tuple[str, ...]) -> tuple[str, str]:
    """(scheme, rest) of a text with a colon; a colon inside a path does not make a scheme."""
    scheme, _, rest = text.partition(":")
    if scheme in KNOWN or scheme in schemes:
        return scheme, rest
    is_drive = len(scheme) == 1 and scheme.isalpha() and rest[:1] in ("\\", "/")
    if is_drive or _is_scheme_word(scheme):
        extra = [name for name in schemes if name not in KNOWN]
        raise refuse("resource.scheme", text=text, scheme=scheme, known=[*KNOWN, *extra])
    return "file", text


def _is_scheme_word(text: str) -> bool:
    if not text.isascii() or not text[:1].islower() or text != text.lower():
        return False
    return text.replace("-", "").isalnum()


def _read_file(path: str, is_dir: bool | None, wild: bool) -> Resource:
    if wild:
        shape = glob(path + "/" if is_dir else path)
        return Resource("file", "glob", shape.pattern, "", "file:" + shape.pattern, _node_of(shape.anchor))
    if not path:
        raise refuse("resource.bad", resource="file:", why="its path is empty; the whole repository is `./`")
    name = normalise(path)
    # `src/`, `src/.` and `src/lib/..` can only be directories.
    if is_dir or not name or path.endswith(("/", "/.", "/..")):
        return Resource("file", "dir", name, "", f"file:{escape(name) or '.'}/", _node_of(name))
    return Resource("file", "file", name, "", "file:" + escape(name), "file:/" + name)


def _node_of(path: str) -> str:
    return "file:/" + path if path else "file:"


def _read_symbol(rest: str, wild: bool, fold_case: bool, nfc: bool) -> Resource:
    if wild:
        raise refuse(
            "resource.bad",
            resource=rest,
            why="a symbol takes no wildcards; claim the file or the outer symbol",
        )
    # The first `#` after the last slash: a directory may be called `C#`, and a private name `Login.#check`.
    cut = rest.find("#", rest.rfind("/") + 1)
    if cut < 1 or rest[cut - 1] == "/" or cut + 1 == len(rest):
        raise refuse("resource.bad", resource=rest, why="a symbol is written symbol:FILE#NAME")
    path = normalise(fold(rest[:cut], case=fold_case, nfc=nfc))
    # `..` and `.` can lead to the root, or to a file name with `#`: neither could be read back.
    if not path or "#" in path[path.rfind("/") + 1 :]:
        raise refuse("resource.bad", resource=rest, why="its path does not name a file")
    symbol = fold(rest[cut + 1 :], case=False, nfc=nfc)
    parts = _check_symbol(symbol)
    node = f"file:/{path}/#" + "/#".join(parts)
    return Resource("symbol", "symbol", path, symbol, f"symbol:{escape(path)}#{escape(symbol)}", node)


def _check_symbol(symbol: str) -> list[str]:
    check_characters(symbol)
    if len(symbol) > MAX_NAME_CHARS:
        raise refuse(
            "resource.bad", resource=symbol, why=f"its symbol is longer than {MAX_NAME_CHARS} characters"
        )
    parts = symbol.split(".")
    if "" in parts:
        raise refuse("resource.bad", resource=symbol, why="a part of its symbol is empty")
    # Ambiguous: it could be a file called `a#b.py`, which is claimed as a file.
    if any("#" in part[1:] for part in parts):
        raise refuse("resource.bad", resource=symbol, why="a part of its symbol contains `#` after its start")
    return parts


def _read_name(scheme: str, text: str, wild: bool) -> Resource:
    if wild and scheme not in GLOB_NAMES:
        raise refuse(
            "resource.bad", resource=f"{scheme}:{text}", why="only file:, row: and value: take wildcards"
        )
    check_characters(text)
    name = "/".join(collapse(text.split("/"), text))
    if not name:
        raise refuse("resource.bad", resource=f"{scheme}:{text}", why="its name is empty")
    if len(name) > MAX_NAME_CHARS:
        raise refuse(
            "resource.bad", resource=name, why=f"its name is longer than {MAX_NAME_CHARS} characters"
        )
    if wild:
        return _glob_of_names(scheme, name)
    if scheme == "port":
        name = _check_port(name)
    return Resource(scheme, "name", name, "", f"{scheme}:{escape(name)}", f"{scheme}:/{name}")


def _glob_of_names(scheme: str, pattern: str) -> Resource:
    shape = glob(pattern)
    node = f"{scheme}:/{shape.anchor}" if shape.anchor else scheme + ":"
    found = Resource(scheme, "glob", shape.pattern, "", f"{scheme}:{shape.pattern}", node)
    _shape_of(found)
    return found


def _check_port(name: str) -> str:
    if not (name.isascii() and name.isdecimal() and 1 <= int(name) <= MAX_PORT):
        raise refuse("resource.bad", resource="port:" + name, why=f"a port is a number from 1 to {MAX_PORT}")
    return str(int(name))


# -- the tree of names ------------------------------------------------------------------------


def ancestors(node: str) -> list[str]:
    """All nodes from the root of the tree down to this one, including it."""
    at = node.find("/")
    found = []
    while at > 0:
        found.append(node[:at])
        at = node.find("/", at + 1)
    found.append(node)
    return found


def _is_within(node: str, other: str) -> bool:
    """Is `node` the same as `other`, or below it?"""
    return node.startswith(other) and (len(node) == len(other) or node[len(other)] == "/")


# -- overlap ----------------------------------------------------------------------------------


def overlaps(a: Resource, b: Resource) -> bool:
    """Could a change to one be a change to the other?"""
    if a.kind == "glob":
        if b.kind == "glob":
            return a.scheme == b.scheme and _shape_of(a).meets(_shape_of(b))
        return _glob_meets(a, b)
    if b.kind == "glob":
        return _glob_meets(b, a)
    return _is_within(a.node, b.node) or _is_within(b.node, a.node)


def _shape_of(resource: Resource) -> Glob:
    # Other names do not distinguish files from directories: each covers everything below it.
    return glob(resource.path if resource.scheme == "file" else resource.path + "/**")


def _is_same_tree(pattern: Resource, literal: Resource) -> bool:
    return pattern.scheme == literal.scheme or (pattern.scheme == "file" and literal.scheme == "symbol")


def _glob_meets(pattern: Resource, literal: Resource) -> bool:
    if not _is_same_tree(pattern, literal):
        return False
    shape = _shape_of(pattern)
    if literal.kind in ("dir", "name"):
        return shape.matches_inside(literal.path)
    # A file may become a directory later, so it also meets a glob that is anchored below it.
    return shape.matches(literal.path) or _is_within(pattern.node, literal.node)


def covers(a: Resource, b: Resource) -> bool:
    """Is everything that b covers also covered by a? False if that is not certain."""
    if a.text == b.text:
        return True
    if a.kind == "glob":
        return _glob_covers(a, b)
    if a.kind == "file":
        # Nothing below it: the claim on a file was not checked against globs in there.
        return b.path == a.path and b.kind in ("file", "symbol")
    return _is_within(b.node, a.node)


def _glob_covers(pattern: Resource, other: Resource) -> bool:
    if not _is_same_tree(pattern, other):
        return False
    shape = _shape_of(pattern)
    if other.kind == "glob":
        return shape.is_open_below() and shape.matches(_shape_of(other).anchor)
    if other.kind == "dir":
        return shape.is_open_below() and shape.matches(other.path)
    return shape.matches(other.path)


_parsed: dict[str, Resource] = {}


def resource_of(text: str) -> Resource:
    """The resource of a canonical text (as stored in a row), from a cache: parsing is the slow part."""
    found = _parsed.get(text)
    if found is None:
        if len(_parsed) >= 65_536:
            _parsed.clear()
        scheme = text.partition(":")[0]
        found = _parsed[text] = parse_resource(text, schemes=(scheme,))
    return found


def overlap_with(resource: Resource) -> Callable[[str], bool]:
    """The test "does this canonical text overlap the resource?", prepared once for many texts.

    Most files near a wide glob such as `**/*.sql` have another ending: comparing it is enough for them.
    """
    tail = glob(resource.path).tail if resource.kind == "glob" and resource.node == "file:" else ""
    if not tail:
        return lambda text: overlaps(resource, resource_of(text))

    def test(text: str) -> bool:
        if (
            text.startswith("file:")
            and not text.endswith((tail, "/"))
            and "*" not in text
            and "?" not in text
        ):
            return False
        return overlaps(resource, resource_of(text))

    return test
