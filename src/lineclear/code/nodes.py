"""The text of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def flat_text(node: Node) -> str:
    """On one line, with one blank where there were any."""
    return flattened(node.text or b"")


def flattened(text: bytes) -> str:
    return " ".join(text.decode("utf-8", "replace").split())
