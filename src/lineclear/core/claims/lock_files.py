"""`*.agent-lock` files: we write one beside each path that is held exclusively, and read those of others.

Ours start with a mark and only repeat what the store says. A lock without the mark was written by another
program and counts until it is stale. Pure: the caller passes its age and whether its process is alive.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lineclear.core.words.refusals import shorten

SUFFIX = ".agent-lock"
MARK = "# written by lineclear"
# A foreign lock that is older no longer counts: its owner would have touched it again.
STALE_AFTER_MS = 30 * 60_000
MOST_READ_BYTES, MOST_WORDS = 4_096, 90

_PID = re.compile(r"\bpid\b[\"']?\s*[:=]?\s*([0-9]{1,9})\b", re.IGNORECASE)
_HOST = re.compile(r"\bhost(?:name)?\b[\"']?\s*[:=]\s*[\"']?([A-Za-z0-9._-]{1,255})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Lock:
    """An exclusive claim as we write it into a lock file. `path` is relative to the repository's root."""

    path: str
    resource: str
    agent: str
    until_at: str
    task: str
    note: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """What a lock of another program says; 0 and "" where it says nothing."""

    pid: int
    host: str
    words: str


def lock_name(path: str) -> str:
    """The lock's path, beside the file or directory: `src/a.py.agent-lock`; "" for the root, which gets
    none."""
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
    """Reads a lock in any form: a bare process id, JSON, `key: value` lines, or an empty file."""
    plain = text.strip()
    pid = _PID.search(plain)
    number = plain if plain.isascii() and plain.isdigit() and len(plain) <= 9 else pid[1] if pid else "0"
    host = _HOST.search(plain)
    return Foreign(int(number), host[1] if host else "", shorten(" ".join(plain.split()), MOST_WORDS))


def is_stale(lock: Foreign, age_ms: int, *, host: str, is_alive: bool) -> bool:
    """Is the lock too old, or was it written by a process of this host that has ended?

    `is_alive` is about `lock.pid` on this host. A lock of another host only becomes stale by its age.
    """
    if age_ms > STALE_AFTER_MS:
        return True
    is_here = lock.host in ("", "localhost", host)
    return bool(lock.pid) and is_here and not is_alive
