"""What bringing a branch up to main needs of git: both sides, the merge, the move, who changed main."""

from __future__ import annotations

from lineclear.core.sending_back import Touch
from lineclear.git.checkouts import Mover, head_ref, step_in_progress
from lineclear.git.landing import GitFooting, commit_of
from lineclear.git.merging_state import Keeper
from lineclear.git.run import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lineclear.git.checkouts import Moved
    from lineclear.git.landing import LandingLock
    from lineclear.git.layout import Layout

# Of a main that has run far ahead the newest steps are enough to know whom to ask.
_MOST_STEPS = 1_000
# No path is written like this; a subject may be, but stands where a field is read.
_RECORD = "//"
_FIELDS = ("%H", "%an", "%s", "%(trailers:key=Task,valueonly)", "%(trailers:key=Agent,valueonly)")


class GitDesk:
    """The `Desk` of app/syncing.py for one worktree; `lock` is held. Close it.

    Its journals lie in the worktree's own git directory: they go when it goes.
    """

    def __init__(self, layout: Layout, main_ref: str, lock: LandingLock, *, target: str = "") -> None:
        """`target`: the commit that counts as main, where main itself was moved by somebody who may not."""
        self.place = layout.worktree
        self._git_dir, self._target = layout.git_dir, target
        self._main_ref = main_ref
        self._ref = head_ref(layout.worktree, layout.common_dir, layout.git_dir)
        self.main, self.branch = (ref.removeprefix("refs/heads/") for ref in (self._main_ref, self._ref))
        self._footing = GitFooting(layout, self.main)
        self.trees, self.history = self._footing.trees, self._footing.history
        begin = f"{layout.git_dir}/lineclear.sync"
        self._mover = Mover(self.place, layout.common_dir, f"{begin}.json", self._ref, lock.fd)
        self._keeper = Keeper(self.place, layout.common_dir, f"{begin}.merge.json", self._ref, lock.fd)

    def step(self) -> str:
        return step_in_progress(self._git_dir)

    def ends(self) -> tuple[str, str]:
        return self._target or commit_of(self.place, self._main_ref), commit_of(self.place, self._ref)

    def entries(self, tree: str, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        found = {}
        words = ["ls-tree", "-r", "-z", "--full-tree", tree]
        wanted = set(paths)
        for row in git(words, self.place, timeout_s=600).decode("utf-8", "surrogateescape").split("\0")[:-1]:
            info, _, path = row.partition("\t")
            if path in wanted:
                mode, _, oid = info.split()
                found[path] = (mode, oid)
        return found

    def commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        return self._footing.commit(tree, parents, message, None)

    def move(self, old: str, new: str) -> Moved:
        return self._mover.move(old, new, f"lineclear: sync with {self.main}")

    def keep(
        self, tip: str, tree: str, main: str, stages: Mapping[str, Mapping[int, tuple[str, str]]], words: str
    ) -> Moved:
        return self._keeper.keep(tip, tree, main, stages, words)

    def repair(self) -> str:
        return self._keeper.repair() or self._mover.repair()

    def touches(self, main: str, tip: str, paths: Sequence[str]) -> list[Touch]:
        return touches(self.place, main, tip, paths)

    def close(self) -> None:
        self._footing.close()


def touches(cwd: str, main: str, tip: str, paths: Sequence[str]) -> list[Touch]:
    """The steps of main's own line that the branch does not have and that changed one of the paths, newest
    first. A landing is one step, whatever it brought."""
    if not paths:
        return []
    words = ["log", "-z", "--first-parent", "-m", "--name-only", "--no-renames", f"-{_MOST_STEPS}"]
    words.append(f"--format=%x00{_RECORD}%x00{''.join(f'{field}%x00' for field in _FIELDS)}")
    # Without the paths: given any, git (seen in 2.39) leaves a landing out where its branch holds the same.
    output = git([*words, f"{tip}..{main}", "--"], cwd, timeout_s=600)
    found = _parse(output.decode("utf-8", "surrogateescape").split("\0"), set(paths))
    return [touch for touch in found if touch.paths]


def _parse(tokens: list[str], wanted: set[str]) -> list[Touch]:
    """A record is its mark, as many fields as we asked for, then paths until the next mark."""
    found: list[Touch] = []
    at = 0
    while at < len(tokens):
        if tokens[at] == _RECORD:
            commit, author, subject, task, agent = tokens[at + 1 : at + 1 + len(_FIELDS)]
            found.append(Touch(commit, author, subject, task=_one(task), agent=_one(agent)))
            at += len(_FIELDS)
        # The first path of a record comes behind the newline that ends the format.
        elif found and (name := tokens[at].removeprefix("\n")) in wanted:
            found[-1].paths.append(name)
        at += 1
    return found


def _one(trailer: str) -> str:
    """Of several lines the last: git's tools take the last one, too."""
    return trailer.strip().rpartition("\n")[2]
