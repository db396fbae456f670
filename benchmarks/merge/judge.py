"""Is a clean merge wrong? Rules of its own, sharing nothing with the engine or with its verifier.

Every rule is differential: it compares counts in the merge with counts in the three inputs, so that a
merge is never blamed for what an input already had. The judge sees words and declared names, not meaning.
"""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

TOKEN = re.compile(r"\w+|[^\w\s]")
VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-.+]?[A-Za-z][\w.]*)?|\w+")

# extension -> (wheel, function that gives the grammar)
GRAMMARS = {
    "py": ("tree_sitter_python", "language"),
    "pyi": ("tree_sitter_python", "language"),
    "ts": ("tree_sitter_typescript", "language_typescript"),
    "mts": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "js": ("tree_sitter_javascript", "language"),
    "mjs": ("tree_sitter_javascript", "language"),
    "cjs": ("tree_sitter_javascript", "language"),
    "jsx": ("tree_sitter_javascript", "language"),
    "go": ("tree_sitter_go", "language"),
    "rs": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"),
    "h": ("tree_sitter_cpp", "language"),
    "cc": ("tree_sitter_cpp", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "hpp": ("tree_sitter_cpp", "language"),
    "cs": ("tree_sitter_c_sharp", "language"),
    "rb": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "kt": ("tree_sitter_kotlin", "language"),
    "kts": ("tree_sitter_kotlin", "language"),
    "sh": ("tree_sitter_bash", "language"),
    "css": ("tree_sitter_css", "language"),
    "scss": ("tree_sitter_scss", "language"),
    "json": ("tree_sitter_json", "language"),
    "yaml": ("tree_sitter_yaml", "language"),
    "yml": ("tree_sitter_yaml", "language"),
    "toml": ("tree_sitter_toml", "language"),
    "html": ("tree_sitter_html", "language"),
    "xml": ("tree_sitter_xml", "language_xml"),
}
_parsers: dict[str, Any] = {}

# Words that come and go with the form of a statement: two imports joined into one lose a keyword.
FORM_WORDS = frozenset(
    ("import", "from", "use", "as", "require", "export", "type", "pub", "const", "var", "let", "default")
)


def judge(path: str, base: str, left: str, right: str, merged: str) -> list[str]:
    """The rules this merge breaks, each as `rule: what`; empty when none does."""
    texts = (base, left, right, merged)
    if merged in (left, right) and left == right:
        return []
    found = [*_markers(texts), *_ends(texts)]
    trees = _parse(path, texts)
    if trees is not None:
        if all(not tree.root_node.has_error for tree in trees[:3]) and trees[3].root_node.has_error:
            found.append("parse: the merge does not parse, all inputs do")
        found += _names(trees, texts)
        found += _imports(trees)
    return found + _words(texts) + _lines(texts)


def tokens(text: str) -> list[str]:
    return TOKEN.findall(text)


def _markers(texts: tuple[str, ...]) -> Iterator[str]:
    for marker in ("<<<<<<< ", ">>>>>>> ", "||||||| "):
        if texts[3].count("\n" + marker) > max(text.count("\n" + marker) for text in texts[:3]):
            yield f"marker: {marker.strip()} in a merge called clean"


def _ends(texts: tuple[str, ...]) -> Iterator[str]:
    base, left, right, merged = texts
    for name, has in (
        ("CRLF", lambda text: "\r\n" in text),
        ("BOM", lambda text: text.startswith("\ufeff")),
        ("final newline", lambda text: text.endswith("\n")),
    ):
        states = {has(text) for text in (base, left, right) if text}
        if merged and len(states) == 1 and has(merged) not in states:
            yield f"ends: {name} changed"
    lone = [text.count("\n") - text.count("\r\n") for text in texts]
    if "\r\n" in merged and lone[3] and not any(lone[:3]):
        yield "ends: mixed line ends"


# -- words: three-way counting -----------------------------------------------------------------


def _bounds(base: int, left: int, right: int) -> tuple[int, int]:
    """How often a word may stand in the merge, when equal edits of both sides count once."""
    apart = left + right - base
    if left >= base and right >= base:
        return max(left, right), apart
    if left <= base and right <= base:
        return max(0, apart), min(left, right)
    return max(0, apart), max(left, right)


def _words(texts: tuple[str, ...]) -> list[str]:
    counts = [Counter(VERSION.findall(text)) for text in texts]
    base, left, right, merged = counts
    gained, dropped = _alike(texts)
    lost, extra = [], []
    for word in set(left) | set(right) | set(merged):
        low, high = _bounds(base[word], left[word], right[word])
        low, high = low - gained[word], high + dropped[word]
        if merged[word] < low:
            lost.append(word)
        elif merged[word] > high and word not in FORM_WORDS and "." not in word:  # a version may be chosen
            extra.append(word)
    lost = [word for word in lost if word not in FORM_WORDS and not _outbid(word, merged)]
    found = []
    if lost:
        found.append(f"lost words: {' '.join(sorted(lost)[:8])}")
    if extra:
        found.append(f"surplus words: {' '.join(sorted(extra)[:8])}")
    return found


def _alike(texts: tuple[str, ...]) -> tuple[Counter[str], Counter[str]]:
    """Words of the lines that both sides added, and that both removed: a net count hides such changes."""
    base, left, right = (Counter(_plain_lines(text)) for text in texts[:3])
    sums = []
    for lines in ((left - base) & (right - base), (base - left) & (base - right)):
        sums.append(Counter(word for line in lines.elements() for word in VERSION.findall(line)))
    return sums[0], sums[1]


def _outbid(word: str, merged: Counter[str]) -> bool:
    """A version, and a higher one of the same shape stands in the merge: declared rule, not a loss."""
    if not re.match(r"\d+(\.\d+)*", word):
        return False
    mine = _numbers(word)
    return any(_numbers(other) > mine for other in merged if other[:1].isdigit())


def _numbers(word: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d{1,9}", word)]


def _lines(texts: tuple[str, ...]) -> list[str]:
    """A line that one side added is there, or most of its new sequences are: the other side edited it too."""
    base, left, right, merged = (Counter(_plain_lines(text)) for text in texts)
    old, kept = _pairs(texts[0]), _pairs(texts[3])
    found = []
    for name, side in (("left", left), ("right", right)):
        for line in side:
            if line in base or line in merged or len(line) < 4:
                continue
            fresh = _pairs(line) - old
            missing = fresh - kept
            if len(missing) * 2 > len(fresh) and (len(fresh) > 3 or (left[line] and right[line])):
                found.append(f"dropped line ({name}): {line[:90]}")
    gone = [
        line for line in base if line not in left and line not in right and merged[line] and len(line) > 3
    ]
    found += [f"revived line: {line[:90]}" for line in gone]
    return [text for text in found if not _is_version_line(text, texts[3])][:4]


def _pairs(text: str) -> set[tuple[str, str]]:
    words = TOKEN.findall(text)
    return set(pairwise(words))


def _is_version_line(finding: str, merged: str) -> bool:
    line = finding.partition(": ")[2]
    if not finding.startswith("dropped") or not re.search(r"\d", line):
        return False
    shape = re.escape(line)
    shape = re.sub(r"\d+((\\\.|\\-)[\da-z]+)*", r"[\\w.-]+", shape)
    return re.search(shape, merged) is not None


def _plain_lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


# -- names: what is declared, and how often ------------------------------------------------------


def _parse(path: str, texts: tuple[str, ...]) -> list[Any] | None:
    extension = path.rsplit(".", 1)[-1].lower() if "." in path.rsplit("/", 1)[-1] else ""
    if extension not in GRAMMARS:
        return None
    if extension not in _parsers:
        from tree_sitter import Language, Parser

        wheel, name = GRAMMARS[extension]
        _parsers[extension] = Parser(Language(getattr(import_module(wheel), name)()))
    return [_parsers[extension].parse(text.encode()) for text in texts]


DECLARING = re.compile(
    r"(definition|declaration|_item|declarator|_spec|^method|^class|^module|property_signature)$"
)
KEYED = ("pair", "block_mapping_pair", "flow_pair")
# Inside these, names are local or repeat by nature: only one object with one key twice is a fault.
UNNAMED = (
    "block", "statement_block", "function_body", "array", "block_sequence", "arguments", "argument_list",
    "table_array_element",
)  # fmt: skip
SKIPPED = ("import", "use_declaration", "parameter", "type_parameter")


def _names(trees: list[Any], texts: tuple[str, ...]) -> list[str]:
    base, left, right, merged = (_declared(tree.root_node) for tree in trees)
    found = []
    for name, count in merged.items():
        if count > 1 and count > max(base[name], left[name], right[name]):
            found.append(f"twice: {' '.join(name[-2:])}")
    for name in {*base, *left, *right}:
        if name[0] == "one object":  # a key that an input has twice: no merge owes it to have it twice
            continue
        wanted = left[name] > 0 and right[name] > 0 if base[name] else left[name] > 0 or right[name] > 0
        if bool(merged[name]) != wanted and not _moved(name, texts):
            found.append(f"{'missing' if wanted else 'not removed'}: {' '.join(name[-2:])}")
    return found[:6]


def _moved(name: tuple[str, ...], texts: tuple[str, ...]) -> bool:
    """Renames and moves change the scope, so only a word that is wholly lost or revived counts."""
    word = name[-1].split("(")[0].strip("\"'")
    if not word:
        return True
    base, left, right, merged = (len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text)) for text in texts)
    low, high = _bounds(base, left, right)
    return low <= merged <= high


