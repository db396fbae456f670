"""Setting up clients: first a plan, then its changes. What a client needs is in clients/<name>/setup.py."""
