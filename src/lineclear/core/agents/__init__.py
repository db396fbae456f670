"""Agents: names, identity, tokens, what their hooks say, and the conventions they work by."""
