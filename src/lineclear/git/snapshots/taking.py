"""Snapshots of a worktree: its full content as a commit, taken without touching anything of the agent's.

Git's own index, HEAD, stash and locks stay as they are. `git status` runs on a copy of the index in our
directory, which it may refresh; we copy it again whenever the agent's index changes, so both always agree
on what is sparse and what is staged. Git hashes the files that differ from HEAD, with all filters; we write
the trees and the commit, and only then create the ref. A killed process leaves only objects that nothing
points to.

The state file remembers what the last snapshot held, so that no file is hashed twice. It is a cache: we
trust it only while the ref that it names exists, and drop it when in doubt.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse
from lineclear.core.worktrees.snapshots import (
    NESTED,
    ROLLING,
    UNREADABLE,
    LeftOut,
    Snapshot,
    SnapshotLimits,
    message,
    ref_prefix,
    split_ref,
)
from lineclear.git import parse
from lineclear.git.layout import file_stem
from lineclear.git.objects import (
    BLOB,
    COMMIT,
    TREE,
    Objects,
    directories,
    edit_trees,
    format_commit,
    nobody,
    parse_tree,
)
from lineclear.git.run import NO_HOOKS, GitFailed, Started, git
from lineclear.git.snapshots.files import State, beginning_of, create_loose_ref, is_settled, signature_of
from lineclear.git.snapshots.trees import KnownTrees, head_in_files
from lineclear.git.status import DELETED, FROM_INDEX, GITLINK, SUBMODULE, UNTRACKED, parse_status
from lineclear.host.locks import LockFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from lineclear.git.layout import Layout
    from lineclear.git.objects import Entry
    from lineclear.git.status import Change

_TRIES = 4
_WAIT_S = 20.0
_SLOW_S = 900.0  # a filter may ask the network
_SYMLINK = "120000"
_RESTLESS = "its HEAD keeps moving"
# Hooks are the user's and would run for every snapshot; a shared index is the agent's.
_QUIET = (
    *NO_HOOKS, "-c", "core.splitIndex=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
)  # fmt: skip
_HASH, _HASH_ONLY = ("hash-object", "-w", "--stdin-paths"), ("hash-object", "--stdin-paths")
_READ = ("cat-file", "--batch", "-z")
_STATUS = (
    "status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--untracked-files=all",
    "--no-renames", "--ignore-submodules=dirty",
)  # fmt: skip


class _Moved(Exception):
    """HEAD changed under us: look again."""


class _Forgotten(_Moved):
    """The last snapshot, whose objects we would build on, is gone: read everything again."""


class Content:
    """What a worktree holds, as far as it is not HEAD's: path -> (mode, object id), None for removed."""

    def __init__(self, head: str, objects: Objects) -> None:
        self.head, self.objects = head, objects
        self.trees: KnownTrees | None = None
        self.changes: dict[bytes, Entry | None] = {}
        self.signatures: dict[bytes, list[int]] = {}
        self.left_out: list[LeftOut] = []
        self.to_hash: list[tuple[bytes, str, os.stat_result]] = []


class _StartedGits:
    """The git processes that a snapshot needs after `git status`. Starting them is most of what they cost, so
    they start together; those that nobody took are closed at the end."""

    def __init__(self) -> None:
        self._waiting: dict[str, Started] = {}

    def __enter__(self) -> _StartedGits:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for started in self._waiting.values():
            started.close()

    def add(self, words: Sequence[str], started: Started) -> None:
        self._waiting[words[0]] = started

    def take(self, words: Sequence[str]) -> Started | None:
        return self._waiting.pop(words[0], None)


