"""Use cases for agents: membership, identity, tokens, signs of life."""
