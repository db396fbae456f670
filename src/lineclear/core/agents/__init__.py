"""Agents: names, identity, tokens, hook calls and answers, and the conventions block for AGENTS.md."""
