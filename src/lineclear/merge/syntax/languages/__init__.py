"""One table per language."""
