"""One pass over the files for agents: take in edits, then write the current state.

A pass holds a lock and reads the store inside it, so an older state never overwrites a newer one. If a pass
dies halfway, the next one repeats it with the same effect.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.mirroring import carry_out, head_of, picture
from lineclear.core.tasks import page as task_page
from lineclear.core.tasks.lists import MAX_TASKS
from lineclear.core.tasks.page import Item, find_edits, first_page, merge_items, parse_page, render_page
from lineclear.host.files import remove_if_empty
from lineclear.mirror.files import (
    PRIVATE,
    private_directory,
    read_small,
    remove,
    replace,
    replace_and_look,
)
from lineclear.mirror.locks import is_our_lock, write_locks
from lineclear.mirror.state import Base, MirrorState, note_failure
from lineclear.wiring.mirroring import (
    COORDINATION,
    LOCKS,
    TASKS,
    editor_of,
    hide_from_git,
    is_tracked,
    live_trees,
    parts_on,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.app.mirroring import MirroredState
    from lineclear.core.tasks.page import Edit
    from lineclear.wiring.mirroring import Tree
    from lineclear.wiring.repo import Repo

PAGE = "TASKS.md"
PRIVATE_PAGE = f"{PRIVATE}/{PAGE}"
COORDINATION_FILE = f"{PRIVATE}/coordination.json"

WAIT_S = 2.0
# A file that changed this recently may be half written: give its writer time to finish.
SETTLE_S, SETTLE_LIMIT_S = 0.15, 0.5
# A renewed lease is not an event: refresh the files when they are older than this.
REFRESH_S = 60.0
MOST_ROUNDS = 8


class Page:
    """The task page of one worktree: as we published it, and as it is now."""

    def __init__(self, tree: Tree, where: str, base: Base | None, current: bytes | None) -> None:
        self.tree, self.where = tree, where
        # What we published here last, and the page that the author of an edit had seen: often the same.
        self.published = self.base = base
        self.path = os.path.join(tree.path, where)
        # The content to take in, and the content on disk: the same unless somebody writes in between.
        self.current = self.disk = current

    @property
    def is_edited(self) -> bool:
        """An empty file is not an edit: it was truncated, or is about to be written."""
        has_words = bool((self.current or b"").strip())
        return has_words and (self.base is None or self.current != self.base.text)

    @property
    def is_current(self) -> bool:
        return self.published is not None and self.disk == self.published.text


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The result of a pass."""

    head: int
    trees: int
    edits: int
    troubles: list[str]


def publish(repo: Repo, *, wait_s: float = WAIT_S, is_forced: bool = False) -> PublishResult | None:
    """Update the files; None if nothing is mirrored here, or another process is doing it.

    `is_forced` writes everything, even if nothing seems to have changed.
    """
    parts = parts_on(repo.settings)
    if not parts:
        return None
    with MirrorState(repo.state_directory, wait_s) as state:
        return _Pass(repo, state, parts).run(is_forced) if state.is_mine else None


