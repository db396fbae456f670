"""Worktrees: names, places and ports, snapshots, cleanup, syncing with main."""
