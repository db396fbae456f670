"""Use cases around agents: membership, identity, tokens, signs of life."""
