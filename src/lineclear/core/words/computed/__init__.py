"""Refusals whose words are computed from the facts; their sentences are in core/words/sentences/."""
