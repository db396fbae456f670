"""Adds our hooks to a client's JSON settings beside the user's own, and removes only ours."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from lineclear.app.setup.plan import CannotSetUp
from lineclear.app.setup.text_blocks import digest
from lineclear.clients import jsonc
from lineclear.clients.templating import fill

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from lineclear.app.setup.plan import SetupFacts, SetupPlan

    Entry = tuple[tuple[str, ...], Any]

# Every command that we install contains this, wherever the repository is.
MARK = "lineclear/hook"
# A hook answers in milliseconds; after this long a client gives up on one that hangs.
TIMEOUT_S = 10


def command_for(facts: SetupFacts, path: str, client: str, event: str) -> str:
    """The command that the client runs. Has an absolute path only in a file that stays on this machine."""
    if is_private(facts, path):
        return shlex.join([facts.stub, client, event])
    return find_hook(client, event)


def find_hook(client: str, event: str) -> str:
    """A line of shell that finds the stub from the current directory, and exits at once if there is none."""
    return fill(
        "templates/find_hook.sh", FIND=fill("templates/find_git.sh").strip(), CLIENT=client, EVENT=event
    ).strip()


def is_private(facts: SetupFacts, path: str) -> bool:
    """Does the file stay on this machine, since we made it or its name is never committed?"""
    if path in facts.shared:
        return False
    return path.endswith(".local.json") or facts.files.get(path) is None or _was_made(facts, path)


def _was_made(facts: SetupFacts, path: str) -> bool:
    return bool(facts.record.get("files", {}).get(path, {}).get("made"))


def group(matcher: str, handler: Mapping[str, Any]) -> dict[str, Any]:
    """A group in Claude Code's form; without a matcher it is for every tool."""
    return ({"matcher": matcher} if matcher else {}) | {"hooks": [dict(handler)]}


def holds_ours(value: Any) -> bool:
    """Did we add this item: a handler with our command, or a group with only such handlers?"""
    if not isinstance(value, dict):
        return False
    inner = value.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(holds_ours(handler) for handler in inner)
    command = value.get("command") or value.get("bash")
    return isinstance(command, str) and MARK in command


def holds_server(value: Any) -> bool:
    """Did we add this MCP server? Recognises it even if the client has rewritten the file."""
    if not isinstance(value, dict):
        return False
    words = [value.get("command"), value.get("args")]
    return any(MARK in str(word) for word in words)


# -- adding -----------------------------------------------------------------------------------


def install(
    plan: SetupPlan,
    facts: SetupFacts,
    path: str,
    entries: Sequence[Entry],
    skeleton: str = "{}",
    servers: Sequence[Entry] = (),
) -> str:
    """Add entries and servers, and return the new text. Calling it again has no effect.

    An entry is appended to the array at its path. A server becomes a member at its path, if that is free.
    """
    before = facts.text(path)
    noted = facts.record.get("files", {}).get(path, {})
    if before is not None and noted and _is_in(before, noted, entries, servers, path):
        _note(plan, facts, path, noted)
        return before
    base = _base(facts, path, entries, servers)
    is_blank = base is None or not base.strip("\ufeff \t\r\n")
    patch = jsonc.JsonPatch(skeleton + "\n" if base is None or is_blank else base)
    servers = _free(plan, patch.text, servers, path)
    if not entries and not servers:
        plan.change(path, before, base)
        return base or ""
    made_paths = _missing(
        patch.text, [*(where for where, _ in entries), *(where[:-1] for where, _ in servers)], path
    )
    for where, value in entries:
        _grow(patch, path, jsonc.insert, where, value)
    for where, value in servers:
        _grow(patch, path, jsonc.put, where, value)
    plan.change(path, before, patch.text)
    note = {
        "made": base is None or bool(noted.get("made")),
        "blank": base if is_blank else None,
        "sha256": digest(patch.text),
        "pieces": [] if is_blank else [list(piece) for piece in patch.pieces],
        "paths": made_paths + [keys for keys in noted.get("paths", []) if keys not in made_paths],
        "where": sorted({where for where, _ in entries}),
        "servers": [list(where) for where, _ in servers],
    }
    _note(plan, facts, path, note)
    return patch.text


def _note(plan: SetupPlan, facts: SetupFacts, path: str, note: Mapping[str, Any]) -> None:
    plan.record.setdefault("files", {})[path] = note
    if note["made"] and path not in facts.shared:
        plan.private.append(path)


