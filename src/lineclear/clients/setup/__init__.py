"""What `lineclear setup CLIENT` puts into a client's own files: plans only."""
