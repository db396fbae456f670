"""Any command."""
