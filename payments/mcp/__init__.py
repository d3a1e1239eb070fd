"""The Model Context Protocol at `/mcp`: what a key of an assistant may read and ask for, as tools."""
