"""Use cases for worktrees: make and remove them, snapshots, syncing, cleanup."""
