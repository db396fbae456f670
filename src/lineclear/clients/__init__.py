"""The coding agents that we know, and git: one folder each, one row in registry.py.

What several of them share is a module beside the folders. Only setup_files.py writes, only probe_model.py
opens a socket.
"""
