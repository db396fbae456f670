"""Values and proposals: merging JSON, and files as somebody proposes them."""
