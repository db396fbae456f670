"""What a program says: its definitions, references, imports and routes; every language once. No I/O."""
