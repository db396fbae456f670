"""One process that stays: it answers hooks, tools and commands, and works in the background."""
