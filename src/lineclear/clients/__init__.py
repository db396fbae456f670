"""The coding agents that we know, and git: one folder and one row in registry.py each.

Code that several of them share is in modules beside the folders. Only setup_files.py writes files, and only
probe_model.py opens a socket.
"""
