"""This clone's own settings file, as commands change it."""

from __future__ import annotations

import os
import tomllib

from lineclear.core.words.refusals import refuse
from lineclear.host.files import write_atomically
from lineclear.settings.table import LOCAL_FILE


def write_local_section(directory: str, header: str, keys: list[str]) -> None:
    """A section of this clone's own settings, readable by its user alone: a URL may hold a password."""
    path = os.path.join(directory, LOCAL_FILE)
    kept = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            kept = file.read().splitlines()
    text = "\n".join([*_without_section(kept, header), *([header, *keys] if keys else []), ""])
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise refuse("input.bad", name=path, given=header, why="the file already sets it elsewhere") from None
    write_atomically(path, text.encode())
    os.chmod(path, 0o600)


def _without_section(lines: list[str], header: str) -> list[str]:
    kept, inside = [], False
    for line in lines:
        if line.strip().startswith("["):
            inside = line.strip() == header
        if not inside:
            kept.append(line)
    return kept
