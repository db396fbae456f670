"""Reads programs: their definitions, references, imports and routes; one table per language. No I/O."""
