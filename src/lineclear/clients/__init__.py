"""One module per coding agent, all with the same pure functions: how it is started, what its output says.

Nothing here starts a process, reads a file or looks at the clock.
"""