class _Pass:
    """One pass; it holds the lock of `state`."""

    def __init__(self, repo: Repo, state: MirrorState, parts: tuple[str, ...]) -> None:
        self.repo, self.state, self.parts = repo, state, parts
        self.trees = live_trees(repo)
        self.troubles: list[str] = []
        self.edits = 0

    def run(self, is_forced: bool) -> PublishResult:
        head = self.repo.store.read(head_of)
        pages = self._pages() if TASKS in self.parts else []
        published = self.state.published()
        if not is_forced and self._is_current(head, published, pages):
            return PublishResult(head, len(self.trees), 0, [])
        hide_from_git(self.repo, is_hidden=True)
        seen = self.repo.store.read(picture)
        if TASKS in self.parts:
            seen = self._write_pages(pages, seen)
        if COORDINATION in self.parts:
            self._write_everywhere(COORDINATION_FILE, seen.coordination.encode("utf-8", "replace"))
        earlier = [path for path in published.get("locks", ()) if isinstance(path, str)]
        locks, troubles = write_locks(self.trees, seen.locks if LOCKS in self.parts else [], earlier)
        self.troubles += troubles
        self.state.save(seen.head, locks, self.troubles)
        self.state.forget_all_but([tree.name for tree in self.trees])
        return PublishResult(seen.head, len(self.trees), self.edits, self.troubles)

    def _is_current(self, head: int, published: dict[str, object], pages: list[Page]) -> bool:
        at = published.get("at")
        is_fresh = isinstance(at, float) and 0 <= time.time() - at < REFRESH_S
        if published.get("head") != head or not is_fresh:
            return False
        if TASKS in self.parts and len(pages) < len(self.trees):
            return False
        if not all(page.is_current for page in pages):
            return False
        return COORDINATION not in self.parts or all(
            os.path.exists(os.path.join(tree.path, COORDINATION_FILE)) for tree in self.trees
        )

    # -- the task page ----------------------------------------------------------------------------

    def _pages(self) -> list[Page]:
        pages = []
        for tree in self.trees:
            try:
                page = self._page(tree)
            except OSError as error:
                self._trouble(PAGE, tree, error)
                continue
            if page is not None:
                pages.append(page)
        return pages

    def _page(self, tree: Tree) -> Page | None:
        """The page of one worktree; None while somebody is writing it."""
        base = self.state.base(tree.name)
        where = base.where if base is not None else PAGE
        if base is None and is_tracked(tree, PAGE):
            where = PRIVATE_PAGE
        page = Page(tree, where, base, read_small(os.path.join(tree.path, where), task_page.MOST_BYTES))
        is_foreign = page.is_edited and task_page.MARK.encode() not in (page.current or b"")
        if is_foreign and where == PAGE and is_tracked(tree, PAGE):
            # A branch added its own TASKS.md: that file is the repository's, so ours moves.
            where = PRIVATE_PAGE
            page = Page(tree, where, None, read_small(os.path.join(tree.path, where), task_page.MOST_BYTES))
        if self._is_moving(page):
            return None
        self._find_base(page)
        return page

    def _find_base(self, page: Page) -> None:
        """Find the page that the edit's author had seen, by the number in it; it may be an old one."""
        number = task_page.page_number(_decoded(page.current))
        if number and page.is_edited:
            seen = self.state.old_page(number)
            if seen is not None:
                page.base = Base(seen, number, page.where)
            elif page.base is None:
                # A page of ours from elsewhere: we cannot tell what was edited in it.
                page.base = Base(page.current or b"", number, page.where)

    def _is_moving(self, page: Page) -> bool:
        """Is somebody writing it right now? Waits briefly for the end."""
        is_emptied = page.current is not None and not page.current.strip() and page.base is not None
        if not page.is_edited and not is_emptied:
            return False
        deadline = time.monotonic() + SETTLE_LIMIT_S
        while time.monotonic() < deadline:
            age_s = time.time() - os.lstat(page.path).st_mtime
            if not 0 <= age_s < SETTLE_S:
                page.current = page.disk = read_small(page.path, task_page.MOST_BYTES)
                return False
            time.sleep(SETTLE_S - age_s)
        return True

    def _write_pages(self, pages: list[Page], seen: MirroredState) -> MirroredState:
        kept = self.state.page()
        has_own = any(page.base is None and page.is_edited for page in pages)
        shared = parse_page(_decoded(kept)) if kept is not None else [] if has_own else first_page()
        text = kept or b""
        for _ in range(MOST_ROUNDS):
            shared, notes, is_changed = self._take_in(pages, shared, seen)
            if is_changed:
                seen = self.repo.store.read(picture)
            text, number = self._next_page(text, shared, seen, notes)
            shared = parse_page(_decoded(text))
            overtaken = [page for page in pages if self._is_overtaken(page, text, number)]
            if not overtaken:
                return seen
        for page in overtaken:
            self._give_back(page)
        return seen

    def _next_page(
        self, text: bytes, shared: list[Item], seen: MirroredState, notes: dict[int | str, list[str]]
    ) -> tuple[bytes, int]:
        """(the page, its number): the one we have if it is up to date, else the next."""
        number = task_page.page_number(_decoded(text))
        same = _encoded(render_page(shared, seen.tasks, seen.newest, notes, number))
        if number and same == text:
            return text, number
        number += 1
        text = _encoded(render_page(shared, seen.tasks, seen.newest, notes, number))
        self.state.save_page(number, text)
        return text, number

    def _take_in(
        self, pages: Iterable[Page], shared: list[Item], seen: MirroredState
    ) -> tuple[list[Item], dict[int | str, list[str]], bool]:
        """The shared page with all edits, the notes about them, and whether any edit was a command."""
        notes: dict[int | str, list[str]] = {}
        is_changed = False
        for page in pages:
            self._keep_theirs(page)
            if not page.is_edited:
                continue
            base = parse_page(_decoded(page.base.text)) if page.base is not None else []
            current = parse_page(_decoded(page.current))
            edits = find_edits(base, current, seen.tasks)
            self._carry_out(page, current, edits, notes)
            is_changed = is_changed or bool(edits)
            shared = merge_items(shared, base, current)
        return shared, notes, is_changed

    def _keep_theirs(self, page: Page) -> None:
        """A page that was there before us is its author's: `--off` puts back what they last wrote."""
        name, text = page.tree.name, page.current
        if page.where != PAGE or text is None:
            return
        was_there = page.published is None and task_page.MARK.encode() not in text
        if was_there or (page.is_edited and self.state.theirs(name) is not None):
            self.state.save_theirs(name, _encoded(task_page.without_our_lines(_decoded(text))))

    def _carry_out(
        self, page: Page, current: list[Item], edits: list[Edit], notes: dict[int | str, list[str]]
    ) -> None:
        if len(edits) > MAX_TASKS:
            notes.setdefault(current[edits[0].place].key, []).append(
                f"none of the {len(edits)} edits from here on is taken in, since a page may have "
                f"{MAX_TASKS} at once; add a long list with `lineclear task import FILE`"
            )
            return
        needs_branch = any(edit.kind == task_page.DONE for edit in edits)
        editor = editor_of(self.repo, page.tree, needs_branch=needs_branch)
        seen = page.base.page if page.base is not None else 0
        counts: dict[tuple[str, str], int] = {}
        for edit in edits:
            item = current[edit.place]
            count = counts[edit.kind, item.text] = counts.get((edit.kind, item.text), 0) + 1
            once = f"{page.tree.name}\n{seen}\n{edit.kind}\n{count}\n{item.text}"
            number, words = carry_out(self.repo.store, self.repo.liveness, editor, edit, once)
            self.edits += 1
            if edit.kind == task_page.ADD and number:
                indent = item.text[: len(item.text) - len(item.text.lstrip())]
                current[edit.place] = item = Item(item.text, number, indent)
            if words:
                notes.setdefault(item.key, []).append(words)

    def _is_overtaken(self, page: Page, text: bytes, number: int) -> bool:
        """Write the page; True if somebody wrote it in between, so that we must take it in again."""
        before = page.disk or b""
        try:
            found = before
            if page.disk != text:
                private_directory(page.tree.path)
                found = replace_and_look(page.tree.path, page.path, text, page.disk, task_page.MOST_BYTES)
        except OSError as error:
            self._trouble(page.where, page.tree, error)
            return False
        is_overtaken = found != before and bool(found.strip())
        # That writer had seen the previous page, which we have already taken in.
        page.base = Base(before if is_overtaken else text, number, page.where)
        page.current, page.disk = found if is_overtaken else text, text
        self.state.save_base(page.tree.name, Base(text, number, page.where))
        return is_overtaken

    def _give_back(self, page: Page) -> None:
        """Somebody writes faster than we do: put their text back for the next pass."""
        try:
            replace(page.tree.path, page.path, page.current or b"")
        except OSError as error:
            self._trouble(page.where, page.tree, error)
        if page.base is not None:
            self.state.save_base(page.tree.name, page.base)

    # -- the others -------------------------------------------------------------------------------

    def _write_everywhere(self, name: str, data: bytes) -> None:
        for tree in self.trees:
            path = os.path.join(tree.path, name)
            try:
                private_directory(tree.path)
                if read_small(path, max(task_page.MOST_BYTES, len(data))) != data:
                    replace(tree.path, path, data)
            except OSError as error:
                self._trouble(name, tree, error)

    def _trouble(self, what: str, tree: Tree, error: OSError) -> None:
        self.troubles.append(f"{what} in {tree.name}: {error}")


