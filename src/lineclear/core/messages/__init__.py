"""Messages: who receives them, and in which order."""
