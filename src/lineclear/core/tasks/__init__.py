"""Tasks: states and moves, who gets which one next, lists that people keep."""
