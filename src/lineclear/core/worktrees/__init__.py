"""Worktrees: names, paths and ports, snapshots, cleanup, syncing with main."""
