"""How a client is started for a probe: with the user's own settings and trust, and no real model."""

from __future__ import annotations

KEY = "sk-of-no-account"


class Probe:
    """`env` is added to the environment. `files`: variable -> (name, text) of a file it is to name.
    `patience`: for how many seconds a client that does not wait for an MCP server is kept busy at most."""

    __slots__ = ("argv", "env", "files", "hint", "patience")

    def __init__(
        self,
        argv: list[str],
        env: dict[str, str],
        *,
        files: dict[str, tuple[str, str]] | None = None,
        hint: str = "",
        patience: int = 0,
    ) -> None:
        self.argv, self.env, self.files, self.hint = argv, env, files or {}, hint
        self.patience = patience
