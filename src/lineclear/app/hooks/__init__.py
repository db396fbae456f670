"""What happens at each event of a coding agent's hook: one step in the store per call."""
