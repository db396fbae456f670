"""The default engine: SQLite in the repository's git common directory, no server to run."""
