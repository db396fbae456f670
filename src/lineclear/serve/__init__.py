"""The server: it answers hooks, tools and commands, and works in the background."""
