"""Doubts about the definitions in a merged file: misplaced keys, duplicate overloads, changed parameters.

Part of the verifier; shares no rule with the mergers.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from lineclear.code.nodes import flat_text
from lineclear.code.symbols import FUNCTIONS, signature_of
from lineclear.merge.shared_nodes import Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.code.languages.table import Language
    from lineclear.merge.shared_nodes import Shared

    Roots = tuple[Part, Part, Part, Part]
    Call = tuple[bytes, frozenset[bytes]]

_PLAIN = re.compile(rb"[^\s(){}\[\]]{1,60}")  # an argument that is not an expression: nobody edits inside it
_LAST_WORD = re.compile(rb"[A-Za-z_]\w*$")
_ITS_OWN = re.compile(r"(?<![\w.:])|(?<=\bself\.)|(?<=\bthis\.)")
MAX_DEPTH = 60


def structure_doubt(
    language: Language,
    roots: Roots,
    shared: Shared,
    defined: list[dict[str, bytes]],
    texts: tuple[str, str, str],
) -> str:
    """The first doubt, or "". `defined` is what base, left, right and the result define; `texts` are the
    first three."""
    if language.is_data and language.keyed:
        return _key_doubt(language, roots, shared)
    doubt = _overload_doubt(defined) if language.overloads else ""
    return doubt or _caller_doubt(language, roots, shared, texts) or _argument_doubt(language, roots, shared)


# -- data: every key is in the table that its side put it into -----------------------------------


def _key_doubt(language: Language, roots: Roots, shared: Shared) -> str:
    b, lt, r, m = (_keys_of(language, root, shared.apart) for root in roots)
    due = (lt | r) - (b - lt) - (b - r)
    if m == due:
        return ""
    everywhere = _keys_of(language, roots[0], Part.inner)
    for root in roots[1:]:
        everywhere &= _keys_of(language, root, Part.inner)
    astray = (m - due - everywhere) or (due - m - everywhere)
    return f"the key {min(astray)} is missing, left over or misplaced" if astray else ""


def _keys_of(language: Language, root: Part, inside: Callable[[Part], list[Part]]) -> set[str]:
    """The path of every key that is not inside a list: elements of lists have no keys."""
    found: set[str] = set()
    todo: list[tuple[Part, str, int]] = [(root, "", 0)]
    while todo:
        part, path, depth = todo.pop()
        for child in inside(part):
            if child.kind in language.sequences or depth > MAX_DEPTH:
                continue
            inner = path
            if child.kind in language.keyed:
                inner = f"{path}/{_key_of(child)}"
                found.add(inner)
            todo.append((child, inner, depth + 1))
    return found


def _key_of(part: Part) -> str:
    if part.key is None:
        node = part.node
        part.key = flat_text(node.child_by_field_name("key") or next(iter(node.named_children), node))
    return part.key


# -- code --------------------------------------------------------------------------------------


def _overload_doubt(defined: list[dict[str, bytes]]) -> str:
    """Both sides added a function with the same new name: probably one idea twice, not two overloads."""
    b, lt, r, m = map(_by_plain_name, defined)
    for name in sorted((lt.keys() & r.keys() & m.keys()) - b.keys()):
        ours, theirs = lt[name] & m[name], r[name] & m[name]
        if ours - theirs and theirs - ours and "/constructor " not in name:
            return f"both sides define {name.rpartition('/')[2]} differently"
    return ""


def _by_plain_name(found: dict[str, bytes]) -> dict[str, set[str]]:
    """Name without parameters -> the labels with parameters."""
    named: dict[str, set[str]] = {}
    for label in found:
        plain, has_parameters, _ = label.partition("(")
        if has_parameters:
            named.setdefault(plain, set()).add(label)
    return named


def _caller_doubt(language: Language, roots: Roots, shared: Shared, texts: tuple[str, str, str]) -> str:
    """One side changed the parameters of a function, the other added calls, which still use the old ones."""
    b, lt, r = (_parameters_of(language, shared.apart(root)) for root in roots[:3])
    if b == lt == r:
        return ""
    b, lt, r = (_parameters_of(language, root.inner()) for root in roots[:3])
    for changed, other in ((r, texts[1]), (lt, texts[2])):
        for name in sorted(b.keys() & changed.keys()):
            is_changed = len(b[name]) == len(changed[name]) == 1 and b[name] != changed[name]
            if is_changed and _calls(name, other) > _calls(name, texts[0]):
                return f"one side changed the parameters of `{name}`, the other added calls of it"
    return ""


def _calls(name: str, text: str) -> int:
    """How often it is called. The text before the name is checked last: searching for the name is faster."""
    called = re.compile(re.escape(name) + r"\s*\(")
    return sum(_ITS_OWN.match(text, found.start()) is not None for found in called.finditer(text))


def _argument_doubt(language: Language, roots: Roots, shared: Shared) -> str:
    """The result passes an argument to a function to which no side passes it or its neighbours: one side
    replaced the call, the other changed its arguments."""
    made, given = shared.apart(roots[3]), [*shared.apart(roots[1]), *shared.apart(roots[2])]
    passed: set[Call] = set()
    known: set[Call] = set()
    while made or given:
        new, old = set(made) - set(given), set(given) - set(made)
        made, given = _inside(language, new, passed), _inside(language, old, known)
    pairs = {(called, argument) for called, arguments in known for argument in arguments}
    lost = {(called, argument) for called, arguments in passed for argument in arguments} - pairs
    for called, argument in sorted(lost):
        beside = {other for _, arguments in known if argument in arguments for other in arguments}
        if not any((called, other) in pairs for other in beside):
            return f"no side passes `{argument.decode(errors='replace')}` to `{called.decode()}`"
    return ""


def _inside(language: Language, parts: set[Part], calls: set[Call]) -> list[Part]:
    """The parts directly inside these; adds each call with its plain arguments to `calls`."""
    further: list[Part] = []
    for part in parts:
        inner = part.inner()
        for before, child in pairwise(inner):
            called = _LAST_WORD.search(before.text) if child.kind in language.arguments else None
            if called is not None:
                plain = (argument.text for argument in child.inner())
                calls.add((called[0], frozenset(text for text in plain if _PLAIN.fullmatch(text))))
        further += inner
    return further


def _parameters_of(language: Language, parts: list[Part]) -> dict[str, set[str]]:
    """Name -> parameters, of every function that is not inside another one."""
    found: dict[str, set[str]] = {}
    for part in parts:
        if part.functions is None:
            part.functions = _functions_in(language, part)
        for name, takes in part.functions:
            found.setdefault(name, set()).add(takes)
    return found


def _functions_in(language: Language, whole: Part) -> list[tuple[str, str]]:
    found = []
    todo = [whole]
    while todo:
        part = todo.pop()
        if language.definitions.get(part.kind) in FUNCTIONS:
            signature = signature_of(part.node)
            if signature is not None:
                found.append(signature)
        elif not part.is_leaf():
            todo += part.inner()
    return found
