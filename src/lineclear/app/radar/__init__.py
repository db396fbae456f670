"""The radar: reads everybody's unmerged work, compares it, and keeps the findings in the log."""
