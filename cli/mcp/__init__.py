"""The MCP server: the memory as six tools of an agent, over stdio and, from the daemon, over HTTP."""
