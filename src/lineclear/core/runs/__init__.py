"""Runs: states, budgets, how one ended, loops, what it brought, the first prompt."""
