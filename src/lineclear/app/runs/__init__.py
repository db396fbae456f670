"""The supervisor: which task starts, one run from its start to its end, what it came to."""
