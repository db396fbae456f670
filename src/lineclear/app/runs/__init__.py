"""The supervisor: chooses tasks, follows each run from start to end, and reports the results."""
