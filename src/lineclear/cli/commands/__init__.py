"""One module per noun; each offers COMMANDS. They load only when one of their verbs is used."""
