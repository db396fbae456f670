"""A block of lines at the end of a text file that is not JSON: between two marks, and out again alone."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from lineclear.app.setup.plan import SetupFacts, SetupPlan


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def marks(client: str) -> tuple[str, str]:
    return f"# lineclear setup {client}: begin", f"# lineclear setup {client}: end"


def install(plan: SetupPlan, facts: SetupFacts, path: str, client: str, lines: Sequence[str]) -> str:
    """The text with the block at its end; no lines, no block. Gives the new text."""
    before = facts.text(path)
    if before is not None and lines and _block(before, client, lines) in before:
        noted = facts.record.get("files", {}).get(path) or {"made": False, "sha256": "", "lines": list(lines)}
        plan.record.setdefault("files", {})[path] = noted
        return before
    base = without_block(before, path, facts.record, client) if before is not None else None
    after = base if not lines else _with_block(base or "", client, lines)
    plan.change(path, before, after)
    if lines:
        noted = facts.record.get("files", {}).get(path, {})
        plan.record.setdefault("files", {})[path] = {
            "made": base is None or bool(noted.get("made")),
            "sha256": digest(after or ""),
            "base": len(base or ""),
            "is_new": base is None,
            "is_gapped": bool(base and base.strip()),
            "is_glued": bool(base) and not str(base).endswith("\n"),
            "lines": list(lines),
        }
    return after or ""


def _block(text: str, client: str, lines: Sequence[str]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    begin, end = marks(client)
    return newline.join([begin, *lines, end, ""])


def _with_block(base: str, client: str, lines: Sequence[str]) -> str:
    newline = "\r\n" if "\r\n" in base else "\n"
    start = "" if not base or base.endswith("\n") else newline
    gap = newline if base.strip() else ""
    return base + start + gap + _block(base, client, lines)


def remove(plan: SetupPlan, facts: SetupFacts, path: str, client: str) -> None:
    text = facts.text(path)
    if text is None:
        return
    after = without_block(text, path, facts.record, client)
    noted = facts.record.get("files", {}).get(path, {})
    if after is not None and noted.get("made") and not after.strip():
        after = None
    plan.change(path, text, after)


def without_block(text: str, path: str, record: Mapping[str, Any], client: str) -> str | None:
    """As it was before us. Where the file was edited since: without our own lines between the marks."""
    noted = record.get("files", {}).get(path, {})
    if noted and digest(text) == noted["sha256"]:
        return None if noted["is_new"] else text[: noted["base"]]
    begin, end = marks(client)
    lines = text.splitlines(keepends=True)
    bare = [line.strip() for line in lines]
    if begin not in bare or end not in bare[bare.index(begin) :]:
        return text
    first = bare.index(begin)
    last = bare.index(end, first)
    ours = {line.strip() for line in noted.get("lines", bare[first : last + 1])}
    kept = [line for line in lines[first + 1 : last] if line.strip() not in ours]
    before = lines[:first]
    if before and not before[-1].strip() and noted.get("is_gapped", True):
        before.pop()
    rest = "".join([*before, *kept, *lines[last + 1 :]])
    is_last = noted.get("is_glued") and not kept and last + 1 == len(lines)
    return rest.removesuffix("\n").removesuffix("\r") if is_last else rest
