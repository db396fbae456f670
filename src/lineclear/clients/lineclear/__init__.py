"""Any command that writes our lines of JSON."""
