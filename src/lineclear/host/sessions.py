"""What a hook remembers about a client session between its calls: a small append-only file of lines.

Losing it only makes us ask or report something once more. Lines are `KIND<tab>KEY<tab>VALUE`; the last one of
a kind and key counts. Several processes may write at once.
"""

from __future__ import annotations

import os
import time

# The directory of these files in the state directory.
SESSIONS = "sessions"
_MOST_BYTES, _ROOMY_BYTES = 256 * 1024, 8 * 1024
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"))


class SessionFile:
    """The memory of one session. Never raises: if it cannot be written, it is lost."""

    __slots__ = ("_facts", "_fresh", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._facts: dict[tuple[str, str], str] | None = None
        self._fresh: list[str] = []

    def get(self, kind: str, key: str = "") -> str:
        return self._all().get((kind, key), "")

    def keys(self, kind: str) -> list[str]:
        """The keys of a kind that have a value, in the order in which they were set."""
        return [key for (sort, key), value in self._all().items() if sort == kind and value]

    def set(self, kind: str, key: str, value: str) -> None:
        """Remember a value; an empty one forgets it. `save` writes it to disk."""
        if self.get(kind, key) != value:
            self._all().pop((kind, key), None)
            self._all()[kind, key] = value
            self._fresh.append(f"{kind}\t{_escape(key)}\t{_escape(value)}\n")

    @property
    def is_changed(self) -> bool:
        """Is there anything to save?"""
        return bool(self._fresh)

    def set_now(self, kind: str, key: str, value: str) -> None:
        """Remember a value and write it to disk at once, without the other changes."""
        earlier, self._fresh = self._fresh, []
        self.set(kind, key, value)
        line, self._fresh = self._fresh, earlier
        self._append("".join(line))

    def copy(self) -> SessionFile:
        """A copy that can be changed and discarded."""
        other = SessionFile(self.path)
        other._facts, other._fresh = dict(self._all()), list(self._fresh)
        return other

    def save(self) -> None:
        if not self._fresh:
            return
        text = "".join(self._fresh)
        self._fresh = []
        try:
            if self._is_full(self._size() + len(text)):
                self._compact()
                return
        except (OSError, ValueError):
            return
        self._append(text)

    def _append(self, text: str) -> None:
        try:
            fd = self._open(os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        except (OSError, ValueError):
            return
        try:
            os.write(fd, text.encode("utf-8", "surrogateescape"))
        except OSError:
            pass
        finally:
            os.close(fd)

    def forget(self) -> None:
        try:
            os.unlink(self.path)
        except OSError:
            pass

    def _all(self) -> dict[tuple[str, str], str]:
        if self._facts is None:
            self._facts = _parse(_read(self.path))
        return self._facts

    def _size(self) -> int:
        try:
            return os.stat(self.path).st_size
        except OSError:
            return 0

    def _is_full(self, size_bytes: int) -> bool:
        """Is it time to drop outdated lines? Every call reads the whole file."""
        if size_bytes <= _ROOMY_BYTES:
            return False
        return size_bytes > _MOST_BYTES or size_bytes > 2 * sum(map(len, self._lines()))

    def _lines(self) -> list[str]:
        """The lines that are not outdated."""
        return [
            f"{kind}\t{_escape(key)}\t{_escape(value)}\n"
            for (kind, key), value in self._all().items()
            if value
        ]

    def _compact(self) -> None:
        """Write only the current values; if even these are too much, only the newer half."""
        lines = self._lines()
        if sum(map(len, lines)) > _MOST_BYTES // 2:
            lines = lines[len(lines) // 2 :]
        from lineclear.host.files import write_atomically

        data = "".join(lines).encode("utf-8", "surrogateescape")
        write_atomically(self.path, data, is_durable=False, mode=0o600)

    def _open(self, flags: int) -> int:
        try:
            return os.open(self.path, flags | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            return os.open(self.path, flags | os.O_CLOEXEC, 0o600)


def _escape(text: str) -> str:
    for plain, escaped in _ESCAPES:
        if plain in text:
            text = text.replace(plain, escaped)
    return text


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return text.replace("\\\\", "\0").replace("\\t", "\t").replace("\\n", "\n").replace("\0", "\\")


def _read(path: str) -> str:
    try:
        with open(path, "rb", buffering=0) as file:
            return (file.read(2 * _MOST_BYTES) or b"").decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _parse(text: str) -> dict[tuple[str, str], str]:
    facts: dict[tuple[str, str], str] = {}
    for line in text.split("\n"):
        kind, tab, rest = line.partition("\t")
        key, second, value = rest.partition("\t")
        if tab and second:
            facts.pop((kind, _unescape(key)), None)
            facts[kind, _unescape(key)] = _unescape(value)
    return facts


# -- content ----------------------------------------------------------------------------------

_MOST_DIGESTED_BYTES = 64 << 20
_AT_ONCE = 1 << 20


def digest_of(path: str) -> str:
    """A digest of a file's content; "" if there is none. For a large file only size and time count."""
    try:
        found = os.stat(path)
        if found.st_size > _MOST_DIGESTED_BYTES:
            return f"large-{found.st_size}-{found.st_mtime_ns}"
        with open(path, "rb", buffering=0) as file:
            return _digest(file.read)
    except (OSError, ValueError):
        return ""


def _digest(read: object) -> str:
    try:
        from _blake2 import blake2b  # `hashlib` loads all of OpenSSL
    except ImportError:
        from hashlib import blake2b
    digest = blake2b(digest_size=16)
    while piece := read(_AT_ONCE):  # type: ignore[operator]
        digest.update(piece)
    found: str = digest.hexdigest()
    return found


# -- who wrote what ---------------------------------------------------------------------------


class Writes:
    """Who wrote which file in shared trees, and when, as agents' hooks saw it: one file per repository.

    Lines are `NS<tab>AGENT<tab>TREE<tab>PATH<tab>DIGEST`; the digests "+" and "-" mark the begin and end of a
    shell command. `size` counts a note at once; others see it after `flush`.
    """

    __slots__ = ("_noted", "_path")

    def __init__(self, path: str) -> None:
        self._path = path
        self._noted = ""

    def copy(self) -> Writes:
        """A copy without the notes that are not flushed."""
        return Writes(self._path)

    def note(self, agent: str, tree: str, path: str, digest: str) -> None:
        self._noted += f"{time.time_ns()}\t{agent}\t{_escape(tree)}\t{_escape(path)}\t{digest}\n"

    def flush(self) -> None:
        text, self._noted = self._noted, ""
        if not text:
            return
        file = SessionFile(self._path)
        if file._size() > _MOST_BYTES:
            try:
                os.replace(self._path, self._path + ".old")
            except OSError:
                return
        file._append(text)

    def since(self, at_ns: int, tree: str) -> list[tuple[int, str, str, str]]:
        """(when, agent, path, digest) of the writes in a tree since `at_ns`, oldest first."""
        found = []
        for line in _read(self._path).split("\n"):
            parts = line.split("\t")
            if (
                len(parts) == 5
                and parts[0].isdigit()
                and int(parts[0]) >= at_ns
                and _unescape(parts[2]) == tree
            ):
                found.append((int(parts[0]), parts[1], _unescape(parts[3]), parts[4]))
        return found

    def size(self) -> int:
        return SessionFile(self._path)._size() + len(self._noted.encode("utf-8", "surrogateescape"))
