"""The way to main: candidates, the runner that stacks, checks and lands them, phases."""