def publish_noted(repo: Repo, *, wait_s: float = WAIT_S) -> PublishResult | None:
    """Like `publish`, but record an error for the doctor before raising it."""
    try:
        done = publish(repo, wait_s=wait_s)
    except Exception as error:
        note_failure(repo.state_directory, f"{type(error).__name__}: {error}")
        raise
    note_failure(repo.state_directory, "")
    return done


def publish_quietly(repo: Repo, *, wait_s: float = WAIT_S) -> None:
    """Publish after a command; a failure here never fails the command."""
    with suppress(Exception):  # the one boundary of this surface; the doctor reports it
        publish_noted(repo, wait_s=wait_s)


def look_of(trees: Iterable[Tree]) -> list[tuple[str, int, int]]:
    """(path, time, size) of our files, to notice when somebody edits or removes one; -1 if missing."""
    seen = []
    for tree in trees:
        for name in (PAGE, PRIVATE_PAGE, COORDINATION_FILE):
            path = os.path.join(tree.path, name)
            try:
                found = os.lstat(path)
                seen.append((path, found.st_mtime_ns, found.st_size))
            except OSError:
                seen.append((path, -1, -1))
    return seen


@dataclass(frozen=True, slots=True)
class FileEnd:
    """What becomes of one of our files when it is no longer kept: it goes, it gets its author's `text` back,
    or it stays as it is because of `why`."""

    path: str
    text: bytes | None = None
    why: str = ""

    @property
    def is_removed(self) -> bool:
        return self.text is None and not self.why


