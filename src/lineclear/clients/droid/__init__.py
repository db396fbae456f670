"""Factory droid."""
