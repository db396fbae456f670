"""The verbs as tools of an MCP server over stdio. Asks a desk to do them; holds no rule, opens no store."""