def plan_removal(repo: Repo, parts: Iterable[str]) -> list[FileEnd]:
    """What becomes of our files in all worktrees. Changes nothing."""
    wanted, ends = set(parts), []
    with MirrorState(repo.state_directory, WAIT_S) as state:
        for tree in live_trees(repo):
            ends += _page_end(state, tree) if TASKS in wanted else []
            coordination = os.path.join(tree.path, COORDINATION_FILE)
            if COORDINATION in wanted and os.path.lexists(coordination):
                ends.append(FileEnd(coordination))
        if LOCKS in wanted:
            earlier = state.published().get("locks", ())
            ends += [FileEnd(path) for path in earlier if isinstance(path, str) and is_our_lock(path)]
    return ends


def _page_end(state: MirrorState, tree: Tree) -> list[FileEnd]:
    base = state.base(tree.name)
    path = os.path.join(tree.path, base.where) if base is not None else ""
    if base is None or not os.path.lexists(path):
        return []
    try:
        is_as_published = read_small(path, task_page.MOST_BYTES) == base.text
    except OSError:
        is_as_published = False
    if not is_as_published:
        return [FileEnd(path, why="it was edited since lineclear wrote it")]
    if base.where == PAGE and is_tracked(tree, PAGE):
        return [FileEnd(path, why="git tracks it")]
    return [FileEnd(path, state.theirs(tree.name) if base.where == PAGE else None)]


def remove_files(repo: Repo, parts: Iterable[str]) -> list[FileEnd]:
    """Carry out `plan_removal`; returns it."""
    wanted = set(parts)
    ends = plan_removal(repo, wanted)
    roots = {tree.path: tree.name for tree in live_trees(repo)}
    with MirrorState(repo.state_directory, WAIT_S) as state:
        for end in ends:
            if end.is_removed:
                remove(end.path)
            elif end.text is not None:
                replace(os.path.dirname(end.path), end.path, end.text)
        for root, name in roots.items():
            if TASKS in wanted:
                state.forget(name)
            remove_if_empty(os.path.join(root, PRIVATE))
    return ends


def _decoded(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
