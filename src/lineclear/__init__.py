"""lineclear keeps many AI coding agents in sync on one codebase.

Importing the package costs nothing but the standard library; see `lineclear.wiring.open_repo`
for the way in.
"""

__version__ = "0.1.0"
