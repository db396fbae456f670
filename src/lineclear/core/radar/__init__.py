"""The radar: what two agents' unmerged work does to each other. Facts in, findings out; no I/O."""
