"""Hooks in a client's JSON settings: ours go in beside the user's own, and out again alone."""

from __future__ import annotations

import hashlib
import shlex

from lineclear.clients.setup import jsonc
from lineclear.clients.setup.templating import fill
from lineclear.clients.setup.values import CannotSetUp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from lineclear.clients.setup.values import Found, Plan

    Entry = tuple[tuple[str, ...], Any]

# Every command we install holds this, wherever the repository is.
MARK = "lineclear/hook"
# A hook answers in milliseconds; a client waits this long for one that hangs, then goes on.
TIMEOUT_S = 10


def command_for(found: Found, path: str, client: str, event: str) -> str:
    """What the client runs. An absolute path only in a file that stays on this machine."""
    if is_private(found, path):
        return shlex.join([found.stub, client, event])
    return fill("find_hook.sh", CLIENT=client, EVENT=event).strip()


def is_private(found: Found, path: str) -> bool:
    """Is it ours alone, or by its name nobody's to commit?"""
    if path in found.shared:
        return False
    return path.endswith(".local.json") or found.files.get(path) is None or _was_made(found, path)


def _was_made(found: Found, path: str) -> bool:
    return bool(found.record.get("files", {}).get(path, {}).get("made"))


def group(matcher: str, handler: Mapping[str, Any]) -> dict[str, Any]:
    """A group as Claude Code has it; without a matcher it is for every tool."""
    return ({"matcher": matcher} if matcher else {}) | {"hooks": [dict(handler)]}


def holds_ours(value: Any) -> bool:
    """Is this item one that we put in: a handler with our command, or a group of nothing else?"""
    if not isinstance(value, dict):
        return False
    inner = value.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(holds_ours(handler) for handler in inner)
    command = value.get("command") or value.get("bash")
    return isinstance(command, str) and MARK in command


# -- in ---------------------------------------------------------------------------------------


def install(plan: Plan, found: Found, path: str, entries: Sequence[Entry], skeleton: str = "{}") -> str:
    """The file with every entry appended where it belongs; gives the new text. Twice is once."""
    before = found.text(path)
    base = _base(found, path, entries)
    is_blank = base is None or not base.strip("\ufeff \t\r\n")
    patch = jsonc.Patch(skeleton + "\n" if base is None or is_blank else base)
    made_paths = _missing(patch.text, entries, path)
    for where, value in entries:
        _grow(patch, path, where, value)
    plan.change(path, before, patch.text)
    noted = found.record.get("files", {}).get(path, {})
    is_made = base is None or bool(noted.get("made"))
    plan.record.setdefault("files", {})[path] = {
        "made": is_made,
        "blank": base if is_blank else None,
        "sha256": digest(patch.text),
        "pieces": [] if is_blank else [list(piece) for piece in patch.pieces],
        "paths": made_paths + [keys for keys in noted.get("paths", []) if keys not in made_paths],
        "where": sorted({where for where, _ in entries}),
    }
    if is_made and path not in found.shared:
        plan.private.append(path)
    return patch.text


def _base(found: Found, path: str, entries: Sequence[Entry]) -> str | None:
    """The text without what an earlier set-up has put in."""
    text = found.text(path)
    if text is None:
        return None
    return without_ours(text, path, found.record, [where for where, _ in entries])


def _missing(text: str, entries: Sequence[Entry], path: str) -> list[list[str]]:
    """The containers on the way that are not there yet, deepest first: ours to remove again."""
    root = _parsed(text, path)
    missing: set[tuple[str, ...]] = set()
    for where, _ in entries:
        for length in range(1, len(where) + 1):
            if jsonc.node_at(root, where[:length]) is None:
                missing.add(where[:length])
    return [list(where) for where in sorted(missing, key=lambda where: (-len(where), where))]


def _parsed(text: str, path: str) -> jsonc.Node:
    try:
        return jsonc.parse(text)
    except jsonc.Unreadable as error:
        raise CannotSetUp(path, str(error)) from None


def _grow(patch: jsonc.Patch, path: str, where: Sequence[str], value: Any) -> None:
    try:
        patch.grow(jsonc.insert(patch.text, where, value))
    except jsonc.Unreadable as error:
        raise CannotSetUp(path, str(error)) from None


# -- out --------------------------------------------------------------------------------------


def remove(plan: Plan, found: Found, path: str, skeleton: str = "{}") -> None:
    """The file as it was; where the user has edited it since, without our part alone."""
    text = found.text(path)
    if text is None:
        return
    noted = found.record.get("files", {}).get(path, {})
    where = [tuple(keys) for keys in noted.get("where", [])]
    after = without_ours(text, path, found.record, where)
    if after is not None and noted.get("made") and _is_bare(after, path, skeleton):
        after = None
    plan.change(path, text, after)


def without_ours(
    text: str, path: str, record: Mapping[str, Any], where: Sequence[Sequence[str]]
) -> str | None:
    """The text as it was before us; None for a file that was not there."""
    noted = record.get("files", {}).get(path, {})
    if noted and digest(text) == noted["sha256"]:
        if not noted["pieces"]:
            blank: str | None = noted["blank"]
            return blank
        was = jsonc.shrink(text, [(at, piece) for at, piece in noted["pieces"]])
        if was is not None:
            return was
    if not text.strip("\ufeff \t\r\n"):
        return text
    _parsed(text, path)
    for keys in sorted({*map(tuple, where), *map(tuple, noted.get("where", []))}):
        text = _strip_one(text, keys)
    for keys in noted.get("paths", []):
        text = jsonc.drop_if_empty(text, keys)
    return text


def _strip_one(text: str, keys: tuple[str, ...]) -> str:
    text = jsonc.strip(text, keys, holds_ours)
    # A group that the user added a handler of their own to keeps that one.
    array = jsonc.node_at(jsonc.parse(text), keys)
    for place in range(len(array.items) if array is not None and array.kind == "array" else 0):
        text = jsonc.strip(text, [*keys, place, "hooks"], holds_ours)
    return text


def _is_bare(text: str, path: str, skeleton: str) -> bool:
    found: bool = _parsed(text, path).plain() == jsonc.parse(skeleton).plain()
    return found


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