class Snapshots:
    """Snapshots of one worktree. `directory` holds our files about it."""

    def __init__(self, layout: Layout, directory: str) -> None:
        self._layout = layout
        stem = file_stem(directory, layout.tree)
        self._index, self._lock = f"{stem}.index", f"{stem}.lock"
        self._state_path, self._trees_path = f"{stem}.state", f"{stem}.trees"
        self._words = [f"--git-dir={layout.git_dir}", f"--work-tree={layout.worktree}", *_QUIET]

    # -- for callers --------------------------------------------------------------------------

    def take(
        self,
        *,
        agent: str,
        why: str,
        at_s: int,
        task: int = 0,
        limits: SnapshotLimits | None = None,
        if_new: bool = False,
    ) -> Snapshot | None:
        """Save the worktree as it is; None when the agent's last snapshot holds exactly this (and is one
        that stays, where `why` asks for one that stays). With `if_new`, None also when the last snapshot for
        any agent holds this, or when nothing is uncommitted and no snapshot is of this HEAD."""
        with self._turn():
            state = State.load(self._state_path)
            for _ in range(_TRIES):
                try:
                    return self._take(state, agent, task, why, at_s, limits or SnapshotLimits(), if_new)
                except _Forgotten:
                    state = State()
                except _Moved:
                    continue
            raise refuse("snapshot.failed", path=self._layout.worktree, why=_RESTLESS)

    def tree_now(self) -> tuple[str, str, list[LeftOut]]:
        """(HEAD's commit, the tree that a snapshot without limits would have now, what it would not
        hold). Writes no object."""
        with self._turn():
            for _ in range(_TRIES):
                try:
                    state = State.load(self._state_path)
                    content = self._look_around(state, SnapshotLimits())
                    with _StartedGits() as gits:
                        self._hash(content, gits, _HASH_ONLY)
                        return content.head, self._tree(content, gits), content.left_out
                except _Moved:
                    continue
                except GitFailed as failed:
                    raise self._failure(failed) from failed
            raise refuse("snapshot.failed", path=self._layout.worktree, why=_RESTLESS)

    def _turn(self) -> LockFile:
        """One snapshot of a worktree at a time, over all processes: the lock, taken."""
        if not os.path.isdir(self._layout.worktree) or not os.path.isdir(self._layout.git_dir):
            raise refuse("snapshot.no_worktree", path=self._layout.worktree)
        lock = LockFile(self._lock)
        try:
            os.makedirs(os.path.dirname(self._lock), mode=0o700, exist_ok=True)
            is_taken = lock.take(_WAIT_S)
        except OSError as error:
            raise refuse("snapshot.failed", path=self._layout.worktree, why=str(error)) from error
        if not is_taken:
            raise refuse("snapshot.busy", path=self._layout.worktree)
        return lock

    def _failure(self, error: Exception) -> Exception:
        if not os.path.isdir(self._layout.worktree) or not os.path.isdir(self._layout.git_dir):
            return refuse("snapshot.no_worktree", path=self._layout.worktree)
        why = error.stderr.strip() if isinstance(error, GitFailed) else str(error)
        return refuse("snapshot.failed", path=self._layout.worktree, why=why)

    def _take(
        self,
        state: State,
        agent: str,
        task: int,
        why: str,
        at_s: int,
        limits: SnapshotLimits,
        if_new: bool,
    ) -> Snapshot | None:
        try:
            content = self._look_around(state, limits)
            is_known = self._is_known if if_new else self._is_held
            if not content.to_hash and is_known(state, agent, content, why):
                return None
            with _StartedGits() as gits:
                self._start_needed(gits, content)
                self._hash(content, gits, _HASH)
                if is_known(state, agent, content, why):
                    return None
                return self._keep(content, gits, state, agent, task, why, at_s)
        except (GitFailed, OSError) as error:
            raise self._failure(error) from error

    def _start_needed(self, gits: _StartedGits, content: Content) -> None:
        if any(mode != _SYMLINK for _, mode, _ in content.to_hash):
            gits.add(_HASH, self._start(_HASH))
        paths = [*content.changes, *(path for path, _, _ in content.to_hash)]
        content.trees = KnownTrees(self._trees_path, content.head)
        if not content.trees.found.keys() >= set(directories(paths)):
            gits.add(_READ, self._start(_READ))

    def _is_held(self, state: State, agent: str, content: Content, why: str) -> bool:
        """Is all of this in the agent's last snapshot, and is that as lasting as the new one would be?"""
        last = state.last_with(agent, content.head, content.changes)
        if last is None or (last.why in ROLLING and why not in ROLLING):
            return False
        if not self._is_ref(last.ref, last.commit):
            return False
        state.settle(self._state_path, content.signatures)
        return True

    def _is_known(self, state: State, _agent: str, content: Content, _why: str) -> bool:
        """Is all of this in the last snapshot, or in HEAD?"""
        if state.head != content.head:
            return not content.changes
        if state.changes != content.changes or not self._is_ref(state.ref, state.commit):
            return False
        state.settle(self._state_path, content.signatures)
        return True

    def _keep(
        self, content: Content, gits: _StartedGits, state: State, agent: str, task: int, why: str, at_s: int
    ) -> Snapshot:
        """Objects first, then the ref, then our memory of it: killed in between, nothing is half there."""
        tree = self._tree(content, gits)
        words = message(agent=agent, task=task, tree=self._layout.tree, why=why, left_out=content.left_out)
        who, parents = nobody(at_s), [content.head] if content.head else []
        commit = content.objects.add(COMMIT, format_commit(tree, parents, words, author=who, committer=who))
        content.objects.write(self._layout.common_dir + "/objects")
        ref = self._create_ref(state, agent, commit, is_lasting=why not in ROLLING)
        last = (ref, commit, why)
        state.keep(self._state_path, agent, last, content.head, content.changes, content.signatures)
        return Snapshot(ref, commit, tree, content.head, [str(item) for item in content.left_out])

    # -- what there is ------------------------------------------------------------------------

    def _look_around(self, state: State, limits: SnapshotLimits) -> Content:
        """What differs from HEAD; files that are not known yet are in `to_hash`."""
        head, changes = parse_status(self._status(state))
        content = Content(head, Objects(self._hash_name(head)))
        for change in changes:
            self._look(change, content, state, limits)
        return content

    def _status(self, state: State) -> bytes:
        """Status over our copy of the index; if git cannot read the copy, we copy it again."""
        for remedy in (self._copy_index, self._copy_index_anew):
            remedy(state)
            try:
                return self._git(_STATUS, env={"GIT_INDEX_FILE": self._index})
            except GitFailed:
                if not os.path.isdir(self._layout.worktree):
                    raise
        self._rebuild_index(state)
        return self._git(_STATUS, env={"GIT_INDEX_FILE": self._index})

    def _copy_index(self, state: State) -> None:
        own = self._layout.git_dir + "/index"
        try:
            found = signature_of(os.stat(own))
        except FileNotFoundError:
            _remove(self._index)
            state.index = []
            return
        if found != state.index or not os.path.exists(self._index):
            self._copy_index_anew(state)

    def _copy_index_anew(self, state: State) -> None:
        """The copy keeps the time of the original: by it git knows which entries to distrust."""
        own, fresh = self._layout.git_dir + "/index", self._index + ".new"
        _remove(self._index + ".lock")
        try:
            with open(own, "rb") as source, open(fresh, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
                found = os.fstat(source.fileno())
        except FileNotFoundError:
            _remove(self._index)
            state.index = []
            return
        os.utime(fresh, ns=(found.st_atime_ns, found.st_mtime_ns))
        os.replace(fresh, self._index)
        state.index = signature_of(found)

    def _rebuild_index(self, state: State) -> None:
        """The agent's index is broken: HEAD's files, all of them to be read once."""
        _remove(self._index)
        state.index = []
        self._git(["read-tree", "HEAD"], env={"GIT_INDEX_FILE": self._index})

    def _look(self, change: Change, content: Content, state: State, limits: SnapshotLimits) -> None:
        """Where this path's content comes from: nowhere, the index, the last snapshot, or the disk."""
        path = change.path
        if change.kind == DELETED:
            content.changes[path] = None
        elif change.kind == FROM_INDEX:
            content.changes[path] = (change.mode, change.oid)
        elif change.kind == SUBMODULE:
            content.changes[path] = (GITLINK, self._submodule_head(path) or change.oid)
        elif path.endswith(b"/"):
            content.left_out.append(LeftOut(os.fsdecode(path), NESTED))
        else:
            self._look_at_disk(change, content, state, limits)

    def _look_at_disk(self, change: Change, content: Content, state: State, limits: SnapshotLimits) -> None:
        path = change.path
        try:
            found = os.lstat(self._place(path))
        except OSError:
            found = None
        if found is None or not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
            if change.kind != UNTRACKED:
                content.changes[path] = None
            return
        reason = limits.reason(os.fsdecode(path), found.st_size) if change.kind == UNTRACKED else ""
        if reason:
            content.left_out.append(LeftOut(os.fsdecode(path), reason))
            content.changes.pop(path, None)
            return
        signature, known = signature_of(found), state.changes.get(path)
        mode = change.mode
        if not mode or (mode == _SYMLINK) != stat.S_ISLNK(found.st_mode):
            mode = _mode_of(found)
        if known is not None and state.signatures.get(path) == signature and known[0] == mode:
            content.changes[path] = known
            content.signatures[path] = signature
            return
        reason = self._reason_inside(path, limits) if change.kind == UNTRACKED else ""
        if reason:
            content.left_out.append(LeftOut(os.fsdecode(path), reason))
            content.changes.pop(path, None)
        else:
            content.to_hash.append((path, mode, found))

    def _reason_inside(self, path: bytes, limits: SnapshotLimits) -> str:
        try:
            return limits.reason_inside(beginning_of(self._place(path)))
        except OSError:
            return ""  # hashing it says why

    def _submodule_head(self, path: bytes) -> str:
        try:
            return git(["rev-parse", "HEAD"], os.fsdecode(self._place(path))).decode().strip()
        except GitFailed:
            return ""

    def _place(self, path: bytes) -> bytes:
        return os.fsencode(self._layout.worktree) + b"/" + path

    # -- objects ------------------------------------------------------------------------------

    def _hash(self, content: Content, gits: _StartedGits, words: Sequence[str]) -> None:
        """Give every file its object id, through git's filters; links are their target's name."""
        looked_ns = time.time_ns()
        files = [path for path, mode, _ in content.to_hash if mode != _SYMLINK]
        oids = dict(zip(files, self._hash_files(files, gits, words), strict=True))
        for path, mode, found in content.to_hash:
            oid = self._hash_link(path, content.objects) if mode == _SYMLINK else oids[path]
            if not oid:
                content.left_out.append(LeftOut(os.fsdecode(path), UNREADABLE))
                continue
            content.changes[path] = (mode, oid)
            if is_settled(self._place(path), found, looked_ns):
                content.signatures[path] = signature_of(found)

    def _hash_files(self, files: Sequence[bytes], gits: _StartedGits, words: Sequence[str]) -> list[str]:
        """Object ids in order, "" for a file that could not be read. Git stops at such a file: what it
        printed before counts, and it goes on behind it."""
        done: list[str] = []
        while len(done) < len(files):
            asked = b"".join(_quoted(path) + b"\n" for path in files[len(done) :])
            started = gits.take(words) or self._start(words)
            done += started.finish(asked, check=False, timeout_s=_SLOW_S).decode().split()
            if len(done) < len(files):
                done.append(self._hash_raw(files[len(done)], words))
        return done

    def _hash_raw(self, path: bytes, words: Sequence[str]) -> str:
        """A file that its filter does not take (one that is not installed): as it is, rather than not at
        all. "" when it is gone or may not be read; anything else, such as a full disk, rises."""
        try:
            os.close(os.open(self._place(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
        except OSError:
            return ""
        plain = [*words, "--no-filters"]
        return self._git(plain, input=_quoted(path) + b"\n", timeout_s=_SLOW_S).decode().strip()

    def _hash_link(self, path: bytes, objects: Objects) -> str:
        try:
            return objects.add(BLOB, os.readlink(self._place(path)))
        except OSError:
            return ""

    def _tree(self, content: Content, gits: _StartedGits) -> str:
        """The root tree, made from HEAD's; HEAD must still be where status saw it."""
        cache = content.trees or KnownTrees(self._trees_path, content.head)
        places = directories(content.changes)
        unknown = [place for place in places if place not in cache.found]
        head = head_in_files(self._layout) if not unknown else None
        if head is None:
            head, more = self._read_trees(content.head, unknown, gits)
            if more:
                cache.add(more)
        if head != content.head:
            raise _Moved
        known = ((place, cache.found[place]) for place in places)
        size = len(content.head) // 2
        trees = {place: parse_tree(data, size) for place, data in known if data is not None}
        return edit_trees(content.objects, trees, content.changes)

    def _read_trees(
        self, head: str, places: Sequence[bytes], gits: _StartedGits
    ) -> tuple[str, dict[bytes, bytes | None]]:
        """(where HEAD is now, the directories' trees at the given commit)."""
        asked = [b"HEAD", *(head.encode() + b":" + place for place in places if head)]
        started = gits.take(_READ) or self._start(_READ)
        answers = _answers(started.finish(b"".join(name + b"\0" for name in asked)), asked)
        kind, now, _ = answers[0]
        trees = {
            place: data if kind == TREE else None
            for place, (kind, _, data) in zip(places, answers[1:], strict=False)
        }
        return (now if kind == COMMIT else ""), trees if head else dict.fromkeys(places)

    def _hash_name(self, head: str) -> str:
        if head:
            return "sha256" if len(head) == 64 else "sha1"
        with open(self._layout.common_dir + "/config", encoding="utf-8", errors="replace") as file:
            return (parse.config_value(file.read(), "extensions", "objectformat") or "sha1").lower()

    # -- refs ---------------------------------------------------------------------------------

    def _create_ref(self, state: State, agent: str, commit: str, *, is_lasting: bool) -> str:
        """The next ref of the agent; the last one, whose objects we build on, must still be there."""
        if state.ref and not self._is_ref(state.ref, state.commit):
            raise _Forgotten
        prefix = ref_prefix(agent)
        known = split_ref(state.lasts[agent].ref) if agent in state.lasts else None
        number = (known[1] if known else self._highest(prefix)) + 1
        if create_loose_ref(self._layout.common_dir, f"{prefix}{number}", commit, is_lasting=is_lasting):
            return f"{prefix}{number}"
        for _ in range(_TRIES):
            ref = f"{prefix}{number}"
            try:
                self._git(["update-ref", "--stdin"], input=f"create {ref} {commit}\n".encode())
                return ref
            except GitFailed as failed:
                last = failed
                number = max(number, self._highest(prefix)) + 1
        raise last

    def _highest(self, prefix: str) -> int:
        output = self._git(["for-each-ref", "--format=%(refname)", prefix]).decode()
        return max((found[1] for found in map(split_ref, output.split()) if found), default=0)

    def _is_ref(self, ref: str, commit: str) -> bool:
        """Does the ref name the commit? By its file if there is one: that is the common case."""
        if not ref:
            return False
        try:
            with open(f"{self._layout.common_dir}/{ref}", encoding="ascii") as file:
                return file.read().strip() == commit
        except (OSError, UnicodeDecodeError):
            pass
        found = self._git(["rev-parse", "--verify", "--quiet", "--end-of-options", ref], check=False)
        return found.decode().strip() == commit

    def _start(self, words: Sequence[str], env: dict[str, str] | None = None) -> Started:
        full = {"GIT_NO_REPLACE_OBJECTS": "1", **(env or {})}
        return Started([*self._words, *words], self._layout.worktree, env=full)

    def _git(
        self,
        words: Sequence[str],
        *,
        input: bytes | None = None,
        check: bool = True,
        env: dict[str, str] | None = None,
        timeout_s: float = 120,
    ) -> bytes:
        return self._start(words, env).finish(input, check=check, timeout_s=timeout_s)


def _mode_of(found: os.stat_result) -> str:
    if stat.S_ISLNK(found.st_mode):
        return _SYMLINK
    return "100755" if found.st_mode & 0o100 else "100644"


def _quoted(path: bytes) -> bytes:
    """As git reads a path on a line: only where a plain one would end early or look quoted."""
    if b"\n" not in path and path[:1] != b'"':
        return path
    body = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + body + b'"'


def _answers(output: bytes, asked: Sequence[bytes]) -> list[tuple[str, str, bytes]]:
    """(kind, id, content) for each name asked of `cat-file --batch`; kind "" when there is none."""
    found, at = [], 0
    for name in asked:
        absent = name + b" missing\n"
        if output.startswith(absent, at):
            found.append(("", "", b""))
            at += len(absent)
            continue
        end = output.index(b"\n", at)
        oid, kind, size = output[at:end].decode().split(" ")
        found.append((kind, oid, output[end + 1 : end + 1 + int(size)]))
        at = end + 1 + int(size) + 1
    return found


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
