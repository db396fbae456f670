"""Does a use fit the form of a definition? Counts arguments and compares names; compares types by their text.

A use whose arguments cannot be counted (a spread) fits, unless a name shows that it does not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.core.radar.facts import BY_NAME, BY_PLACE, NAMED_REST, PLAIN, REST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lineclear.core.radar.facts import Definition, Parameter, Use

# Where a call must match declared types exactly or by a subtype, so that another type text breaks it.
_TYPED = frozenset(("go", "rust", "java", "c_sharp", "kotlin", "typescript", "tsx"))
# Types that take nearly everything, and type parameters.
_WIDE = re.compile(r"any|unknown|object|Object|dynamic|mixed|interface\{\}|Any\??|T|impl\b.*|&?dyn\b.*")
_WORD = re.compile(r"\w+")


def misfit_of(use: Use, rows: Sequence[Definition]) -> str:
    """Why the use fits none of the forms, in a few words; "" if it fits one, or if that cannot be told."""
    shapes = [row.parameters for row in rows]
    if not shapes or any(shape is None for shape in shapes):
        return ""
    reasons = [_misfit(use, shape) for shape in shapes if shape is not None]
    return "" if not all(reasons) else reasons[0]


def _misfit(use: Use, parameters: Sequence[Parameter]) -> str:
    by_place = [row for row in parameters if row.kind in (PLAIN, BY_PLACE)]
    has_rest = any(row.kind == REST for row in parameters)
    has_named_rest = any(row.kind == NAMED_REST for row in parameters)
    named = {row.name for row in parameters if row.kind in (PLAIN, BY_NAME)}
    is_counted = use.places >= 0
    if is_counted and use.places > len(by_place) and not has_rest:
        return f"passes {_counted(use.places)}, it takes {_at_most(len(by_place))}"
    unknown = [name for name in use.names if name != "*" and name not in named]
    if unknown and not has_named_rest:
        return f"passes `{unknown[0]}`, which is not a parameter any more"
    if "*" in use.names or not is_counted:
        return ""
    filled = {row.name for row in by_place[: use.places]} | set(use.names)
    missing = [
        row.name
        for row in parameters
        if row.is_required and row.kind in (PLAIN, BY_PLACE, BY_NAME) and row.name not in filled
    ]
    return f"does not pass `{missing[0]}`, which is required" if missing else ""


def _counted(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _at_most(count: int) -> str:
    return "none" if not count else "at most 1" if count == 1 else f"at most {count}"


def reordering_of(use: Use, old: Sequence[Definition], new: Sequence[Definition]) -> str:
    """Why a call by place now means something else although its arguments can be counted: the same
    parameters stand in another order, or one of them has another type."""
    if len(old) != 1 or len(new) != 1 or use.places < 1:
        return ""
    before, after = old[0].parameters or (), new[0].parameters or ()
    names, other = [row.name for row in before], [row.name for row in after]
    if names != other and sorted(names) == sorted(other) and use.places >= 2:
        first = next(at for at, name in enumerate(names) if name != other[at])
        return "passes its arguments in the old order" if first < use.places else ""
    return ""


def retyping_of(use: Use, language: str, old: Sequence[Definition], new: Sequence[Definition]) -> str:
    """Which argument now has another declared type, in languages that check it; "" if none."""
    if language not in _TYPED or len(old) != 1 or len(new) != 1:
        return ""
    before, after = old[0].parameters or (), new[0].parameters or ()
    for at, (was, now) in enumerate(zip(before, after, strict=False)):
        is_passed = at < use.places or now.name in use.names
        if is_passed and was.type and now.type and _is_other_type(was.type, now.type):
            return f"passes `{now.name}` as {was.type}, it is {now.type} now"
    return ""


def return_change(language: str, old: Sequence[Definition], new: Sequence[Definition]) -> str:
    """How what a function returns changed so that its callers must change; "" if they need not."""
    if len(old) != 1 or len(new) != 1:
        return ""
    was, now = old[0], new[0]
    if _is_async(was) != _is_async(now):
        return "it is async now" if _is_async(now) else "it is not async any more"
    if was.parameters is None or not was.type or not now.type or was.type == now.type:
        return ""
    is_other = _is_other_type(was.type, now.type)
    if language == "python":
        is_other = is_other and not _contains(was.type, now.type)
    return f"it returns {now.type} now, not {was.type}" if is_other else ""


def _is_async(row: Definition) -> bool:
    return row.head.startswith("async ") or " async " in row.head or row.head.startswith("suspend ")


def _is_other_type(was: str, now: str) -> bool:
    """Another type, and not a wider one that still takes the old: a union with it, a type parameter."""
    plain_was, plain_now = "".join(was.split()), "".join(now.split())
    if plain_was == plain_now or _WIDE.fullmatch(plain_now):
        return False
    alternatives = plain_now.split("|")
    if plain_was in alternatives or plain_now.removesuffix("?") == plain_was:
        return False
    return _outer(plain_was) != _outer(plain_now) or _arity(plain_was) != _arity(plain_now)


def _outer(text: str) -> str:
    """The name of a type without its package and its arguments."""
    head = re.split(r"[<\[(]", text, maxsplit=1)[0] or text
    return re.split(r"[.:\\]+", head.lstrip("&*"))[-1]


def _arity(text: str) -> int:
    return text.count("[]") + text.count("?") + text.startswith("[")


def _contains(was: str, now: str) -> bool:
    return bool(set(_WORD.findall(was)) & set(_WORD.findall(now)))


def missing_fields(use: Use, fields: Iterable[Definition], before: Iterable[str]) -> str:
    """Which field a literal lacks that was not required before."""
    if "*" in use.names or use.places:
        return ""
    known = set(before)
    for row in fields:
        if row.bare not in use.names and not row.is_optional and row.bare not in known:
            return f"does not set `{row.bare}`, which is required now"
    return ""
