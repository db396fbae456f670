"""What one host gives us: its clock, liveness by lock, wake-ups, heartbeats, files, child processes."""
