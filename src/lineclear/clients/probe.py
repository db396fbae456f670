"""How to start a client for a probe: with the user's own settings and trust, but without a real model."""

from __future__ import annotations

from dataclasses import dataclass, field

KEY = "sk-of-no-account"


@dataclass(frozen=True, slots=True)
class Probe:
    """`env` is added to the environment. `files`: variable -> (name, text) of a file whose path it gets.
    `hint`: what may keep the client from running our hooks. `patience`: for how many seconds at most to keep
    a client busy that does not wait for an MCP server."""

    argv: list[str]
    env: dict[str, str]
    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    hint: str = ""
    patience: int = 0
