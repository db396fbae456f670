"""Runs: states, budgets, how a run ended, loops, checks of its result, its first prompt."""
