"""A team under faults: three machines, one store, one remote, and everything that may break between them."""
