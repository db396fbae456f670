"""Files for agents that can only read files: the task page, the claims, lock files, the conventions block.

A surface like the command line, without rules of its own. It lies below the other surfaces, since each of
them updates the files after a change.
"""
