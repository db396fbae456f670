"""The text of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def flat_text(node: Node) -> str:
    """The text on one line, with each run of blanks and line breaks as one blank."""
    return flattened(node.text or b"")


def flattened(text: bytes) -> str:
    return " ".join(text.decode("utf-8", "replace").split())
