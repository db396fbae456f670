"""Engines behind the ports of app/: memory (the reference), SQLite (the default), PostgreSQL (teams)."""
