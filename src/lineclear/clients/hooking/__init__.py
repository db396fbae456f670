"""How each coding agent calls its hooks and understands their answers. Pure: bytes and values, no I/O."""
