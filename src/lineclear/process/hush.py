"""Hushes: what lets a hook's stub answer with silence, without starting an interpreter.

One directory for a session's present situation (a spell), with an empty file for every path that this session
may edit again without a word:

    hush/s/KEY          a link to the session's spell
    hush/g/SPELL/live   there while the spell holds
                place   two lines: the root of the worktree, and the directory in which the client stands
                agent   whose session it is
                team, local              links to the two files of settings, wherever they are
                team.seen, local.seen    files with the time that those had; missing where they were
                team.past, local.past    a nanosecond earlier: does the shell see the difference?
                e/PATH  its time is the moment until which silence is right
                shell   the same for a command that changes nothing: what `git status` said; before that,
                        perhaps, that a server knows it better than git
                read    the same for reading any file in the worktree

Why it is sound. A writer lifts what its events concern while it holds the store's gate, before it commits. A
hook enters a path, not yet valid, before it reads the store, and only at a moment when nobody holds the gate;
it makes the entry valid last, through the file it opened then. So an event is either in what the hook has
read, or its writer has removed the entry or the spell. A process that dies anywhere leaves too little, never
too much. The stub is clients/templates/hook.sh.
"""

from __future__ import annotations

import errno
import fcntl
import os
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.core.hush import Concerned

# A file that was changed less than this before we read it might change again without a new time.
_SETTLED_NS = 2_000_000_000
_NS = 1_000_000_000
_SETTINGS = ("team", "local")
# A line of git's own kind, which git never prints.
WATCHED = b"# watched\n"


class Hushes:
    """All hushes of one repository, as those who commit see them. `mine`: the spell that the events of this
    process's own claims leave alone, since it knows what they change."""

    __slots__ = ("_directory", "mine")

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self.mine = ""

    def lift(self, whom: Concerned) -> None:
        """Before the commit, inside the gate. An OSError means that a hush may still be there."""
        for spell in self._spells():
            if self._ends(spell, whom):
                end_spell(spell)

    def _ends(self, spell: str, whom: Concerned) -> bool:
        """Does all of it end? Single paths are taken out here."""
        if whom.everyone or (whom.agents and _is_meant(spell, whom.agents)):
            return True
        if spell == self.mine:
            return False
        if any(_has(spell, directory) for directory in whom.directories):
            return True
        return not all(_drop(spell, path) for path in whom.paths)

    def lift_all(self) -> None:
        for spell in self._spells():
            end_spell(spell)

    def _spells(self) -> list[str]:
        try:
            return [f"{self._directory}/g/{name}" for name in os.listdir(f"{self._directory}/g")]
        except FileNotFoundError:
            return []


def end_spell(spell: str) -> None:
    """Its hushes hold no longer. Twice is once."""
    try:
        os.unlink(spell + "/live")
    except (FileNotFoundError, NotADirectoryError):
        pass


def _is_meant(spell: str, agents: set[str]) -> bool:
    """Is it the session of one of them, or of a sub-agent? In doubt it is."""
    name = _read(spell + "/agent")
    return not name or any(name == agent or name.startswith(agent + "/") for agent in agents)


def _has(spell: str, directory: str) -> bool:
    """Is something entered in there, or something of which that would be inside?"""
    try:
        os.lstat(f"{spell}/e/{directory}")
    except FileNotFoundError:
        return False
    except OSError:
        pass
    return True


def _drop(spell: str, path: str) -> bool:
    """Take one path out; False where only the end of the spell is safe."""
    try:
        os.unlink(f"{spell}/e/{path}")
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.EISDIR, errno.EPERM, errno.EACCES, errno.ENAMETOOLONG):
            return error.errno == errno.ENAMETOOLONG  # no entry can have such a name
        raise
    return True


class Hush:
    """One path that this call may hush, from before the store is read until the answer is known."""

    __slots__ = ("_entry", "_fd", "spell")

    def __init__(self, spell: str, entry: str, fd: int) -> None:
        self.spell, self._entry, self._fd = spell, entry, fd

    def belongs_to(self, agent: str) -> None:
        """Until then any message to anybody ends the spell."""
        if _read(self.spell + "/agent") != agent:
            _write(self.spell + "/agent", agent)

    def write(self, text: bytes) -> None:
        """What the stub has to compare."""
        os.write(self._fd, text)

    def grant(self, until_ns: int) -> None:
        """Silence is right until then, by the wall clock; whole seconds, for shells that know only these."""
        at_ns = until_ns // _NS * _NS
        os.utime(self._fd, ns=(at_ns, at_ns))

    def close(self, *, is_granted: bool) -> None:
        if self._fd < 0:
            return
        os.close(self._fd)
        self._fd = -1
        if not is_granted:
            _unlink(self._entry)


