"""Reads the facts of a file (`core/radar/facts.py`) from its text."""
