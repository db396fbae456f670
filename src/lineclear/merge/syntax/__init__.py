"""Syntax trees of the three versions, made when a rule first asks for them."""

from __future__ import annotations


class Trees:
    def __init__(self, path: str, base: str, left: str, right: str) -> None:
        self.path = path
        self.texts = (base, left, right)
