"""The tests, and the few things that several of them share."""
