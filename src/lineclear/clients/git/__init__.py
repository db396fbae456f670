"""Git's own hooks as gates before commit, push and a move of main."""
