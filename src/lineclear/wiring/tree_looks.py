"""What `git status` would say of worktrees, without asking it about all of their files each time: for a
process that stays.

The kernel tells which paths were written since git said something last (process/tree_watch.py), and git is
asked about these alone. Sound means: never less than git would say of the whole tree. So whatever else can
change what git says is compared each time (the index, HEAD, settings, rules about what is ignored), by times
that are too old to be taken again; and in any doubt git looks at everything. A worktree gets ready in a
thread of its own, during which git is asked as if we were not here.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from contextlib import suppress

from lineclear.git.layout import has_reftable, head_branch
from lineclear.git.objects import BLOB, Objects
from lineclear.git.pictures import STATUS, keep_content
from lineclear.git.run import quick_git
from lineclear.git.snapshot_files import is_old, signature_of
from lineclear.git.snapshot_trees import head_in_files
from lineclear.git.status_rows import UNTRACKED, Rows, is_below, outermost
from lineclear.process.files import is_network_fs
from lineclear.process.shielding import shield_thread
from lineclear.process.tree_watch import TreeWatch, kernel_limit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.git.layout import Layout

    # HEAD's branch and commit, which directory the worktree is, and the files that decide.
    Marks = tuple[str | None, str | None, tuple[int, int] | None, list[list[int] | None]]

# Not everything is told by the kernel: see process/tree_watch.py.
LOOK_ANYWAY_S = 120.0
# What cannot be watched is not tried again at every call.
REST_S = 60.0
# What was watched and has changed too much is, soon.
AGAIN_S = 2.0
MOST_TREES = 32
# Two calls about one tree: the second waits for the first, or looks by itself.
_WAIT_S = 0.5
# Several of these are looked at faster all together.
_MOST_PLACES, _MOST_PLACES_BYTES, _MOST_NEW = 100, 16_384, 64
# The rules of the tree itself; `.git` makes another repository of a directory.
_RULES = frozenset((b".gitignore", b".gitattributes", b".gitmodules", b".git"))
_WITH_IGNORED = (*STATUS, "--ignored=matching")
# Below this size of the index git looks at everything in less time than it takes to ask us.
_WORTH_BYTES = 100_000


class _Doubt(Exception):
    """Only a look at everything tells."""


class Looks:
    """Any number of threads may ask at once."""

    __slots__ = ("_is_closed", "_lock", "_trees")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trees: dict[str, Tree] = {}
        self._is_closed = False

    def at(self, layout: Layout) -> Tree:
        """From the first question on it gets ready."""
        with self._lock:
            tree = self._trees.pop(layout.worktree, None)
            if tree is not None and tree.git_dir != layout.git_dir:
                tree.close()
                tree = None
            if tree is None:
                tree = self._new(layout)
            self._trees[layout.worktree] = tree  # the last one asked for is the last one in the list
            return tree

    def _new(self, layout: Layout) -> Tree:
        for root in [root for root in self._trees if not os.path.isdir(root)]:
            self._trees.pop(root).close()
        while len(self._trees) >= MOST_TREES:
            self._trees.pop(next(iter(self._trees))).close()
        tree = Tree(layout, self._room)
        if self._is_closed:
            tree.close()
        return tree

    def _room(self) -> int:
        """A quarter of what the kernel allows, for all trees together."""
        return kernel_limit() // 4 - sum(tree.watched for tree in list(self._trees.values()))

    def close(self) -> None:
        with self._lock:
            self._is_closed, trees, self._trees = True, self._trees, {}
        for tree in trees.values():
            tree.close()


class Tree:
    """One worktree. `room`: how many more directories may be watched."""

    def __init__(self, layout: Layout, room: Callable[[], int]) -> None:
        self._layout, self._room = layout, room
        self.git_dir = layout.git_dir
        self._root = os.fsencode(layout.worktree)
        self._lock = threading.Lock()
        self._watch: TreeWatch | None = None
        self._is_closed = self._is_preparing = False
        self._again_at_s = 0.0
        self._thread: threading.Thread | None = None
        self._about = _About(layout)
        # What git said last, and what it depended on then; None: not known.
        self._rows: Rows | None = None
        self._marks: Marks | None = None
        self._looked_at_s = 0.0
        self._left_out: set[bytes] = set()
        # Directories that nobody watches yet.
        self._new: set[bytes] = set()
        self.quick, self.whole = 0, 0

    @property
    def watched(self) -> int:
        watch = self._watch
        return 0 if watch is None else watch.watched

    @property
    def is_ready(self) -> bool:
        return self._watch is not None and not self._is_preparing

    @property
    def is_known(self) -> bool:
        """Can the next question be answered without a look at everything?"""
        return self._rows is not None

    def is_worth_it(self) -> bool:
        """Is the next `status` cheaper than git's own?"""
        self._see_to_it()
        try:
            return self.is_ready and os.stat(f"{self.git_dir}/index").st_size >= _WORTH_BYTES
        except OSError:
            return False

    def status(self) -> bytes:
        """What `git status` (git/pictures.py's) says now. Raises as git does."""
        self._see_to_it()
        if self.is_ready and self._lock.acquire(timeout=_WAIT_S):
            try:
                if self.is_ready:
                    return self._quick() or self._whole()
            finally:
                self._release()
        return quick_git(STATUS, self._layout.worktree)

    def keep(self, paths: list[bytes]) -> dict[bytes, str]:
        """Blobs of these files, without git where we know by which hash it names them."""
        head = head_in_files(self._layout) if paths else None
        if head is None:
            return keep_content(self._layout.worktree, paths)
        kept, objects = {}, Objects.like(head)
        for path in paths:
            try:
                with open(self._root + b"/" + path, "rb", buffering=0) as file:
                    kept[path] = objects.add(BLOB, file.read())
            except OSError:
                continue  # gone, or not ours to read
        objects.write(f"{self._layout.common_dir}/objects")
        return kept

    # -- getting ready ------------------------------------------------------------------------

    def _see_to_it(self) -> None:
        if not self._is_wanted() or not self._lock.acquire(blocking=False):
            return
        try:
            if self._is_wanted():
                self._is_preparing = True
                self._thread = threading.Thread(target=self._prepare, name="watch-tree", daemon=True)
                self._thread.start()
        finally:
            self._release()

    def _is_wanted(self) -> bool:
        is_idle = self._watch is None and not self._is_preparing and not self._is_closed
        return is_idle and time.monotonic() >= self._again_at_s

    def wait(self, within_s: float) -> bool:
        """Until it is ready, or cannot be; was it waited long enough for that?"""
        self._see_to_it()
        if self._thread is not None:
            self._thread.join(within_s)
        return not self._is_preparing

    def _prepare(self) -> None:
        shield_thread()
        self._lock.acquire()
        try:
            self._begin()
        except (OSError, ValueError):
            self._give_up(REST_S)
        finally:
            self._is_preparing = False
            self._release()

    def _begin(self) -> None:
        """Watched first, then looked at: what is written in between is in what git says, or told."""
        root = self._layout.worktree
        room = self._room()
        if room <= 0 or is_network_fs(root) or not self._about.is_plain():
            self._give_up(REST_S)
            return
        ignored = Rows(quick_git(_WITH_IGNORED, root)).ignored
        self._watch, self._left_out, self._new = TreeWatch(room, is_strict=True), set(), set()
        is_followed = self._watch.can_watch and self._watch.follow(
            root, (root,), lambda path: self._leaves_out(path, ignored)
        )
        if is_followed:
            self._whole()
        else:
            self._give_up(REST_S)

    def _leaves_out(self, path: str, ignored: set[bytes]) -> bool:
        name = self._name(path)
        if name in ignored:
            self._left_out.add(name)
        return name in ignored

    def _name(self, path: str) -> bytes:
        return os.fsencode(path)[len(self._root) + 1 :]

    def _give_up(self, rest_s: float = 0.0) -> None:
        """Until it is asked for again, but not before so long from now."""
        if self._watch is not None:
            self._watch.close()
        self._watch = self._rows = None
        self._again_at_s = time.monotonic() + rest_s

    def close(self) -> None:
        """At once, or when whoever looks just now has done so."""
        self._is_closed = True
        if self._lock.acquire(blocking=False):
            self._release()

    def _release(self) -> None:
        if self._is_closed:
            self._give_up()
        self._lock.release()

    # -- looking ------------------------------------------------------------------------------

    def _quick(self) -> bytes:
        """By what was told since the last time; b"" where that does not do."""
        try:
            rows = self._present_rows()
        except (_Doubt, OSError, ValueError):
            self._rows = None
            return b""
        self.quick += 1
        return rows.output()

    def _present_rows(self) -> Rows:
        if self._rows is None or time.monotonic() - self._looked_at_s > LOOK_ANYWAY_S:
            raise _Doubt
        paths = self._hear()
        if self._about.marks() != self._marks or any(_is_rule(path) for path in paths | self._new):
            raise _Doubt
        places = outermost({path for path in paths if not self._is_as_it_was(path, self._rows)} | self._new)
        if places:
            self._look_at(places, self._rows)
            if self._about.marks() != self._marks:
                raise _Doubt
        return self._rows

    def _is_as_it_was(self, path: bytes, rows: Rows) -> bool:
        """A file that git does not know stays one, whatever it holds."""
        if (UNTRACKED, path) not in rows.rows:
            return False
        try:
            return stat.S_ISREG(os.lstat(self._root + b"/" + path).st_mode)
        except OSError:
            return False

    def _look_at(self, places: list[bytes], rows: Rows) -> None:
        if len(places) > _MOST_PLACES or sum(map(len, places)) > _MOST_PLACES_BYTES:
            raise _Doubt
        fresh = self._ask_git(places)
        new = {name for name in self._new if not is_below(name, fresh.ignored)}
        self._left_out |= self._new - new
        if new:
            # What git says of a directory counts from the moment on which it is watched.
            self._follow_new(new, fresh.ignored)
            fresh = self._ask_git(places)
        self._new = set()
        rows.replace(set(places), fresh)

    def _ask_git(self, places: list[bytes]) -> Rows:
        words = ("--literal-pathspecs", *_WITH_IGNORED, "--", *map(os.fsdecode, places))
        return Rows(quick_git(words, self._layout.worktree))

    def _follow_new(self, new: set[bytes], ignored: set[bytes]) -> None:
        assert self._watch is not None
        root = self._layout.worktree
        paths = [f"{root}/{os.fsdecode(name)}" for name in new]
        there = [path for path in paths if os.path.isdir(path) and not os.path.islink(path)]
        if any(os.path.lexists(path + "/.git") for path in there) or not self._watch.extend(
            root, there, lambda path: self._leaves_out(path, ignored), _MOST_NEW
        ):
            self._give_up(AGAIN_S)
            raise _Doubt

    def _hear(self) -> set[bytes]:
        """The paths that were written, without directories that came: these are in `_new` now."""
        assert self._watch is not None
        seen = self._watch.take(lambda _directory, _name: False).get(self._layout.worktree)
        if seen is None:
            return set()
        if seen.is_lost:
            self._give_up(AGAIN_S)
            raise _Doubt
        self._new |= {self._name(path) for path in seen.new}
        paths = {self._name(path) for path in seen.paths}
        if any(self._has_other_names(path) for path in paths):
            # What is written under one name is not told of the other.
            self._give_up(REST_S)
            raise _Doubt
        if seen.are_many:
            raise _Doubt
        return paths

    def _has_other_names(self, path: bytes) -> bool:
        try:
            found = os.lstat(self._root + b"/" + path)
        except OSError:
            return False
        return found.st_nlink > 1 and not os.path.isdir(self._root + b"/" + path)

    def _whole(self) -> bytes:
        """Git looks at everything. What it says is kept, if it can be told when that is no longer true."""
        self.whole += 1
        self._rows = None
        if self._watch is not None:
            with suppress(_Doubt):
                self._hear()
        try:
            if self._watch is not None and not self._about.is_fresh() and not self._about.is_plain():
                self._give_up(REST_S)
            if self._watch is not None:
                return self._whole_rows()
        except (OSError, ValueError):
            self._give_up(REST_S)
        return quick_git(STATUS, self._layout.worktree)

    def _whole_rows(self) -> bytes:
        began_ns, marks = time.time_ns(), self._about.marks()
        rows = Rows(quick_git(_WITH_IGNORED, self._layout.worktree))
        output = rows.output()
        if not all(is_below(name, rows.ignored) or not self._is_there(name) for name in self._left_out):
            # A directory that was of no interest is now.
            self._give_up(AGAIN_S)
        elif self._about.is_settled(marks, began_ns):
            self._rows, self._marks, self._looked_at_s = rows, marks, time.monotonic()
            if self._new:
                return self._quick() or output
        return output

    def _is_there(self, name: bytes) -> bool:
        return os.path.lexists(self._root + b"/" + name)


