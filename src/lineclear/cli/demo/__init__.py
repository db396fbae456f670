"""The demonstrations: a shop built by four scripted agents, and a race of eight processes."""
