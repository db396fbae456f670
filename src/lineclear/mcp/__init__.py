"""The verbs as tools of an MCP server over stdio. Holds no rule, opens no store: a verb runner does."""
