"""What snapshot tests share: a worktree with its snapshots, and git's own answer to what it holds."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lineclear.core.worktrees.snapshots import Snapshot, SnapshotLimits
from lineclear.git.layout import find_layout
from lineclear.git.snapshots.taking import Snapshots
from tests.repository import TemporaryRepo


class Studio:
    """One worktree of a repository, and the snapshots that are taken of it."""

    def __init__(self, repo: TemporaryRepo, path: Path) -> None:
        self.repo, self.path = repo, path
        self.layout = find_layout(str(path), {})
        self.directory = f"{self.layout.common_dir}/lineclear/snapshots"
        self.snapshots = Snapshots(self.layout, self.directory)

    @property
    def stem(self) -> Path:
        return Path(self.directory, self.layout.tree)

    def take(
        self, agent: str = "ada", *, limits: SnapshotLimits | None = None, why: str = "at work"
    ) -> Snapshot | None:
        return self.snapshots.take(agent=agent, why=why, at_s=1_790_000_000, limits=limits)

    def taken(self, agent: str = "ada", *, limits: SnapshotLimits | None = None) -> Snapshot:
        snapshot = self.take(agent, limits=limits)
        assert snapshot is not None, "nothing changed"
        return snapshot

    def write(self, name: str | bytes, text: str | bytes = "text\n") -> None:
        place = os.path.join(os.fsencode(self.path), os.fsencode(name))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        Path(os.fsdecode(place)).write_bytes(text.encode() if isinstance(text, str) else text)

    def git(self, *words: str) -> str:
        return self.repo.git(*words, at=self.path)

    def files(self, commit: str) -> dict[bytes, tuple[str, str]]:
        """path -> (mode, object id) of all that a commit holds."""
        done = subprocess.run(
            ["git", "ls-tree", "-r", "-z", "--full-tree", commit],
            cwd=self.path,
            env=self.repo.environment,
            capture_output=True,
            check=True,
        )
        found = {}
        for row in done.stdout.split(b"\0")[:-1]:
            info, _, path = row.partition(b"\t")
            mode, _, oid = info.decode().split(" ")
            found[path] = (mode, oid)
        return found

    def names(self, commit: str) -> list[str]:
        return sorted(os.fsdecode(path) for path in self.files(commit))

    def text(self, commit: str, name: str) -> str:
        return self.git("cat-file", "blob", f"{commit}:{name}")

    def as_git_adds_it(self) -> str:
        """The tree that `git add --all` would make of the worktree, by an index of its own."""
        index = str(self.repo.path.parent / "reference.index")
        environment = self.repo.environment | {"GIT_INDEX_FILE": index}
        Path(index).unlink(missing_ok=True)
        for words in (["read-tree", "HEAD"], ["add", "--all"], ["write-tree"]):
            done = subprocess.run(
                ["git", "-c", "core.splitIndex=false", *words],
                cwd=self.path,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
        return done.stdout.strip()

    def marks(self) -> dict[str, bytes | None]:
        """What belongs to the agent alone: its index, HEAD, stash, reflog and any lock, byte for byte."""
        git_dir, common = Path(self.layout.git_dir), Path(self.layout.common_dir)
        places = [git_dir / "index", git_dir / "HEAD", git_dir / "logs/HEAD", common / "refs/stash"]
        found = {str(place): place.read_bytes() if place.exists() else None for place in places}
        for lock in [*git_dir.glob("*.lock"), *common.glob("*.lock")]:
            found[str(lock)] = lock.read_bytes()
        found["mtime"] = str((git_dir / "index").stat().st_mtime_ns).encode()
        return found
