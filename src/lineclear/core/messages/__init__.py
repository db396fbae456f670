"""Messages: who they concern, in which order they are read."""
