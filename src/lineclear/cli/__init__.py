"""The command line: parse, ask a use case, render. No rule in here."""
