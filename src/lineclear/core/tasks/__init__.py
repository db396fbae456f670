"""Tasks: states and moves, which agent gets which task next, task lists and TASKS.md."""
