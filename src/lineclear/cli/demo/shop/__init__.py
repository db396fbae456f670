"""The shop: a small program, eight overlapping tasks and four scripted agents, without and with lineclear.

`program/` is the repository they work on (without the last ending), `tasks/` what the agents do.
"""