def _declared(root: Any) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    stack: list[tuple[Any, tuple[str, ...]]] = [(root, ())]
    while stack:
        node, scope = stack.pop()
        if node.type.startswith(SKIPPED):
            continue
        label = _label(node)
        if label:
            if not any(part.startswith("=") for part in scope):
                found[(*scope, node.type, label)] += 1
            scope = (*scope, label)
        elif node.type in UNNAMED and "class" not in node.parent.type:
            scope = (*scope, "=")
        elif node.type in ("object", "block_mapping", "flow_mapping"):
            keys = Counter(_label(child) for child in node.children if child.type in KEYED)
            found.update({("one object", "key", key): count for key, count in keys.items() if count > 1})
        stack.extend((child, scope) for child in node.children if child.is_named)
    return found


def _label(node: Any) -> str:
    if node.type in KEYED:
        key = node.child_by_field_name("key") or (node.children[0] if node.children else None)
        return _text(key)
    if node.type == "table" and node.children:
        return _text(next((child for child in node.children if child.is_named), None))
    if node.type == "impl_item":
        return (
            f"impl {_text(node.child_by_field_name('trait'))} for {_text(node.child_by_field_name('type'))}"
        )
    if not DECLARING.search(node.type):
        return ""
    name = _text(node.child_by_field_name("name"))
    if not name:
        return ""
    parameters = (
        _text(node.child_by_field_name("parameters"))
        if "method" in node.type or "constr" in node.type
        else ""
    )
    receiver = _text(node.child_by_field_name("receiver"))
    return f"{name}{'(' + ' '.join(parameters.split()) if parameters else ''}{receiver}"


