"""The shop: a small program, ten overlapping tasks and four scripted agents, without and with lineclear.

`program/` holds the files that they work on (each name without `.in`), `tasks/` the agents' scripts.
"""
