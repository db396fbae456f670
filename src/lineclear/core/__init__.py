"""The rules: facts in, events out. No I/O, no clock, no randomness, standard library only."""