def begin(
    directory: str, gate: str, key: str, *, root: str, cwd: str, entry: str, settings: Sequence[str],
    began_ns: int,
) -> Hush | None:  # fmt: skip
    """Make an entry, before the store is read; None where the moment, or a name, is not fit for it.

    `settings` are the files that the answer was made by, read after `began_ns`.
    """
    seen = [_time_of(file, began_ns) for file in settings]
    if -1 in seen or "\n" in root + cwd:
        return None
    try:
        return _while_nobody_commits(gate, lambda: _enter(directory, key, root, cwd, entry, settings, seen))
    except (OSError, ValueError):
        return None


def _while_nobody_commits(gate: str, work: Callable[[], Hush]) -> Hush | None:
    fd = os.open(gate, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        return work()
    finally:
        os.close(fd)


def _enter(
    directory: str, key: str, root: str, cwd: str, name: str, settings: Sequence[str], seen: Sequence[int]
) -> Hush:
    link = f"{directory}/s/{key}"
    spell = _present_spell(directory, link)
    place = f"{root}\n{cwd}\n"
    if not spell or _read(spell + "/place", whole=True) != place or _seen_by(spell) != list(seen):
        if spell:
            forget(directory, key)
        spell = _new_spell(directory, key, place, settings, seen)
    entry = f"{spell}/{name}"
    _unlink(entry)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        fd = os.open(entry, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(entry), mode=0o700, exist_ok=True)
        fd = os.open(entry, flags, 0o600)
    # Not valid yet: its moment is long past.
    os.utime(fd, ns=(0, 0))
    return Hush(spell, entry, fd)


def _present_spell(directory: str, link: str) -> str:
    try:
        spell = f"{directory}/g/{os.readlink(link).rpartition('/')[2]}"
    except OSError:
        return ""
    return spell if os.path.exists(spell + "/live") else ""


def _new_spell(directory: str, key: str, place: str, settings: Sequence[str], seen: Sequence[int]) -> str:
    name = f"{key}~{os.urandom(6).hex()}"
    spell = f"{directory}/g/{name}"
    os.makedirs(spell + "/e", mode=0o700)
    os.makedirs(directory + "/s", mode=0o700, exist_ok=True)
    _write(spell + "/place", place)
    for short, file, time_ns in zip(_SETTINGS, settings, seen, strict=True):
        os.symlink(file, f"{spell}/{short}")
        if time_ns:
            for mark, at_ns in ((".seen", time_ns), (".past", time_ns - 1)):
                _write(f"{spell}/{short}{mark}", "")
                os.utime(f"{spell}/{short}{mark}", ns=(at_ns, at_ns))
    _write(spell + "/live", "")
    temporary = f"{directory}/s/.{name}"
    os.symlink(f"../g/{name}", temporary)
    os.replace(temporary, f"{directory}/s/{key}")
    return spell


def _seen_by(spell: str) -> list[int]:
    return [_mtime_ns(f"{spell}/{short}.seen") for short in _SETTINGS]


def _time_of(file: str, began_ns: int) -> int:
    """When a file of settings was changed; 0 where there is none, -1 while it is too fresh to be told from
    its next version."""
    try:
        found = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError:
        return -1
    is_settled = max(found.st_mtime_ns, found.st_ctime_ns) < began_ns - _SETTLED_NS
    return found.st_mtime_ns if is_settled and found.st_mtime_ns > 0 else -1


def _mtime_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def drop(directory: str, key: str, entry: str) -> None:
    """Take one entry out of the session's spell."""
    _unlink(f"{directory}/s/{key}/{entry}")


def forget(directory: str, key: str) -> None:
    """The session's spells end and are taken away, its link too."""
    try:
        names = os.listdir(directory + "/g")
    except OSError:
        return
    for name in names:
        if name.rpartition("~")[0] == key:
            end_spell(f"{directory}/g/{name}")
            remove_tree(f"{directory}/g/{name}")
    _unlink(f"{directory}/s/{key}")


def remove_tree(path: str) -> None:
    """A directory of ours with all that is in it; what cannot go stays. `shutil` costs an import of a dozen
    modules, which a hook would feel."""
    try:
        entries = list(os.scandir(path))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            remove_tree(entry.path)
        else:
            _unlink(entry.path)
    try:
        os.rmdir(path)
    except OSError:
        pass


def _read(path: str, *, whole: bool = False) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        text = os.fsdecode(os.read(fd, 1 << 14))
    except OSError:
        return ""
    finally:
        os.close(fd)
    return text if whole else text.strip()


def _write(path: str, text: str) -> None:
    """Whole or not there."""
    temporary = f"{path}.{os.getpid()}.{get_ident()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, os.fsencode(text))
    finally:
        os.close(fd)
    os.replace(temporary, path)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
