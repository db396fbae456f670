"""Functions that compute facts for refusals; their sentences are in core/words/sentences/."""
