"""Snapshots of a worktree: taking one, the refs that keep it, and the files that make the next one cheap."""
