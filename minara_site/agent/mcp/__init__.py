"""The MCP server at `/mcp`: the same tools, keys and scopes as over HTTP. Source: the contract, trust W-26."""
