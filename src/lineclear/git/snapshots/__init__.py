"""Snapshots of a worktree: taking one, the refs that keep them, and the files that make a repeat cheap."""
