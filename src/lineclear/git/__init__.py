"""Git as we meet it: the repository's layout from files, the identity of a path, and git itself."""
