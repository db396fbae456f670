"""Answer the hook calls of coding agents, each in one read or one transaction of the store."""
