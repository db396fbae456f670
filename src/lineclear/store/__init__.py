"""The engines of the store port: memory (the reference), SQLite (the default), PostgreSQL (teams)."""
