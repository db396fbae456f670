"""Use cases around worktrees: make and remove, snapshots, syncing, cleanup."""
