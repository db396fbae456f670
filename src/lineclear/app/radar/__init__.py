"""The radar's use cases: take in all unmerged work, compare it, and keep what was found."""
