"""`*.agent-lock` files: ours, beside a path that is held exclusively, and how we read those of others.

Ours carry a mark in the first line and only repeat what the store says; a lock without it was written by
somebody else and counts until it is stale. Pure: ages and living processes are told from outside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lineclear.core.words.refusals import shorten

SUFFIX = ".agent-lock"
MARK = "# written by lineclear"
# Older than this a lock of somebody else counts no more: its owner would have touched it again.
STALE_AFTER_MS = 30 * 60_000
MOST_READ_BYTES, MOST_WORDS = 4_096, 90

_PID = re.compile(r"\bpid\b[\"']?\s*[:=]?\s*([0-9]{1,9})\b", re.IGNORECASE)
_HOST = re.compile(r"\bhost(?:name)?\b[\"']?\s*[:=]\s*[\"']?([A-Za-z0-9._-]{1,255})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Lock:
    """An exclusive claim as a lock file tells it. `path` is from the root of the repository."""

    path: str
    resource: str
    agent: str
    until_at: str
    task: str
    note: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """What a lock of somebody else says of itself; 0 and "" where it says nothing."""

    pid: int
    host: str
    words: str


def lock_name(path: str) -> str:
    """Beside the file or directory: `src/a.py.agent-lock`; "" for the root, which has nothing beside it."""
    plain = path.strip("/")
    return plain + SUFFIX if plain not in ("", ".") else ""


def write_lock(lock: Lock) -> str:
    lines = [MARK, f"agent: {lock.agent}", f"resource: {shorten(lock.resource, 1_000)}"]
    lines += [f"until: {lock.until_at}"]
    lines += [f"task: {lock.task}"] if lock.task else []
    lines += [f"note: {shorten(lock.note, 500)}"] if lock.note else []
    return "\n".join(lines) + "\n"


def is_ours(text: str) -> bool:
    return text.startswith(MARK)


def read_foreign(text: str) -> Foreign:
    """Any text is a lock: a bare process id, JSON, `key: value` lines, or nothing at all."""
    plain = text.strip()
    pid = _PID.search(plain)
    number = plain if plain.isascii() and plain.isdigit() and len(plain) <= 9 else pid[1] if pid else "0"
    host = _HOST.search(plain)
    return Foreign(int(number), host[1] if host else "", shorten(" ".join(plain.split()), MOST_WORDS))


def is_stale(lock: Foreign, age_ms: int, *, host: str, is_alive: bool) -> bool:
    """Too old, or written by a process of this host that has ended.

    `is_alive` answers for `lock.pid` on this host. A lock that names another host can only grow old.
    """
    if age_ms > STALE_AFTER_MS:
        return True
    is_here = lock.host in ("", "localhost", host)
    return bool(lock.pid) and is_here and not is_alive
