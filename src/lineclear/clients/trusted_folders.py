"""Adds a folder to those that a client trusts, in a JSON file of the user that the client itself rewrites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.setup.plan import CannotSetUp
from lineclear.app.setup.text_blocks import digest
from lineclear.clients import jsonc

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.setup.plan import SetupFacts, SetupPlan


def parsed(facts: SetupFacts, path: str) -> dict[str, object]:
    """The file's content; {} if it does not exist or is blank."""
    text = facts.text(path)
    try:
        said = jsonc.parse(text).plain() if text and text.strip() else {}
    except jsonc.UnreadableJson as error:
        raise CannotSetUp(path, str(error)) from None
    if not isinstance(said, dict):
        raise CannotSetUp(path, "it is not an object")
    return said


def add(
    plan: SetupPlan, facts: SetupFacts, client: str, path: str, grow: Callable[[str], list[tuple[int, str]]]
) -> None:
    """Add the folder, with a note to the user. `grow(text)` returns the insertions."""
    before = facts.text(path)
    is_blank = before is None or not before.strip()
    patch = jsonc.JsonPatch("{}\n" if before is None or is_blank else before)
    try:
        patch.grow(grow(patch.text))
    except jsonc.UnreadableJson as error:
        raise CannotSetUp(path, str(error)) from None
    plan.change(path, before, patch.text)
    plan.record.setdefault("files", {})[path] = {
        "made": before is None,
        "blank": before if is_blank else None,
        "sha256": digest(patch.text),
        "pieces": [] if is_blank else [list(piece) for piece in patch.pieces],
    }
    tell(plan, facts, client, path)


def tell(plan: SetupPlan, facts: SetupFacts, client: str, path: str) -> None:
    """Tell the user that this trust covers everything in the project, not only our files."""
    plan.notes.append(
        f"{path} tells {client} to trust {facts.root}: it follows all of the project's files, "
        "not only our part; --remove undoes that"
    )


def keep(plan: SetupPlan, facts: SetupFacts, path: str) -> None:
    """The folder is already trusted: keep our record of whether we added it."""
    noted = facts.record.get("files", {}).get(path)
    if noted is not None:
        plan.record.setdefault("files", {})[path] = noted


def remove(plan: SetupPlan, facts: SetupFacts, path: str, strip: Callable[[str], str]) -> None:
    """Remove what we added. `strip(text)` does so if the file was changed since."""
    noted, text = facts.record.get("files", {}).get(path), facts.text(path)
    if noted is None or text is None:
        return
    after: str | None = None
    if digest(text) != noted["sha256"]:
        parsed(facts, path)
        after = strip(text)
    elif noted["pieces"]:
        after = jsonc.shrink(text, [(at, piece) for at, piece in noted["pieces"]])
    else:
        after = noted["blank"]
    plan.change(path, text, after)
