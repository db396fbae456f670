"""What this machine gives us: its clock, locks, wake-ups, heartbeats, files and child processes."""
