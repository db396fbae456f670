"""Values and proposals: merging JSON, and proposed changes of files."""
