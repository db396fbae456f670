"""lineclear as git's merge driver and mergetool."""
