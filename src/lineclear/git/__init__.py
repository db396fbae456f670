"""Everything that touches git: where a repository's parts lie, what a path means in it, and git itself."""
