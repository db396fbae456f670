"""Measurements of lineclear, each beside a floor or a peer measured in the same run; see __main__.py."""