def _is_rule(name: bytes) -> bool:
    return not name or name.rpartition(b"/")[2] in _RULES


class _About:
    """What else decides what git says of a worktree, besides its files."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._index = f"{layout.git_dir}/index"
        self._settings: list[str] = []
        self._seen: list[list[int] | None] | None = None

    def is_fresh(self) -> bool:
        """Are git's settings still those that `is_plain` has found?"""
        return self._seen is not None and _signatures(self._settings) == self._seen

    def is_plain(self) -> bool:
        """False where something decides that we do not follow. Finds the files that hold git's settings."""
        self._seen, began_ns, layout = None, time.time_ns(), self._layout
        said = quick_git(("config", "--list", "--show-origin", "-z"), layout.worktree).split(b"\0")
        origins = {os.fsdecode(part[5:]) for part in said[::2] if part.startswith(b"file:")}
        values = dict(os.fsdecode(part).partition("\n")[::2] for part in said[1::2])
        odd = [values.get(f"core.{name}", "false") for name in ("ignorecase", "sparsecheckout")]
        if has_reftable(layout.common_dir) or any(value != "false" for value in odd):
            return False
        self._settings = self._files_of(origins, values)
        seen = _signatures(self._settings)
        # Else git may have read what is no longer there.
        if _are_old(self._settings, began_ns):
            self._seen = seen
        return True

    def _files_of(self, origins: set[str], values: dict[str, str]) -> list[str]:
        layout, environ = self._layout, os.environ
        home = environ.get("HOME", "")
        shared = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        named = [
            value for key, value in values.items()
            if key in ("core.excludesfile", "core.attributesfile")
            or (key.startswith("include") and key.endswith(".path"))
        ]  # fmt: skip
        named += [environ[name] for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM") if environ.get(name)]
        files = {
            f"{layout.git_dir}/config.worktree", f"{home}/.gitconfig", "/etc/gitconfig", "/etc/gitattributes",
            *(f"{layout.common_dir}/{name}" for name in ("config", "info/exclude", "info/attributes")),
            *(f"{layout.git_dir}/info/{name}" for name in ("sparse-checkout", "attributes", "exclude")),
            *(f"{shared}/git/{name}" for name in ("config", "ignore", "attributes")),
            *(os.path.join(layout.worktree, origin) for origin in origins),
            *(self._place(value, home) for value in named),
        }  # fmt: skip
        if not layout.is_main:
            files.add(f"{layout.worktree}/.git")
        return sorted(files)

    def _place(self, value: str, home: str) -> str:
        return os.path.join(self._layout.git_dir, home + value[1:] if value.startswith("~/") else value)

    def marks(self) -> Marks:
        """Differ when anything of it has changed since, if they were settled."""
        layout = self._layout
        root = _stat_of(layout.worktree)
        return (
            head_branch(layout.git_dir), head_in_files(layout),
            (root.st_dev, root.st_ino) if root is not None else None,
            _signatures([self._index, *self._settings]),
        )  # fmt: skip

    def is_settled(self, marks: Marks, since_ns: int) -> bool:
        """Are they as they were, and last changed long enough before that to tell the next change?"""
        files = [self._index, *self._settings]
        return _are_old(files, since_ns) and self.marks() == marks


def _signatures(files: list[str]) -> list[list[int] | None]:
    return [found and signature_of(found) for found in map(_stat_of, files)]


def _are_old(files: list[str], since_ns: int) -> bool:
    return all(found is None or is_old(found, since_ns) for found in map(_stat_of, files))


def _stat_of(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