def _is_in(
    text: str, noted: Mapping[str, Any], entries: Sequence[Entry], servers: Sequence[Entry], path: str
) -> bool:
    """Is everything there as we would write it, even if the client has rewritten the file?"""
    if {where for where, _ in entries} != set(map(tuple, noted["where"])):
        return False
    if {where for where, _ in servers} != set(map(tuple, noted.get("servers", []))):
        return False
    if not text.strip("\ufeff \t\r\n"):
        return False
    root = _parsed(text, path)
    for where, value in entries:
        array = jsonc.node_at(root, where)
        if array is None or array.kind != "array" or value not in array.plain():
            return False
    nodes = [(jsonc.node_at(root, where), value) for where, value in servers]
    return all(node is not None and node.plain() == value for node, value in nodes)


def _base(facts: SetupFacts, path: str, entries: Sequence[Entry], servers: Sequence[Entry]) -> str | None:
    """The text without what an earlier set-up added."""
    text = facts.text(path)
    if text is None:
        return None
    places = [where for where, _ in entries], [where for where, _ in servers]
    return without_ours(text, path, facts.record, *places)


def _free(plan: SetupPlan, text: str, servers: Sequence[Entry], path: str) -> list[Entry]:
    """The servers whose name the user does not use for their own server."""
    root, free = _parsed(text, path), []
    for where, value in servers:
        if jsonc.node_at(root, where) is None:
            free.append((where, value))
        else:
            plan.notes.append(f"{path} already has a server called {where[-1]}; it was left unchanged")
    return free


def _missing(text: str, places: Sequence[tuple[str, ...]], path: str) -> list[list[str]]:
    """The containers that do not exist yet, deepest first: we make them, and remove them again."""
    root = _parsed(text, path)
    missing: set[tuple[str, ...]] = set()
    for where in places:
        for length in range(1, len(where) + 1):
            if jsonc.node_at(root, where[:length]) is None:
                missing.add(where[:length])
    return [list(where) for where in sorted(missing, key=lambda where: (-len(where), where))]


def _parsed(text: str, path: str) -> jsonc.JsonNode:
    try:
        return jsonc.parse(text)
    except jsonc.UnreadableJson as error:
        raise CannotSetUp(path, str(error)) from None


def _grow(
    patch: jsonc.JsonPatch,
    path: str,
    add: Callable[[str, Sequence[str], Any], list[jsonc.Insertion]],
    where: Sequence[str],
    value: Any,
) -> None:
    try:
        patch.grow(add(patch.text, where, value))
    except jsonc.UnreadableJson as error:
        raise CannotSetUp(path, str(error)) from None


# -- removing ---------------------------------------------------------------------------------


def remove(plan: SetupPlan, facts: SetupFacts, path: str, skeleton: str = "{}") -> None:
    """Restore the file as it was or, if it was edited since, remove only our part."""
    text = facts.text(path)
    if text is None:
        return
    noted = facts.record.get("files", {}).get(path, {})
    where = [tuple(keys) for keys in noted.get("where", [])]
    after = without_ours(text, path, facts.record, where)
    if after is not None and noted.get("made") and _is_bare(after, path, skeleton):
        after = None
    plan.change(path, text, after)


def without_ours(
    text: str,
    path: str,
    record: Mapping[str, Any],
    where: Sequence[Sequence[str]],
    servers: Sequence[Sequence[str]] = (),
) -> str | None:
    """The text as it was before us; None if there was no file."""
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
    for keys in sorted({*map(tuple, servers), *map(tuple, noted.get("servers", []))}):
        text = jsonc.drop(text, keys, holds_server)
    for keys in noted.get("paths", []):
        text = jsonc.drop(text, keys, jsonc.is_empty)
    return text


def _strip_one(text: str, keys: tuple[str, ...]) -> str:
    text = jsonc.strip(text, keys, holds_ours)
    # If the user added their own handler to our group, that one stays.
    array = jsonc.node_at(jsonc.parse(text), keys)
    for place in range(len(array.items) if array is not None and array.kind == "array" else 0):
        text = jsonc.strip(text, [*keys, place, "hooks"], holds_ours)
    return text


def _is_bare(text: str, path: str, skeleton: str) -> bool:
    """Is only the skeleton left? Clients themselves write `$schema` and `$version`, which do not count."""
    root = _parsed(text, path).plain()
    left = {key: value for key, value in root.items() if key[:1] != "$"} if isinstance(root, dict) else root
    is_bare: bool = left == jsonc.parse(skeleton).plain()
    return is_bare
