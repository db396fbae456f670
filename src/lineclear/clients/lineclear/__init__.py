"""Any command that writes our JSON lines."""
