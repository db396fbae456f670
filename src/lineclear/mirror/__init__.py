"""Files for agents that only read files: the task page, who holds what, lock files, the conventions block.

A surface like the command line, with files in place of words; no rule is made here. It lies below the other
surfaces, since each of them brings the files up to date when it has changed something.
"""