def _text(node: Any) -> str:
    return node.text.decode("utf-8", "replace") if node is not None else ""


# -- imports: set algebra ------------------------------------------------------------------------


IMPORTING = ("import_statement", "import_from_statement", "import_spec", "use_declaration", "import_header")


def _imports(trees: list[Any]) -> list[str]:
    base, left, right, merged = (_imported(tree.root_node) for tree in trees)
    found = []
    for name in {*base, *left, *right, *merged}:
        wanted = left[name] > 0 and right[name] > 0 if base[name] else left[name] > 0 or right[name] > 0
        if bool(merged[name]) != wanted:
            found.append(f"import {'lost' if wanted else 'revived'}: {name[:80]}")
        elif merged[name] > max(1, base[name], left[name], right[name]):
            found.append(f"import twice: {name[:80]}")
    return found[:6]


def _imported(root: Any) -> Counter[str]:
    found: Counter[str] = Counter()
    stack = [root]
    while stack:
        node = stack.pop()
        is_short = node.type in ("import_declaration", "using_directive") and node.named_child_count <= 2
        if is_short or node.type in IMPORTING:
            found.update(_atoms(node))
        elif "function" not in node.type:  # an import inside a body is local to it
            stack.extend(node.children)
    return found


def _atoms(node: Any) -> list[str]:
    if any(child.type in ("import_spec_list", "import_spec") for child in node.children):
        return [atom for child in node.named_children for atom in _atoms(child)]
    if node.type == "import_spec_list":
        return [
            atom for child in node.named_children if child.type == "import_spec" for atom in _atoms(child)
        ]
    if node.type == "use_declaration":
        text = " ".join(_text(node).split()).removesuffix(";")
        head, _, tree = text.partition("use ")
        return [f"{head}use {atom}" for atom in _flat_use(tree)]
    module = node.child_by_field_name("module_name") or node.child_by_field_name("source")
    if node.type == "import_from_statement":
        names = [_text(name) for name in node.children_by_field_name("name")] or ["*"]
        return [f"{_text(module)}:{' '.join(name.split())}" for name in names]
    if module is not None:
        clause = next((child for child in node.children if child.type == "import_clause"), None)
        return [f"{_text(module)}:{name}" for name in _clause(clause)]
    return [" ".join(_text(node).split())]


def _clause(clause: Any) -> list[str]:
    if clause is None:
        return [""]
    found: list[str] = []
    for child in clause.named_children:
        if child.type == "named_imports":
            found += [
                " ".join(_text(item).split())
                for item in child.named_children
                if item.type == "import_specifier"
            ]
        else:
            found.append(_text(child))
    return found


def _flat_use(tree: str) -> list[str]:
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        return [tree.removesuffix("::self")]
    head, inner = tree[:brace], tree[brace + 1 : tree.rfind("}")]
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(inner):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            parts.append(inner[start:place])
            start = place + 1
    parts.append(inner[start:])
    return [flat for part in parts if part.strip() for flat in _flat_use(head + part.strip())]
