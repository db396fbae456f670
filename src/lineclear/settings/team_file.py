"""The settings file that the team shares, as commands change it."""

from __future__ import annotations

import os

from lineclear.host.files import write_atomically
from lineclear.settings.table import TEAM_FILE


def write_repo_id(root: str, repo_id: str) -> None:
    """Put the name that all clones share at the top of the file, which need not exist."""
    path, before = os.path.join(root, TEAM_FILE), ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            before = file.read()
    addition = f'[repo]\nid = "{repo_id}"\n'
    write_atomically(path, (f"{addition}\n{before}" if before else addition).encode())
