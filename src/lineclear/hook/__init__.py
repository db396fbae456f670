"""What coding agents' hooks call: fast, limited in time, and never a hindrance because of our own errors."""
