"""The queue: candidates and their order, the stack, checks, landings, phases, the commit gate."""
